//! `MPSGraphScatterNDOps.h`.

use super::Sheet;
use crate::ffi::ScatterMode;

pub(super) fn fill(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let data = sheet.floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);

    let row = sheet.floats(&[1, 2], &[10.0, 20.0]);
    let second = sheet.integers(&[1], &[1]);
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
        sheet.gives(result, &[2, 2], &[1.0, 2.0, third, fourth]);
    }
    let zeros = graph.scatter_into_shape(&row, &second, &[2, 2], 0, ScatterMode::Add);
    sheet.gives(zeros, &[2, 2], &[0.0, 0.0, 10.0, 20.0]);

    let places = sheet.integers(&[2, 2], &[0, 1, 0, 1]);
    let two = sheet.floats(&[2], &[5.0, 6.0]);
    let result = graph.scatter_nd(&data, &two, &places, 0, ScatterMode::Add);
    sheet.gives(result, &[2, 2], &[1.0, 13.0, 3.0, 4.0]);
    let zeros = graph.scatter_nd_into_shape(&two, &places, &[2, 2], 0, ScatterMode::Add);
    sheet.gives(zeros, &[2, 2], &[0.0, 11.0, 0.0, 0.0]);

    let each = sheet.integers(&[2, 1], &[1, 0]);
    let one = sheet.floats(&[2, 1], &[7.0, 8.0]);
    let result = graph.scatter_along_axis(1, &data, &one, &each, ScatterMode::Set);
    sheet.gives(result, &[2, 2], &[1.0, 7.0, 8.0, 4.0]);
    let zeros = graph.scatter_along_axis_into_shape(1, &one, &each, &[2, 2], ScatterMode::Set);
    sheet.gives(zeros, &[2, 2], &[0.0, 7.0, 8.0, 0.0]);
}

#[test]
fn scatters() {
    super::sheet::check(fill);
}
