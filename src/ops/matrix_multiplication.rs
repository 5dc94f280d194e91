//! Matrix products.
//!
//! Leading axes are flattened as far as broadcasting allows: two axes if the right operand has no batch (every linear
//! layer), else three. On M5 16-bit floats are multiplied in f32 then: their products of more than two axes are not
//! deterministic there (pytorch/pytorch#180776). MPSGraph multiplies float matrices only; integers are multiplied and
//! summed elementwise.

mod attention;
mod integer;
mod linear;
mod parts;

use burn_backend::{DType, Shape, TensorMetadata};

pub(crate) use attention::attention;
pub(crate) use linear::{linear, linear_bias_backward, linear_weight_backward, linear_x_backward};

pub(crate) use self::parts::INNER;
pub(super) use self::parts::are_distant;
use self::parts::{BATCH, Parts, is_far, is_fused_row};
use super::{Operation, memory, tensor_shape};
use crate::bridge::record;
use crate::error::{Call, invalid};
use crate::ffi::{self, gpu, os_version};
use crate::lowering::conversion::{computed_in, convert};
use crate::lowering::provenance::{Provenance, Reading, Reshapes};
use crate::lowering::rank::has_lone_extents;
use crate::lowering::scalar::ScalarInput;
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::{TensorType, broadcast, extents, shape};

/// A recorded matrix product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MatrixMultiplicationOp {
    /// `[a (…, m, k), b (…, k, n)]`, floats of one dtype: both with two axes, or both with three and batches that are
    /// equal or 1, or other ranks ([`keeps_ranks`]) with at most [`BATCH`] matrices. If one of the last two extents
    /// [`is_far`], or the row [`is_fused_row`], the node's scalar is minus infinity.
    Float,
    /// `[x (m, k), weight (k, n), bias (n)]`, floats of one dtype, no extent of which [`is_far`]: the product and a sum
    /// with it. One op, because where a layer runs for one sample the cost of each recorded op counts. Its scalar is
    /// that of the product.
    Linear,
    /// `[a (batch, m, k), b (batch, n, k)]`, integers of one dtype, batches equal or 1: rows times rows.
    Integer,
}

impl Operation for MatrixMultiplicationOp {
    fn name(&self) -> &'static str {
        match self {
            MatrixMultiplicationOp::Float => "float_matmul",
            MatrixMultiplicationOp::Linear => "linear",
            MatrixMultiplicationOp::Integer => "int_matmul",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        match self {
            MatrixMultiplicationOp::Float => lower_float(cx, inputs, output),
            MatrixMultiplicationOp::Linear => {
                let (product, bias) = (lower_float(cx, inputs, output), &inputs[2]);
                let row = cx.once("row", &bias.tensor, || cx.graph().reshape(&bias.tensor, &[1, bias.ty.shape[0]]));
                cx.graph().addition(&product, &row)
            }
            MatrixMultiplicationOp::Integer => integer::lower(cx, &inputs[0], &inputs[1], output),
        }
    }

    fn widest(&self, operands: &[&MpsGraphTensor], output: &TensorType) -> usize {
        match self {
            Self::Float | Self::Linear if !through_f32(&operands[0].shape, output) => 0,
            Self::Float | Self::Linear | Self::Integer => 4,
        }
    }

    fn provenance(&self, inputs: &[Provenance]) -> Provenance {
        match self {
            MatrixMultiplicationOp::Linear => inputs[2].without(Provenance::VIEW),
            MatrixMultiplicationOp::Float | MatrixMultiplicationOp::Integer => Provenance::NONE,
        }
    }

    fn is_rewritten(&self) -> bool {
        match self {
            MatrixMultiplicationOp::Float | MatrixMultiplicationOp::Linear => true,
            MatrixMultiplicationOp::Integer => false,
        }
    }

