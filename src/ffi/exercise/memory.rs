//! `MPSGraphMemoryOps.h`.

use super::Sheet;
use crate::ffi::DataType;

pub(super) fn fill(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let fed = sheet.floats(&[2], &[1.0, 2.0]);
    let bytes: &[u8] = bytemuck::cast_slice(&[10.0_f32, 20.0]);
    let data = graph.constant_with_data(bytes, &[2], DataType::F32);
    let scalar = graph.constant_with_scalar(0.5, &[1], DataType::F32);
    let sum = graph.addition(&graph.addition(&fed, &data), &scalar);
    sheet.gives(sum, &[2], &[11.5, 22.5]);
}

#[test]
fn constants_and_placeholders() {
    super::sheet::check(fill);
}
