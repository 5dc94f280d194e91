//! Shapes folded to the few axes that MPSGraph's kernels are right for.

use burn_backend::Shape;

use super::Lowering;
use crate::ffi;

/// The last axes of a tensor along which MPSGraph's kernels are right: those that work along an axis fail on the axes
/// before (pytorch/pytorch#118126).
pub(crate) const KERNEL_AXES: usize = 4;

/// `shape` and the axis that is its `dim`, with neighbouring axes collapsed if there are more than [`KERNEL_AXES`].
pub(crate) fn within_rank(shape: &[usize], dim: usize) -> (Vec<usize>, isize) {
    if shape.len() <= KERNEL_AXES {
        return (shape.to_vec(), dim as isize);
    }
    (outer_axis_inner(shape, dim).into(), 1)
}

/// `shape` seen as what is before axis `dim`, the axis, and what is after it.
pub(crate) fn outer_axis_inner(shape: &[usize], dim: usize) -> [usize; 3] {
    [shape[..dim].iter().product(), shape[dim], shape[dim + 1..].iter().product()]
}

/// The axis of a node that reads or writes along `dim` of `shape`, and the shape that it sees: what is before `dim` and
/// what is after it as one axis each, and none of a single element.
///
/// Kernels along an axis count axes of one element in one place and not in another, and end the process: gathers from
/// data that has one longer axis, before macOS 15.2 (pytorch/pytorch#135240), and scatters along an axis with one of a
/// single element behind it (pytorch/pytorch#121557, macOS 14.3).
pub(crate) fn along(shape: &[usize], dim: usize) -> (usize, Shape) {
    match outer_axis_inner(shape, dim) {
        [1, axis, 1] => (0, [axis].into()),
        [1, axis, inner] => (0, [axis, inner].into()),
        [outer, axis, 1] => (1, [outer, axis].into()),
        whole => (1, whole.into()),
    }
}

/// `x` of shape `from` as `to`.
pub(crate) fn reshaped(cx: &Lowering<'_>, x: &ffi::Tensor, from: &[usize], to: &[usize]) -> ffi::Tensor {
    if from == to { x.clone() } else { cx.graph().reshape(x, to) }
}

/// Whether more than one extent is 1.
pub(crate) fn has_lone_extents(shape: &[usize]) -> bool {
    shape.iter().filter(|&&extent| extent == 1).count() > 1
}