    fn widens(&self, dtype: DType, readings: &[Reading<'_>], output: &TensorType) -> bool {
        computed_in(dtype) != dtype && through_f32(readings[0].shape, output)
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        match self {
            MatrixMultiplicationOp::Float | MatrixMultiplicationOp::Linear => Reshapes::Nothing,
            MatrixMultiplicationOp::Integer => Reshapes::AnyShape,
        }
    }

    fn hides_readers(&self) -> bool {
        match self {
            MatrixMultiplicationOp::Linear => true,
            MatrixMultiplicationOp::Float | MatrixMultiplicationOp::Integer => false,
        }
    }
}

/// Whether a product of 16-bit operands is computed in f32: sums over parts are, and batches where a GPU may get them
/// wrong.
fn through_f32(lhs: &[usize], output: &TensorType) -> bool {
    let inner = lhs[lhs.len() - 1];
    let batches = output.shape.num_dims() > 2 && !gpu::is_m1_to_m4();
    output.dtype != DType::F32 && (inner > INNER || batches)
}

/// Adds the product of the first two operands, whose scalars are those of [`scalars`].
pub(super) fn lower_float(cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
    let [a, b] = [&inputs[0], &inputs[1]];
    let shapes = [&a.ty.shape, &b.ty.shape];
    let computed_in = if through_f32(&a.ty.shape, output) { DType::F32 } else { output.dtype };
    let [x, y] = [a, b].map(|operand| convert(cx, &operand.tensor, output.dtype, computed_in));
    let parts = Parts { graph: cx.graph(), least: cx.has_scalars().then(|| cx.scalar(0, computed_in)) };
    let is_far = is_far(shapes.map(|shape| &shape[..]));
    let product = if is_far { parts.far([&x, &y], shapes) } else { parts.batches([&x, &y], shapes) };
    convert(cx, &product, computed_in, output.dtype)
}

/// The matrix product of the last two axes, the axes before them broadcast. One dtype, float or integer; integers wrap
/// around.
pub(crate) fn matmul(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
    let dtype = lhs.dtype();
    let name = if dtype.is_float() { "float_matmul" } else { "int_matmul" };
    let _call = Call::begin(name, [lhs.typed(), rhs.typed()]);
    let wrong = || -> ! {
        let [a, b] = [&lhs, &rhs].map(|tensor| format!("{:?} {:?}", tensor.dtype(), tensor.dims()));
        let rule = if lhs.dtype() != rhs.dtype() {
            "the dtypes have to be equal: cast one of them"
        } else if dtype.is_bool() {
            "bools are not multiplied: cast both"
        } else {
            "two axes or more are expected, (…, m, k) times (…, k, n)"
        };
        invalid(name, format!("{a} times {b}: {rule}"))
    };
    let (ranks, [a, b]) = ([lhs.rank(), rhs.rank()], [&lhs.shape, &rhs.shape]);
    if ranks.iter().any(|&rank| rank < 2) || rhs.dtype() != dtype || dtype.is_bool() {
        wrong()
    }
    let [m, k, n] = [a[ranks[0] - 2], a[ranks[0] - 1], b[ranks[1] - 1]];
    let (before_a, before_b) = (&a[..ranks[0] - 2], &b[..ranks[1] - 2]);
    let Ok(batch) = broadcast(before_a, before_b) else { wrong() };
    if b[ranks[1] - 2] != k {
        wrong()
    }
    let result = if extents(&batch).is_empty() { shape(&[m, n]) } else { shape(&[&batch[..], &[m, n]].concat()) };
    // No kernel accepts an inner extent of 0; the sum over no elements is 0.
    if k == 0 || result.num_elements() == 0 {
        return memory::zeros(result, dtype);
    }
    // What a linear layer multiplies.
    if dtype.is_float() && ranks == [2, 2] {
        return float_product(lhs, rhs, result);
    }
    let [count_a, count_b, count] = [before_a, before_b, &batch].map(|extents| extents.iter().product::<usize>());
    if !dtype.is_float() {
        let lhs = flatten(lhs, &batch, count_a, count);
        let rhs = tensor_shape::transpose(flatten(rhs, &batch, count_b, count));
        return integer::product(lhs, rhs, [count, m, k, n]).with_shape(result);
    }
    // Products that can be recorded with two axes are not left with more: a bias that is added to a product of more
    // axes can be lost (pytorch/pytorch#192934), so those of two have a barrier between reshape and product instead.
    if count_b > 1 && keeps_ranks(count, [a, b, &result]) {
        return float_product(lhs, rhs, result);
    }
    let (lhs, rhs, output): (_, _, Shape) = if count_b == 1 {
        (lhs.with_shape([count * m, k].into()), rhs.with_shape([k, n].into()), [count * m, n].into())
    } else {
        (flatten(lhs, &batch, count_a, count), flatten(rhs, &batch, count_b, count), [count, m, n].into())
    };
    float_product(lhs, rhs, output).with_shape(result)
}

/// The most axes of products before macOS 27; see [`keeps_ranks`].
const AXES: usize = 4;

/// Whether the operands of `count` products are read as they are, with their result of these shapes, even if one has
/// fewer axes. macOS 27, and by some reports 26: the compiler ends the process on reshape, product, reshape if a shape
/// has more than one extent of 1 (pytorch/pytorch#187201, #187379). Before 27 it ends the process on some products of
/// more than four axes, too (pytorch/pytorch#114942, with shapes in #117837).
pub(super) fn keeps_ranks(count: usize, shapes: [&[usize]; 3]) -> bool {
    let has_such_ranks = || os_version::at_least(27, 0) || shapes.iter().all(|shape| shape.len() <= AXES);
    os_version::at_least(26, 0) && count <= BATCH && shapes.into_iter().any(has_lone_extents) && has_such_ranks()
}

/// Records a product of floats.
fn float_product(lhs: MpsGraphTensor, rhs: MpsGraphTensor, shape: Shape) -> MpsGraphTensor {
    let output = TensorType::new(lhs.dtype(), shape);
    record(MatrixMultiplicationOp::Float.into(), &[&lhs, &rhs], scalars([lhs.dims(), rhs.dims()]), output)
}

/// What a product of floats of these shapes is fed.
pub(super) fn scalars(shapes: [&[usize]; 2]) -> &'static [ScalarInput] {
    if is_far(shapes) || is_fused_row(shapes[0]) { &[ScalarInput::Float(f64::NEG_INFINITY)] } else { &[] }
}

/// The operand with its batch as one axis: of extent 1 or `count`.
fn flatten(tensor: MpsGraphTensor, batch: &[usize], own: usize, count: usize) -> MpsGraphTensor {
    let matrix = tensor.shape[tensor.rank() - 2..].to_vec();
    let tensor = match own {
        1 => return tensor.with_shape([&[1], &matrix[..]].concat().into()),
        _ if own == count => tensor,
        // The operand repeats along some batch axes only, which one flat batch axis cannot express.
        _ => tensor_shape::expand(tensor, [batch, &matrix].concat().into()),
    };
    tensor.with_shape([&[count], &matrix[..]].concat().into())
}
