//! `MPSGraphTensorShapeOps.h`: shapes, views, and conversions of the element type.
//!
//! Shapes, axes and positions are constants of the graph. No extent may be 0, neither before nor after. Left out: the
//! forms that take shapes and axes as tensors (reported to end the process when they are fed), the batch, space and
//! depth rearrangements (reshapes and transpositions), and the gradients (slices and sums).

use super::{DataType, Tensor};
use crate::ffi::objc::{graph_methods, objc_enum};

objc_enum! {
    /// What stands in the new elements of a padded tensor. Apple's two periodic modes end the process.
    enum PaddingMode: i64 = "MPSGraphPaddingMode" {
        /// A given number.
        Constant = "MPSGraphPaddingModeConstant" 0,
        /// Mirrored at the edge element, which is not repeated: at most extent - 1.
        Reflect = "MPSGraphPaddingModeReflect" 1,
        /// Mirrored, the edge element repeated: at most the extent.
        Symmetric = "MPSGraphPaddingModeSymmetric" 2,
        /// The edge element.
        ClampToEdge = "MPSGraphPaddingModeClampToEdge" 3,
        /// 0.
        Zero = "MPSGraphPaddingModeZero" 4,
    }
}

graph_methods! {
    "MPSGraphTensorShapeOps.h";

    /// The same elements in another shape of the same volume.
    fn reshape(x, shape: &[usize]) = "reshapeTensor:withShape:name:", since (11, 0);

    /// Axis `i` of the result is axis `permutation[i]` of `x`.
    fn transpose(x, permutation: &[usize]) = "transposeTensor:permutation:name:", since (13, 0);

    /// Swaps two axes.
    fn transpose_dimensions(x, dimension: usize, with: usize) = "transposeTensor:dimension:withDimension:name:",
        since (11, 0);

    /// Elements `starts[i]`, `starts[i] + strides[i]`, … before `ends[i]` of each axis.
    fn slice(x, starts: &[isize], ends: &[isize], strides: &[isize]) = "sliceTensor:starts:ends:strides:name:",
        since (11, 0);

    /// `length` elements of one axis, from `start` on.
    fn slice_dimension(x, dimension: usize, start: isize, length: isize)
        = "sliceTensor:dimension:start:length:name:", since (11, 0);

    /// `data` with the region that [`slice`](Self::slice) would read replaced by `update`, of exactly its shape.
    fn slice_update(data, update, starts: &[isize], ends: &[isize], strides: &[isize])
        = "sliceUpdateDataTensor:updateTensor:starts:ends:strides:name:", since (15, 0);

    /// As [`slice_update`](Self::slice_update), on systems that have the form with masks only. Pass 0 for each mask:
    /// others are reported to end the process.
    fn slice_update_masked(
        data,
        update,
        starts: &[isize],
        ends: &[isize],
        strides: &[isize],
        start_mask: u32,
        end_mask: u32,
        squeeze_mask: u32,
    ) = "sliceUpdateDataTensor:updateTensor:starts:ends:strides:startMask:endMask:squeezeMask:name:", since (14, 4);

    /// The tensors one after the other along one axis; equal dtypes and other extents.
    fn concat(tensors: &[&Tensor], dimension: isize) = "concatTensors:dimension:name:", since (11, 0);

    /// The tensors along a new axis; equal dtypes and shapes.
    fn stack(tensors: &[&Tensor], axis: isize) = "stackTensors:axis:name:", since (12, 3);

    /// Parts of the given sizes, which add up to the extent of the axis.
    fn split(x, sizes: &[usize], axis: isize) -> Vec<Tensor> = "splitTensor:splitSizes:axis:name:", since (12, 3);

    /// Back to front along the given axes.
    fn reverse(x, axes: &[isize]) = "reverseTensor:axes:name:", since (12, 0);

    /// `x` repeated along its axes of extent 1. Any other change of an extent silently fills with zeros.
    fn broadcast(x, shape: &[usize]) = "broadcastTensor:toShape:name:", since (12, 0);

    /// The numbers as another type; floats are truncated to integers.
    fn cast(x, data_type: DataType) = "castTensor:toType:name:", since (12, 0);

    /// The bits as another type; the last extent changes with the width.
    fn reinterpret_cast(x, data_type: DataType) = "reinterpretCastTensor:toType:name:", since (13, 2);

    /// Each element's index along one axis, as i32.
    fn coordinate_along_axis(axis: isize, shape: &[usize]) = "coordinateAlongAxis:withShape:name:", since (12, 3);

    /// Elements added before and behind each axis; `value` is used by [`PaddingMode::Constant`] alone.
    fn pad(x, mode: PaddingMode, left: &[usize], right: &[usize], value: f64)
        = "padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:", since (11, 0);

    /// `x` repeated `multiplier[i]` times along axis `i`.
    fn tile(x, multiplier: &[usize]) = "tileTensor:withMultiplier:name:", since (11, 0);

    /// New axes of extent 1, at these positions of the result.
    fn expand_dims(x, axes: &[isize]) = "expandDimsOfTensor:axes:name:", since (12, 3);

    /// Without these axes, whose extents are 1.
    fn squeeze(x, axes: &[isize]) = "squeezeTensor:axes:name:", since (12, 3);

    /// Two axes: the product of the extents before `axis`, and that of the others. `axis` does not count from the end.
    fn flatten_2d(x, axis: isize) = "flatten2DTensor:axis:name:", since (12, 0);

    /// The shape, as an i32 tensor.
    fn shape_of(x) = "shapeOfTensor:name:", since (12, 0);
}
