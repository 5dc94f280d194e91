//! Operands of matrix products and convolutions that MPSGraph may read in the memory of another value, with strides:
//! slices, permuted and repeated values. Some of its kernels read such operands wrongly.
//!
//! Apple does not say which views are copied first, so all of these are taken to be read in place.

use crate::compiler::views::View;
use crate::ir::{ElementwiseOp, Leaf, Node, Nodes, Op, TensorType, UnaryOp, ValueId, ViewOp};
use crate::mpsgraph::ops::matrix_multiplication::FAR;
use crate::mpsgraph::shape::Shown;
use crate::objc::version::macos;

/// Rows and columns up to which 16-bit products have kernels of their own, which read and write beyond rows that are
/// apart (pytorch/pytorch#178056).
const FEW: usize = 16;

/// What helps against all of these.
const REMEDY: &str = "copy it by something that cannot be folded, such as the maximum with a fed number";

/// The objection to an operand of the convolution `convolution`, or of a gradient of one, if there is one.
///
/// From macOS 15 on weights that are views are read as if they were packed (pytorch/pytorch#192212), and by some
/// reports inputs of which channels are cut out (#169342, #180984).
pub(super) fn objection_to_convolution(nodes: &Nodes, convolution: ValueId) -> Option<String> {
    if macos() < (15, 0) {
        return None;
    }
    let apart = nodes.node(convolution).inputs.iter().find(|&&operand| !view(nodes, operand).is_consecutive());
    apart.map(|&operand| {
        let shown = Shown(nodes.ty(operand));
        format!("the operand {shown} of a convolution is a view: it is silently read as if it were packed; {REMEDY}")
    })
}

/// The objection to an operand of the matrix product `product`, if there is one.
pub(super) fn objection_to_product(nodes: &Nodes, product: ValueId) -> Option<String> {
    let Node { inputs, output, .. } = nodes.node(product);
    let is_few = output.shape.iter().rev().take(2).any(|&extent| extent <= FEW);
    let refused = |operand: ValueId| {
        let (shown, rows) = (Shown(nodes.ty(operand)), Rows::of(nodes, operand));
        if macos() >= (15, 0) && rows.is_repeated {
            return Some(format!("the operand {shown} is repeated: the product is silently wrong; {REMEDY}"));
        }
        if macos() < (14, 4) && rows.apart > FAR && rows.is_view {
            let apart = rows.apart;
            return Some(format!(
                "the rows of the operand {shown} are {apart} elements apart: the product is silently wrong before \
                 macOS 14.4; {REMEDY}"
            ));
        }
        (is_few && output.dtype.size() == 2 && rows.apart > rows.along).then(|| {
            format!(
                "the rows of the 16-bit operand {shown} are apart: a product of at most {FEW} rows or columns reads \
                 beyond them; {REMEDY}"
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
        let view = view(nodes, operand);
        let rank = view.shape.len();
        let axes = [rank - 2, rank - 1].map(|axis| (view.shape[axis], view.strides[axis].unsigned_abs()));
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
            is_view: !view.is_consecutive(),
        }
    }
}

/// What a value is a view of, and how it is read there.
fn view(nodes: &Nodes, value: ValueId) -> View {
    let Node { op, inputs, output, .. } = nodes.node(value);
    let of_source = || view(nodes, inputs[0]);
    let seen = match op {
        Op::View(ViewOp::Transpose { perm }) => Some(of_source().transpose(perm)),
        Op::View(ViewOp::Slice { starts, strides }) if strides.iter().all(|&step| step > 0) => {
            Some(of_source().slice(starts, strides, &output.shape))
        }
        Op::View(ViewOp::Broadcast) => Some(of_source().broadcast(&output.shape)),
        // Axes of extent 1 come and go; where others do, the compiler is taken to copy.
        Op::View(ViewOp::Reshape) if long(nodes.ty(inputs[0])).eq(long(output)) => of_source().reshape(&output.shape),
        // The compiler moves casts past views.
        Op::Elementwise(ElementwiseOp::Cast | ElementwiseOp::Unary(UnaryOp::Identity)) => Some(of_source()),
        Op::View(ViewOp::Slice { .. } | ViewOp::Reshape | ViewOp::Reverse { .. } | ViewOp::Reinterpret) => None,
        // One number for all elements may be kept as such.
        Op::Leaf(Leaf::Splat(_)) => Some(View::packed(value, &vec![1; output.shape.len()]).broadcast(&output.shape)),
        Op::Leaf(Leaf::Constant(_) | Leaf::Placeholder) => None,
        Op::Elementwise(_) | Op::MatMul | Op::Kernel(_) => None,
    };
    seen.unwrap_or_else(|| View::packed(value, &output.shape))
}

/// The extents that are not 1.
fn long(ty: &TensorType) -> impl Iterator<Item = &usize> {
    ty.shape.iter().filter(|&&extent| extent != 1)
}
