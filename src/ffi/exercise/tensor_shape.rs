//! `MPSGraphTensorShapeOps.h`.

use super::Sheet;
use crate::ffi::{DataType, PaddingMode, os_version};

const ROWS: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
const SAME: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
const TURNED: [f64; 6] = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];

pub(super) fn fill(sheet: &mut Sheet) {
    same_elements(sheet);
    parts(sheet);
    repetitions(sheet);
    conversions(sheet);
}

/// What moves or renames axes.
fn same_elements(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let x = sheet.floats(&[2, 3], &ROWS);
    sheet.gives(graph.reshape(&x, &[3, 2]), &[3, 2], &SAME);
    sheet.gives(graph.transpose(&x, &[1, 0]), &[3, 2], &TURNED);
    sheet.gives(graph.transpose_dimensions(&x, 0, 1), &[3, 2], &TURNED);
    let expanded = graph.expand_dims(&x, &[0, 2]);
    sheet.gives(expanded.clone(), &[1, 2, 1, 3], &SAME);
    sheet.gives(graph.squeeze(&expanded, &[0, 2]), &[2, 3], &SAME);
    sheet.gives(graph.flatten_2d(&expanded, 2), &[2, 3], &SAME);
    let reversed = graph.reverse(&x, &[1]);
    sheet.gives(reversed, &[2, 3], &[3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
    sheet.gives(graph.shape_of(&x), &[2], &[2.0, 3.0]);
}

/// What takes tensors apart and puts them together.
fn parts(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let x = sheet.floats(&[2, 3], &ROWS);
    let ends = graph.slice(&x, &[0, 0], &[2, 3], &[1, 2]);
    sheet.gives(ends, &[2, 2], &[1.0, 3.0, 4.0, 6.0]);
    let last = graph.slice_dimension(&x, 1, 2, 1);
    sheet.gives(last, &[2, 1], &[3.0, 6.0]);
    let parts = graph.split(&x, &[1, 2], 1);
    sheet.gives(parts[0].clone(), &[2, 1], &[1.0, 4.0]);
    sheet.gives(parts[1].clone(), &[2, 2], &[2.0, 3.0, 5.0, 6.0]);
    let both = graph.concat(&[&parts[1], &parts[0]], 1);
    sheet.gives(both, &[2, 3], &[2.0, 3.0, 1.0, 5.0, 6.0, 4.0]);
    let pair = graph.stack(&[&parts[0], &parts[0]], 0);
    sheet.gives(pair, &[2, 2, 1], &[1.0, 4.0, 1.0, 4.0]);

    let update = sheet.floats(&[2, 1], &[10.0, 20.0]);
    let replaced = [1.0, 10.0, 3.0, 4.0, 20.0, 6.0];
    let (starts, ends, strides) = ([0, 1], [2, 2], [1, 1]);
    if os_version::at_least(14, 4) {
        let result = graph.slice_update_masked(&x, &update, &starts, &ends, &strides, 0, 0, 0);
        sheet.gives(result, &[2, 3], &replaced);
    }
    if os_version::at_least(15, 0) {
        let result = graph.slice_update(&x, &update, &starts, &ends, &strides);
        sheet.gives(result, &[2, 3], &replaced);
    }
}

/// What makes larger tensors.
fn repetitions(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let column = sheet.floats(&[2, 1], &[1.0, 2.0]);
    let wide = graph.broadcast(&column, &[2, 2]);
    sheet.gives(wide, &[2, 2], &[1.0, 1.0, 2.0, 2.0]);
    let tiled = graph.tile(&column, &[2, 1]);
    sheet.gives(tiled, &[4, 1], &[1.0, 2.0, 1.0, 2.0]);
    let row = sheet.floats(&[3], &[1.0, 2.0, 3.0]);
    for (mode, expected) in [
        (PaddingMode::Constant, [9.0, 9.0, 1.0, 2.0, 3.0, 9.0]),
        (PaddingMode::Reflect, [3.0, 2.0, 1.0, 2.0, 3.0, 2.0]),
        (PaddingMode::Symmetric, [2.0, 1.0, 1.0, 2.0, 3.0, 3.0]),
        (PaddingMode::ClampToEdge, [1.0, 1.0, 1.0, 2.0, 3.0, 3.0]),
        (PaddingMode::Zero, [0.0, 0.0, 1.0, 2.0, 3.0, 0.0]),
    ] {
        let padded = graph.pad(&row, mode, &[2], &[1], 9.0);
        sheet.gives(padded, &[6], &expected);
    }
    let positions = graph.coordinate_along_axis(1, &[2, 3]);
    sheet.gives(positions, &[2, 3], &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
}

/// What changes the element type.
fn conversions(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let x = sheet.floats(&[2], &[-1.5, 2.75]);
    sheet.gives(graph.cast(&x, DataType::I32), &[2], &[-1.0, 2.0]);
    let bits = graph.reinterpret_cast(&x, DataType::U32);
    let expected = [-1.5_f32, 2.75].map(|x| f64::from(x.to_bits()));
    sheet.gives(bits, &[2], &expected);
}

#[test]
fn shapes() {
    super::sheet::check(fill);
}
