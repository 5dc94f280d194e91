//! `MPSGraphMatrixMultiplicationOps.h`.

use super::Sheet;

pub(super) fn fill(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    let a = sheet.floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let b = sheet.floats(&[3, 1], &[1.0, 10.0, 100.0]);
    let product = graph.matrix_multiplication(&a, &b);
    sheet.gives(product, &[2, 1], &[321.0, 654.0]);
}

#[test]
fn a_product() {
    super::sheet::check(fill);
}
