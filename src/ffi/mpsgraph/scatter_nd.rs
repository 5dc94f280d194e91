//! `MPSGraphScatterNDOps.h`: writing at indices (all scatters are declared in this header).
//!
//! What `gather` says about integers and indices holds here too. With equal indices, sums come in any order and the
//! winner of [`ScatterMode::Set`] is not defined.

use crate::ffi::objc::{graph_methods, objc_enum};

objc_enum! {
    /// What happens to an element that an update meets.
    enum ScatterMode: i64 = "MPSGraphScatterMode" {
        /// `data + update`.
        Add = "MPSGraphScatterModeAdd" 0,
        /// `data - update`.
        Sub = "MPSGraphScatterModeSub" 1,
        /// `data * update`.
        Mul = "MPSGraphScatterModeMul" 2,
        /// `data / update`.
        Div = "MPSGraphScatterModeDiv" 3,
        /// The smaller. Not for i64.
        Min = "MPSGraphScatterModeMin" 4,
        /// The larger. Not for i64.
        Max = "MPSGraphScatterModeMax" 5,
        /// `update`.
        Set = "MPSGraphScatterModeSet" 6,
    }
}

graph_methods! {
    "MPSGraphScatterNDOps.h";

    /// `data` with the slices of `updates` at positions `indices` (rank 1) of `axis`.
    fn scatter(data, updates, indices, axis: isize, mode: ScatterMode)
        = "scatterWithDataTensor:updatesTensor:indicesTensor:axis:mode:name:", since (12, 0);

    /// [`scatter`](Self::scatter) into zeros of a shape.
    fn scatter_into_shape(updates, indices, shape: &[usize], axis: isize, mode: ScatterMode)
        = "scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:", since (12, 0);

    /// `data` with the slices of `updates` at the index tuples along the last axis of `indices`.
    fn scatter_nd(data, updates, indices, batch: usize, mode: ScatterMode)
        = "scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:", since (12, 0);

    /// [`scatter_nd`](Self::scatter_nd) into zeros of a shape.
    fn scatter_nd_into_shape(updates, indices, shape: &[usize], batch: usize, mode: ScatterMode)
        = "scatterNDWithUpdatesTensor:indicesTensor:shape:batchDimensions:mode:name:", since (11, 0);

    /// `data` with one element per index; the shapes agree except along `axis`. An index outside is skipped.
    fn scatter_along_axis(axis: isize, data, updates, indices, mode: ScatterMode)
        = "scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:", since (12, 3);

    /// [`scatter_along_axis`](Self::scatter_along_axis) into zeros of a shape.
    fn scatter_along_axis_into_shape(axis: isize, updates, indices, shape: &[usize], mode: ScatterMode)
        = "scatterAlongAxis:withUpdatesTensor:indicesTensor:shape:mode:name:", since (12, 3);
}
