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

    /// Elements added before and behind each axis; `value` is used by [`PaddingMode::Constant`] alone. Beyond rank 4
    /// large planes are silently wrong (pytorch/pytorch#194922).
    fn pad(x, mode: PaddingMode, left: &[usize], right: &[usize], value: f64)
        = "padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:", since (11, 0);
}

#[cfg(test)]
pub(super) use cases::exercise;

#[cfg(test)]
mod cases {
    use super::{DataType, PaddingMode};
    use crate::ffi::exercise::{Cases, check};
    use crate::ffi::os_version;

    const ROWS: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    const SAME: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    const TURNED: [f64; 6] = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];

    pub fn exercise() {
        check(same_elements);
        check(parts);
        check(larger);
        check(conversions);
    }

    /// What moves or renames axes.
    fn same_elements(cases: &mut Cases) {
        let graph = cases.graph.clone();
        let x = cases.floats(&[2, 3], &ROWS);
        cases.gives(graph.reshape(&x, &[3, 2]), &[3, 2], &SAME);
        cases.gives(graph.transpose(&x, &[1, 0]), &[3, 2], &TURNED);
        let reversed = graph.reverse(&x, &[1]);
        cases.gives(reversed, &[2, 3], &[3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
    }

    /// What takes tensors apart and puts them together.
    fn parts(cases: &mut Cases) {
        let graph = cases.graph.clone();
        let x = cases.floats(&[2, 3], &ROWS);
        let ends = graph.slice(&x, &[0, 0], &[2, 3], &[1, 2]);
        cases.gives(ends, &[2, 2], &[1.0, 3.0, 4.0, 6.0]);
        let last = graph.slice_dimension(&x, 1, 2, 1);
        cases.gives(last.clone(), &[2, 1], &[3.0, 6.0]);
        let both = graph.concat(&[&last, &x], 1);
        cases.gives(both, &[2, 4], &[3.0, 1.0, 2.0, 3.0, 6.0, 4.0, 5.0, 6.0]);

        let update = cases.floats(&[2, 1], &[10.0, 20.0]);
        let replaced = [1.0, 10.0, 3.0, 4.0, 20.0, 6.0];
        let (starts, ends, strides) = ([0, 1], [2, 2], [1, 1]);
        if os_version::at_least(14, 4) {
            let result = graph.slice_update_masked(&x, &update, &starts, &ends, &strides, 0, 0, 0);
            cases.gives(result, &[2, 3], &replaced);
        }
        if os_version::at_least(15, 0) {
            let result = graph.slice_update(&x, &update, &starts, &ends, &strides);
            cases.gives(result, &[2, 3], &replaced);
        }
    }

    /// What makes larger tensors.
    fn larger(cases: &mut Cases) {
        let graph = cases.graph.clone();
        let column = cases.floats(&[2, 1], &[1.0, 2.0]);
        let wide = graph.broadcast(&column, &[2, 2]);
        cases.gives(wide, &[2, 2], &[1.0, 1.0, 2.0, 2.0]);
        let row = cases.floats(&[3], &[1.0, 2.0, 3.0]);
        for (mode, expected) in [
            (PaddingMode::Constant, [9.0, 9.0, 1.0, 2.0, 3.0, 9.0]),
            (PaddingMode::Reflect, [3.0, 2.0, 1.0, 2.0, 3.0, 2.0]),
            (PaddingMode::Symmetric, [2.0, 1.0, 1.0, 2.0, 3.0, 3.0]),
            (PaddingMode::ClampToEdge, [1.0, 1.0, 1.0, 2.0, 3.0, 3.0]),
            (PaddingMode::Zero, [0.0, 0.0, 1.0, 2.0, 3.0, 0.0]),
        ] {
            let padded = graph.pad(&row, mode, &[2], &[1], 9.0);
            cases.gives(padded, &[6], &expected);
        }
        let positions = graph.coordinate_along_axis(1, &[2, 3]);
        cases.gives(positions, &[2, 3], &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
    }

    /// What changes the element type.
    fn conversions(cases: &mut Cases) {
        let graph = cases.graph.clone();
        let x = cases.floats(&[2], &[-1.5, 2.75]);
        cases.gives(graph.cast(&x, DataType::I32), &[2], &[-1.0, 2.0]);
        let bits = graph.reinterpret_cast(&x, DataType::U32);
        let expected = [-1.5_f32, 2.75].map(|x| f64::from(x.to_bits()));
        cases.gives(bits, &[2], &expected);
    }
}
