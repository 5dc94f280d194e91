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

    /// `data` with one element per index; the shapes agree except along `axis`. An index outside is skipped.
    fn scatter_along_axis(axis: isize, data, updates, indices, mode: ScatterMode)
        = "scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:", since (12, 3);

    /// [`scatter_along_axis`](Self::scatter_along_axis) into zeros of a shape.
    fn scatter_along_axis_into_shape(axis: isize, updates, indices, shape: &[usize], mode: ScatterMode)
        = "scatterAlongAxis:withUpdatesTensor:indicesTensor:shape:mode:name:", since (12, 3);
}

#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::exercise::check(|cases| {
        let graph = cases.graph.clone();
        let data = cases.floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);

        let row = cases.floats(&[1, 2], &[10.0, 20.0]);
        let second = cases.integers(&[1], &[1]);
        for (mode, expected) in [
            (ScatterMode::Add, [13.0, 24.0]),
            (ScatterMode::Sub, [-7.0, -16.0]),
            (ScatterMode::Mul, [30.0, 80.0]),
            (ScatterMode::Div, [0.3, 0.2]),
            (ScatterMode::Min, [3.0, 4.0]),
            (ScatterMode::Max, [10.0, 20.0]),
            (ScatterMode::Set, [10.0, 20.0]),
        ] {
            let [third, fourth] = expected;
            let result = graph.scatter(&data, &row, &second, 0, mode);
            cases.gives(result, &[2, 2], &[1.0, 2.0, third, fourth]);
        }
        let zeros = graph.scatter_into_shape(&row, &second, &[2, 2], 0, ScatterMode::Add);
        cases.gives(zeros, &[2, 2], &[0.0, 0.0, 10.0, 20.0]);

        let each = cases.integers(&[2, 1], &[1, 0]);
        let one = cases.floats(&[2, 1], &[7.0, 8.0]);
        let result = graph.scatter_along_axis(1, &data, &one, &each, ScatterMode::Set);
        cases.gives(result, &[2, 2], &[1.0, 7.0, 8.0, 4.0]);
        let zeros = graph.scatter_along_axis_into_shape(1, &one, &each, &[2, 2], ScatterMode::Set);
        cases.gives(zeros, &[2, 2], &[0.0, 7.0, 8.0, 0.0]);
    });
}
