//! `MPSGraphGatherOps.h`.

use super::Sheet;

pub(super) fn fill(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let x = sheet.floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let columns = sheet.integers(&[2], &[2, 0]);
    let gathered = graph.gather(&x, &columns, 1, 0);
    sheet.gives(gathered, &[2, 2], &[3.0, 1.0, 6.0, 4.0]);
    let places = sheet.integers(&[2, 2], &[1, 2, 0, 0]);
    sheet.gives(graph.gather_nd(&x, &places, 0), &[2], &[6.0, 1.0]);
    let each = sheet.integers(&[2, 1], &[2, 1]);
    let gathered = graph.gather_along_axis(-1, &x, &each);
    sheet.gives(gathered, &[2, 1], &[3.0, 5.0]);
}

#[test]
fn gathers() {
    super::sheet::check(fill);
}
