//! Matrix products.
//!
//! Leading axes are flattened as far as broadcasting allows: two axes if the right operand has no batch (every linear
//! layer), else three. Two are also what 16-bit floats want: above, M5's products of them are not deterministic
//! (pytorch/pytorch#180776). MPSGraph multiplies float matrices only; integers are multiplied and summed elementwise.

mod attention;
mod integer;
mod linear;

use burn_backend::{DType, Shape, TensorMetadata};

pub(crate) use attention::attention;
pub(crate) use linear::{linear, linear_bias_backward, linear_weight_backward, linear_x_backward};

use super::Op;
use super::gather::lanes::stored;
use super::memory;
use super::tensor_shape;
use crate::bridge::{Lowering, Operand, record};
use crate::error::invalid;
use crate::ffi::{self, DataType, os_version};
use crate::tensor::{MpsGraphTensor, TensorType};

/// Inner extent of one product. From 32767 on, M1 and M2 read beyond the operands (pytorch/pytorch#177116).
const INNER: usize = 1 << 14;
/// Matrices in one product. Beyond 2^16 the count wraps around (pytorch/pytorch#189495).
const BATCH: usize = 1 << 15;
/// A recorded matrix product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MatrixMultiplicationOp {
    /// `[a (…, m, k), b (…, k, n)]`, floats of one dtype: both with two axes, or both with three and batches that are
    /// equal or 1, or any ranks with at most [`BATCH`] matrices.
    Float,
    /// `[a (batch, m, k), b (batch, n, k)]`, integers of one dtype, batches equal or 1: rows times rows.
    Integer,
}

impl MatrixMultiplicationOp {
    pub fn name(&self) -> &'static str {
        match self {
            MatrixMultiplicationOp::Float => "float_matmul",
            MatrixMultiplicationOp::Integer => "int_matmul",
        }
    }

    pub fn lower(
        &self,
        cx: &mut Lowering<'_>,
        inputs: &[Operand],
        output: &TensorType,
    ) -> ffi::Tensor {
        let (graph, [a, b]) = (cx.graph(), [&inputs[0], &inputs[1]]);
        match self {
            MatrixMultiplicationOp::Float => {
                let inner = a.ty.shape[a.ty.shape.num_dims() - 1];
                // Sums over parts, and matrices in a batch of 16-bit floats, go through f32.
                let through_f32 =
                    output.dtype != DType::F32 && (inner > INNER || output.shape.num_dims() > 2);
                if !through_f32 {
                    return batches(graph, [&a.tensor, &b.tensor], [&a.ty.shape, &b.ty.shape]);
                }
                let [x, y] = [a, b].map(|operand| graph.cast(&operand.tensor, DataType::F32));
                let product = batches(graph, [&x, &y], [&a.ty.shape, &b.ty.shape]);
                graph.cast(&product, stored(output.dtype))
            }
            MatrixMultiplicationOp::Integer => integer::lower(graph, a, b, output),
        }
    }
}

