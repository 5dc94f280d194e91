//! Activations and their gradients.

use half::bf16;

use super::session::{BF16, F16, F32, Graph, close, floats, halves, run_one, value};
use crate::support::{Documented, Reported, refused, rule};

const SOFT_MAX: &str = "softMaxWithTensor:axis:name:";
const RELU_GRADIENT: &str = "reLUGradientWithIncomingGradient:sourceTensor:name:";

#[test]
fn the_gradient_takes_the_input_of_the_function() {
    let _test = rule(Documented("Apple's MPSGraphActivationOps.h: the source is what was activated"));
    let operands = [floats(&[3], &[1.0, 2.0, 4.0]), floats(&[3], &[-1.0, 0.0, 2.0])];
    let relu = run_one(&operands, |graph, x| graph.op(RELU_GRADIENT, x));
    assert_eq!(relu, floats(&[3], &[0.0, 0.0, 4.0]));
}

#[test]
fn soft_max() {
    let _test = rule(Documented("Apple's MPSGraphActivationOps.h: axes count from the end"));
    let x = floats(&[2, 2], &[0.0, 0.0, 1.0, 3.0]);
    let last = run_one(std::slice::from_ref(&x), |graph, x| graph.axis_op(SOFT_MAX, x[0], -1));
    close(&last, &[2, 2], &[0.5, 0.5, 0.119_202_92, 0.880_797]);
    let first = run_one(std::slice::from_ref(&x), |graph, x| graph.axis_op(SOFT_MAX, x[0], 0));
    close(&first, &[2, 2], &[0.268_941_43, 0.047_425_87, 0.731_058_6, 0.952_574_1]);
}

#[test]
fn soft_max_of_a_row_of_negative_infinities_is_nan() {
    let _test = rule(Documented(
        "Apple's MPSGraphActivationOps.h: the exponentials of nothing but -inf sum up to 0; pytorch/pytorch \
         Attention.mm",
    ));
    const OUT: f32 = f32::NEG_INFINITY;
    let x = floats(&[2, 2], &[OUT, OUT, 0.0, OUT]);
    let result = run_one(&[x], |graph, x| graph.axis_op(SOFT_MAX, x[0], 1));
    close(&result, &[2, 2], &[f32::NAN, f32::NAN, 1.0, 0.0]);
}

#[test]
fn soft_max_of_16_bit_floats_is_rounded_once() {
    let _test = rule(Documented("Apple's MPSGraphActivationOps.h: the result has the operand's type"));
    let elements = [0.0f32, 1.0, 3.0, -60.0, 2.5, 2.0];
    let wide = run_one(&[floats(&[2, 3], &elements)], |graph, x| graph.axis_op(SOFT_MAX, x[0], 1)).elements::<f32>();
    let narrow = run_one(&[halves(&[2, 3], &elements)], |graph, x| graph.axis_op(SOFT_MAX, x[0], 1));
    assert_eq!(narrow, halves(&[2, 3], &wide));
    let x = value(BF16, &[2, 3], &elements.map(bf16::from_f32));
    let narrow = run_one(&[x], |graph, x| graph.axis_op(SOFT_MAX, x[0], 1));
    assert_eq!(narrow, value(BF16, &[2, 3], &wide.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>()));
}

#[test]
fn soft_max_refuses_long_rows_of_16_bit_floats() {
    let _test = rule(Reported("pytorch/pytorch Attention.mm: 16-bit scores are taken in windows of 3068"));
    for code in [F16, BF16] {
        let graph = Graph::new();
        let x = graph.placeholder(&[2, 3069], code);
        graph.axis_op(SOFT_MAX, x, 0);
        refused(SOFT_MAX, "lose precision", || graph.axis_op(SOFT_MAX, x, 1));
    }
    let graph = Graph::new();
    graph.axis_op(SOFT_MAX, graph.placeholder(&[3069], F32), 0);
    graph.axis_op(SOFT_MAX, graph.placeholder(&[3068], F16), 0);
}

#[test]
fn gradients_refuse_shapes_that_differ() {
    let _test = rule(Documented("Apple's MPSGraphActivationOps.h: gradient and source go together element by element"));
    let graph = Graph::new();
    let operands = [graph.placeholder(&[2], F32), graph.placeholder(&[1], F32)];
    refused(RELU_GRADIENT, "the source Float32 [1]", || graph.op(RELU_GRADIENT, &operands));
}
