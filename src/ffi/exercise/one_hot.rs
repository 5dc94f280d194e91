//! `MPSGraphOneHotOps.h`.

use super::Sheet;
use crate::ffi::DataType;

pub(super) fn fill(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let indices = sheet.integers(&[2], &[1, 0]);
    let rows = graph.one_hot_last(&indices, 3, DataType::F32, 1.0, 0.0);
    sheet.gives(rows, &[2, 3], &[0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    let columns = graph.one_hot(&indices, 3, 0, DataType::I32, 5.0, -1.0);
    sheet.gives(columns, &[3, 2], &[-1.0, 5.0, 5.0, -1.0, -1.0, -1.0]);
}

#[test]
fn unit_vectors() {
    super::sheet::check(fill);
}