/// The matrix product of the last two axes, the axes before them broadcast. One dtype, float or integer; integers wrap
/// around.
pub(crate) fn matmul(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
    let dtype = lhs.dtype();
    let name = if dtype.is_float() {
        "float_matmul"
    } else {
        "int_matmul"
    };
    let wrong = || -> ! {
        let [a, b] = [&lhs, &rhs].map(|tensor| format!("{:?} {:?}", tensor.dtype(), tensor.shape));
        invalid(
            name,
            format!("{a} times {b}: equal dtypes, two axes or more, (…, m, k) times (…, k, n)"),
        )
    };
    let (ranks, [a, b]) = ([lhs.rank(), rhs.rank()], [&lhs.shape, &rhs.shape]);
    if ranks.iter().any(|&rank| rank < 2) || rhs.dtype() != dtype || dtype.is_bool() {
        wrong()
    }
    let [m, k, n] = [a[ranks[0] - 2], a[ranks[0] - 1], b[ranks[1] - 1]];
    let (before_a, before_b) = (&a[..ranks[0] - 2], &b[..ranks[1] - 2]);
    let Some(batch) = broadcast(before_a, before_b) else {
        wrong()
    };
    if b[ranks[1] - 2] != k {
        wrong()
    }
    let shape: Shape = [&batch[..], &[m, n]].concat().into();
    // No kernel takes an inner extent of 0; the sum over nothing is 0.
    if k == 0 || shape.num_elements() == 0 {
        return memory::zeros(shape, dtype);
    }
    let [count_a, count_b, count] =
        [before_a, before_b, &batch].map(|extents| extents.iter().product::<usize>());
    if !dtype.is_float() {
        let lhs = flatten(lhs, &batch, count_a, count);
        let rhs = tensor_shape::transpose(flatten(rhs, &batch, count_b, count));
        return integer::product(lhs, rhs, [count, m, k, n]).with_shape(shape);
    }
    // macOS 27: the compiler ends the process on reshape, product, reshape if a shape has more than one extent of 1
    // (pytorch/pytorch#187201); products of any rank work there.
    let lone = |shape: &[usize]| shape.iter().filter(|&&extent| extent == 1).count() > 1;
    if os_version::at_least(27, 0) && count <= BATCH && (lone(a) || lone(b) || lone(&shape)) {
        let output = TensorType::new(dtype, shape);
        return record(
            op(MatrixMultiplicationOp::Float),
            &[&lhs, &rhs],
            &[],
            output,
        );
    }
    let (lhs, rhs, output): (_, _, Shape) = if count_b == 1 {
        (
            lhs.with_shape([count * m, k].into()),
            rhs.with_shape([k, n].into()),
            [count * m, n].into(),
        )
    } else {
        (
            flatten(lhs, &batch, count_a, count),
            flatten(rhs, &batch, count_b, count),
            [count, m, n].into(),
        )
    };
    let output = TensorType::new(dtype, output);
    record(
        op(MatrixMultiplicationOp::Float),
        &[&lhs, &rhs],
        &[],
        output,
    )
    .with_shape(shape)
}

/// The extents to which both repeat, if they do.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let extent = |extents: &[usize], axis: usize| {
        (axis + extents.len())
            .checked_sub(rank)
            .map_or(1, |at| extents[at])
    };
    (0..rank)
        .map(|axis| match (extent(a, axis), extent(b, axis)) {
            (x, y) if x == y => Some(x),
            (1, y) => Some(y),
            (x, 1) => Some(x),
            _ => None,
        })
        .collect()
}

/// The operand with its batch as one axis: of extent 1 or `count`.
fn flatten(tensor: MpsGraphTensor, batch: &[usize], own: usize, count: usize) -> MpsGraphTensor {
    let matrix = tensor.shape[tensor.rank() - 2..].to_vec();
    let tensor = match own {
        1 => return tensor.with_shape([&[1], &matrix[..]].concat().into()),
        _ if own == count => tensor,
        // Repeated along some batch axes only: no flat batch can say that.
        _ => tensor_shape::expand(tensor, [batch, &matrix].concat().into()),
    };
    tensor.with_shape([&[count], &matrix[..]].concat().into())
}

/// At most [`BATCH`] matrices at a time.
fn batches(
    graph: &ffi::Graph,
    [a, b]: [&ffi::Tensor; 2],
    [shape_a, shape_b]: [&Shape; 2],
) -> ffi::Tensor {
    let ranks = [shape_a, shape_b].map(|shape| shape.num_dims());
    // Other ranks than three are recorded for few matrices only.
    let count = shape_a[0].max(shape_b[0]);
    if ranks != [3, 3] || count <= BATCH {
        return one_product(graph, a, b, shape_a, shape_b);
    }
    let parts: Vec<ffi::Tensor> = (0..count)
        .step_by(BATCH)
        .map(|low| {
            let high = count.min(low + BATCH);
            let part = |x: &ffi::Tensor, shape: &Shape| {
                let mut part = shape.clone();
                if shape[0] == 1 {
                    return (x.clone(), part);
                }
                part[0] = high - low;
                (range(graph, x, shape, 0, low, high), part)
            };
            let ((a, shape_a), (b, shape_b)) = (part(a, shape_a), part(b, shape_b));
            one_product(graph, &a, &b, &shape_a, &shape_b)
        })
        .collect();
    graph.concat(&parts.iter().collect::<Vec<_>>(), 0)
}

