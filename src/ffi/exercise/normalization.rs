//! `MPSGraphNormalizationOps.h`.

use super::Sheet;

pub(super) fn fill(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let x = sheet.floats(&[2, 2], &[1.0, 3.0, 2.0, 10.0]);
    sheet.gives(graph.mean(&x, &[1]), &[2, 1], &[2.0, 6.0]);
}

#[test]
fn means() {
    super::sheet::check(fill);
}
