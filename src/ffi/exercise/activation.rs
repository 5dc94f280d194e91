//! `MPSGraphActivationOps.h`.

use super::Sheet;

pub(super) fn fill(sheet: &mut Sheet) {
    let x = sheet.floats(&[3], &[-1.0, 0.5, 2.0]);
    let incoming = sheet.floats(&[3], &[10.0, 20.0, 30.0]);
    let alpha = sheet.floats(&[1], &[0.5]);
    let graph = sheet.graph.clone();
    sheet.gives(graph.relu(&x), &[3], &[0.0, 0.5, 2.0]);
    sheet.gives(graph.relu_gradient(&incoming, &x), &[3], &[0.0, 20.0, 30.0]);
    sheet.gives(graph.leaky_relu(&x, 0.25), &[3], &[-0.25, 0.5, 2.0]);
    let leaky = graph.leaky_relu_with_alpha_tensor(&x, &alpha);
    sheet.gives(leaky, &[3], &[-0.5, 0.5, 2.0]);
    let gradient = graph.leaky_relu_gradient(&incoming, &x, &alpha);
    sheet.gives(gradient, &[3], &[5.0, 20.0, 30.0]);
    let sigmoid = [0.268_941_42, 0.622_459_33, 0.880_797_08];
    sheet.gives(graph.sigmoid(&x), &[3], &sigmoid);
    let slopes = [1.966_119_33, 4.700_074_24, 3.149_807_56];
    sheet.gives(graph.sigmoid_gradient(&incoming, &x), &[3], &slopes);

    // Softmax of (0, ln 3) is (1/4, 3/4).
    let logits = sheet.floats(&[2, 1], &[0.0, 3.0_f32.ln()]);
    sheet.gives(graph.soft_max(&logits, 0), &[2, 1], &[0.25, 0.75]);
    sheet.gives(graph.soft_max(&logits, -1), &[2, 1], &[1.0, 1.0]);
    let incoming = sheet.floats(&[2, 1], &[4.0, 0.0]);
    let gradient = graph.soft_max_gradient(&incoming, &logits, 0);
    sheet.gives(gradient, &[2, 1], &[0.75, -0.75]);
}

#[test]
fn activations() {
    super::sheet::check(fill);
}
