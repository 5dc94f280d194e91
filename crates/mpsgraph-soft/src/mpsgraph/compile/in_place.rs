//! Operands of matrix products that MPSGraph may read in the memory of another value, with strides: slices, permuted
//! and repeated values. Some of its kernels read such operands wrongly.
//!
//! Apple does not say which views are copied first, so all of these are taken to be read in place.

use crate::ir::{ElementwiseOp, Node, Nodes, Op, TensorType, UnaryOp, ValueId, ViewOp};
use crate::mpsgraph::shape::Shown;
use crate::objc::version::macos;

/// Rows further apart than this many elements are silently wrong before macOS 14.4 (pytorch/pytorch#116769, #111634,
/// #117549 and pytorch's mps/operations/LinearAlgebra.mm).
const FAR: usize = 1 << 15;

/// Rows and columns up to which 16-bit products have kernels of their own, which read and write beyond rows that are
/// apart (pytorch/pytorch#178056).
const FEW: usize = 16;

/// The objection to an operand of the matrix product `product`, if there is one.
pub(super) fn objection(nodes: &Nodes, product: ValueId) -> Option<String> {
    let Node { inputs, output, .. } = nodes.node(product);
    let is_few = output.shape.iter().rev().take(2).any(|&extent| extent <= FEW);
    let refused = |operand: ValueId| {
        let (shown, rows) = (Shown(nodes.ty(operand)), Rows::of(nodes, operand));
        let remedy = "copy it by something that cannot be folded, such as the maximum with a fed number";
        if macos() >= (15, 0) && rows.is_repeated {
            return Some(format!("the operand {shown} is repeated: the product is silently wrong; {remedy}"));
        }
        if macos() < (14, 4) && rows.apart > FAR && rows.is_view {
            let apart = rows.apart;
            return Some(format!(
                "the rows of the operand {shown} are {apart} elements apart: the product is silently wrong before \
                 macOS 14.4; {remedy}"
            ));
        }
        (is_few && output.dtype.size() == 2 && rows.apart > rows.along).then(|| {
            format!(
                "the rows of the 16-bit operand {shown} are apart: a product of at most {FEW} rows or columns reads \
                 beyond them; {remedy}"
            )
        })
    };
    inputs.iter().find_map(|&operand| refused(operand))
}

/// How a matrix lies in memory.
struct Rows {
    /// Elements of a row, or of a column if those are dense; 1 if neither are.
    along: usize,
    /// Elements from one to the next; as many as it has if there is only one.
    apart: usize,
    /// Whether one of them is repeated without being copied.
    is_repeated: bool,
    /// Whether it is in another value's memory.
    is_view: bool,
}

impl Rows {
    fn of(nodes: &Nodes, operand: ValueId) -> Self {
        let (shape, strides) = (&nodes.ty(operand).shape, strides(nodes, operand));
        let rank = shape.len();
        let axes = [rank - 2, rank - 1].map(|axis| (shape[axis], strides[axis]));
        let is_dense = |(extent, stride): (usize, usize)| extent > 1 && stride == 1;
        let (along, other) = match axes {
            [rows, columns] if is_dense(columns) => (columns.0, rows),
            [rows, columns] if is_dense(rows) => (rows.0, columns),
            [rows, (1, _)] => (1, rows),
            [_, columns] => (1, columns),
        };
        Self {
            along,
            apart: if other.0 > 1 { other.1 } else { along },
            is_repeated: axes.into_iter().any(|(extent, stride)| extent > 1 && stride == 0),
            is_view: strides != packed(nodes.ty(operand)),
        }
    }
}

/// The strides, in elements, by which a value is read in the memory of what it is a view of.
fn strides(nodes: &Nodes, value: ValueId) -> Vec<usize> {
    let Node { op, inputs, output, .. } = nodes.node(value);
    let view = match op {
        Op::View(view) => view,
        // The compiler moves casts past views.
        Op::Elementwise(ElementwiseOp::Cast | ElementwiseOp::Unary(UnaryOp::Identity)) => {
            return strides(nodes, inputs[0]);
        }
        Op::Leaf(_) | Op::Elementwise(_) | Op::MatMul | Op::Kernel(_) => return packed(output),
    };
    let source = nodes.ty(inputs[0]);
    let of_source = || strides(nodes, inputs[0]);
    match view {
        ViewOp::Transpose { perm } => {
            let of_source = of_source();
            perm.iter().map(|&axis| of_source[axis]).collect()
        }
        ViewOp::Slice { strides: steps, .. } if steps.iter().all(|&step| step > 0) => {
            of_source().iter().zip(steps).map(|(stride, &step)| stride * step as usize).collect()
        }
        ViewOp::Broadcast => {
            let (of_source, missing) = (of_source(), output.shape.len() - source.shape.len());
            let stride = |axis: usize| {
                let axis = axis.checked_sub(missing)?;
                (source.shape[axis] > 1).then(|| of_source[axis])
            };
            (0..output.shape.len()).map(|axis| stride(axis).unwrap_or(0)).collect()
        }
        // Axes of extent 1 come and go; where others do, the compiler is taken to copy.
        ViewOp::Reshape if long(source).eq(long(output)) => {
            let of_source = of_source();
            let mut kept = (0..source.shape.len()).filter(|&axis| source.shape[axis] != 1).map(|axis| of_source[axis]);
            output.shape.iter().map(|&extent| if extent == 1 { 1 } else { kept.next().unwrap_or(1) }).collect()
        }
        ViewOp::Slice { .. } | ViewOp::Reshape | ViewOp::Reverse { .. } | ViewOp::Reinterpret => packed(output),
    }
}

/// The extents that are not 1.
fn long(ty: &TensorType) -> impl Iterator<Item = &usize> {
    ty.shape.iter().filter(|&&extent| extent != 1)
}

/// The strides of a value of its own.
fn packed(ty: &TensorType) -> Vec<usize> {
    let mut strides = vec![1; ty.shape.len()];
    for axis in (1..ty.shape.len()).rev() {
        strides[axis - 1] = strides[axis] * ty.shape[axis];
    }
    strides
}