/// Products of at most [`BATCH`] matrices.
fn one_product(
    graph: &ffi::Graph,
    a: &ffi::Tensor,
    b: &ffi::Tensor,
    shape_a: &Shape,
    shape_b: &Shape,
) -> ffi::Tensor {
    let [rank_a, rank_b] = [shape_a, shape_b].map(|shape| shape.num_dims());
    // macOS 26 on M1 loses the bias that it fuses into a product with one row (see pytorch's mps/operations/Linear.mm);
    // fixed in 27. With the operands' roles exchanged the product has one column instead.
    let one_row = shape_a[rank_a - 2] == 1 && shape_b[rank_b - 1] > 1;
    if !one_row || !os_version::at_least(26, 0) || os_version::at_least(27, 0) {
        return inner_parts(graph, a, b, shape_a, shape_b);
    }
    let turned = |x: &ffi::Tensor, shape: &Shape| {
        let last = shape.num_dims() - 1;
        let mut turned = shape.clone();
        (turned[last - 1], turned[last]) = (shape[last], shape[last - 1]);
        (graph.transpose(x, &turning(last + 1)), turned)
    };
    let ((left, shape_left), (right, shape_right)) = (turned(b, shape_b), turned(a, shape_a));
    let product = inner_parts(graph, &left, &right, &shape_left, &shape_right);
    graph.transpose(&product, &turning(rank_a.max(rank_b)))
}

/// The permutation that exchanges the last two of `rank` axes.
fn turning(rank: usize) -> Vec<usize> {
    (0..rank - 2).chain([rank - 1, rank - 2]).collect()
}

/// The sum of products of at most [`INNER`] columns and rows.
fn inner_parts(
    graph: &ffi::Graph,
    a: &ffi::Tensor,
    b: &ffi::Tensor,
    shape_a: &Shape,
    shape_b: &Shape,
) -> ffi::Tensor {
    let [rank_a, rank_b] = [shape_a, shape_b].map(|shape| shape.num_dims());
    let inner = shape_a[rank_a - 1];
    if inner <= INNER {
        return graph.matrix_multiplication(a, b);
    }
    let part = |low: usize| {
        let high = inner.min(low + INNER);
        let left = range(graph, a, shape_a, rank_a - 1, low, high);
        graph.matrix_multiplication(&left, &range(graph, b, shape_b, rank_b - 2, low, high))
    };
    (INNER..inner)
        .step_by(INNER)
        .fold(part(0), |sum, low| graph.addition(&sum, &part(low)))
}

/// The part `low..high` of one axis.
fn range(
    graph: &ffi::Graph,
    x: &ffi::Tensor,
    shape: &Shape,
    axis: usize,
    low: usize,
    high: usize,
) -> ffi::Tensor {
    if (low, high) == (0, shape[axis]) {
        return x.clone();
    }
    let mut starts = vec![0; shape.num_dims()];
    let mut ends: Vec<isize> = shape.iter().map(|&extent| extent as isize).collect();
    (starts[axis], ends[axis]) = (low as isize, high as isize);
    graph.slice(x, &starts, &ends, &vec![1; shape.num_dims()])
}

fn op(op: MatrixMultiplicationOp) -> Op {
    Op::MatrixMultiplication(op)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_repeat_from_the_right() {
        assert_eq!(broadcast(&[2, 1], &[3]), Some(vec![2, 3]));
        assert_eq!(broadcast(&[], &[4]), Some(vec![4]));
        assert_eq!(broadcast(&[2], &[3]), None);
    }
}
