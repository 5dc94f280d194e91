//! Activations and their gradients.

use mpsgraph_soft::objc::Id;

use super::messages::{alone, msg, refused};
use super::session::{BF16, F16, F32, Graph, close, floats, run_one};

const SOFT_MAX: &str = "softMaxWithTensor:axis:name:";
const SOFT_MAX_GRADIENT: &str = "softMaxGradientWithIncomingGradient:sourceTensor:axis:name:";
const LEAKY_RELU: &str = "leakyReLUWithTensor:alpha:name:";

fn soft_max_gradient(graph: &Graph, incoming: Id, source: Id, axis: isize) -> Id {
    msg!(
        graph.id(), SOFT_MAX_GRADIENT, incoming => Id, source => Id, axis => isize, Id::NIL => Id; Id
    )
}

fn leaky_relu_by(graph: &Graph, x: Id, slope: f64) -> Id {
    msg!(graph.id(), LEAKY_RELU, x => Id, slope => f64, Id::NIL => Id; Id)
}

/// kern0x1b/charon probes on macOS 27.0: the sigmoid's source is what was activated; Apple's MPSGraphActivationOps.h.
#[test]
fn gradients_take_the_input_of_the_function() {
    let _alone = alone();
    let operands = [floats(&[3], &[1.0, 2.0, 4.0]), floats(&[3], &[-1.0, 0.0, 2.0])];
    let relu = run_one(&operands, |graph, x| graph.op("reLUGradientWithIncomingGradient:sourceTensor:name:", x));
    assert_eq!(relu, floats(&[3], &[0.0, 0.0, 4.0]));
    let sigmoid = run_one(&operands, |graph, x| graph.op("sigmoidGradientWithIncomingGradient:sourceTensor:name:", x));
    close(&sigmoid, &[3], &[0.196_611_94, 0.5, 0.419_974_34]);
}

/// Apple's MPSGraphActivationOps.h: the slope as a number, and as a tensor that broadcasts.
#[test]
fn leaky_relu() {
    let _alone = alone();
    let x = floats(&[3], &[-2.0, 0.0, 3.0]);
    let constant = run_one(std::slice::from_ref(&x), |graph, x| leaky_relu_by(graph, x[0], 0.25));
    assert_eq!(constant, floats(&[3], &[-0.5, 0.0, 3.0]));
    let tensor =
        run_one(&[x.clone(), floats(&[1], &[0.5])], |graph, x| graph.op("leakyReLUWithTensor:alphaTensor:name:", x));
    assert_eq!(tensor, floats(&[3], &[-1.0, 0.0, 3.0]));
    let operands = [floats(&[3], &[1.0, 2.0, 4.0]), x, floats(&[1], &[0.5])];
    let gradient = run_one(&operands, |graph, x| {
        graph.op("leakyReLUGradientWithIncomingGradient:sourceTensor:alphaTensor:name:", x)
    });
    assert_eq!(gradient, floats(&[3], &[0.5, 1.0, 4.0]));
}

/// Apple's MPSGraphActivationOps.h: axes count from the end, and the gradient's source is the function's input.
#[test]
fn soft_max_and_its_gradient() {
    let _alone = alone();
    let x = floats(&[2, 2], &[0.0, 0.0, 1.0, 3.0]);
    let last = run_one(std::slice::from_ref(&x), |graph, x| graph.axis_op(SOFT_MAX, x[0], -1));
    close(&last, &[2, 2], &[0.5, 0.5, 0.119_202_92, 0.880_797]);
    let first = run_one(std::slice::from_ref(&x), |graph, x| graph.axis_op(SOFT_MAX, x[0], 0));
    close(&first, &[2, 2], &[0.268_941_43, 0.047_425_87, 0.731_058_6, 0.952_574_1]);
    let gradient =
        run_one(&[floats(&[2, 2], &[1.0, 0.0, 0.0, 1.0]), x], |graph, x| soft_max_gradient(graph, x[0], x[1], 1));
    close(&gradient, &[2, 2], &[0.25, -0.25, -0.104_993_59, 0.104_993_59]);
}

/// Apple's MPSGraphActivationOps.h: the exponentials of nothing but -inf sum up to 0; pytorch/pytorch Attention.mm.
#[test]
fn soft_max_of_a_row_of_negative_infinities_is_nan() {
    let _alone = alone();
    const OUT: f32 = f32::NEG_INFINITY;
    let x = floats(&[2, 2], &[OUT, OUT, 0.0, OUT]);
    let result = run_one(&[x], |graph, x| graph.axis_op(SOFT_MAX, x[0], 1));
    close(&result, &[2, 2], &[f32::NAN, f32::NAN, 1.0, 0.0]);
}

/// pytorch/pytorch Attention.mm: 16-bit scores are taken in windows of 3068.
#[test]
fn soft_max_refuses_long_rows_of_16_bit_floats() {
    let _alone = alone();
    for code in [F16, BF16] {
        let graph = Graph::new();
        let x = graph.placeholder(&[2, 3069], code);
        graph.axis_op(SOFT_MAX, x, 0);
        refused(SOFT_MAX, "lose precision", || graph.axis_op(SOFT_MAX, x, 1));
        let graph = Graph::new();
        let x = graph.placeholder(&[3069], code);
        refused(SOFT_MAX_GRADIENT, "lose precision", || soft_max_gradient(&graph, x, x, 0));
    }
    let graph = Graph::new();
    graph.axis_op(SOFT_MAX, graph.placeholder(&[3069], F32), 0);
    graph.axis_op(SOFT_MAX, graph.placeholder(&[3068], F16), 0);
}

/// doom-fish/mpsgraph-rs ops.rs.
#[test]
fn soft_max_gradient_refuses_an_axis_outside_the_rank() {
    let _alone = alone();
    let graph = Graph::new();
    let x = graph.placeholder(&[2, 2], F32);
    refused(SOFT_MAX_GRADIENT, "not one of 2 dimensions", || soft_max_gradient(&graph, x, x, 2));
}

/// Apple's MPSGraphActivationOps.h: gradient and source go together element by element.
#[test]
fn gradients_refuse_shapes_that_differ() {
    let _alone = alone();
    for name in ["reLU", "sigmoid"] {
        let graph = Graph::new();
        let operands = [graph.placeholder(&[2], F32), graph.placeholder(&[1], F32)];
        let selector = format!("{name}GradientWithIncomingGradient:sourceTensor:name:");
        refused(&selector, "the source Float32 [1]", || graph.op(&selector, &operands));
    }
    let graph = Graph::new();
    let operands = [graph.placeholder(&[2], F32), graph.placeholder(&[1], F32)];
    refused(SOFT_MAX_GRADIENT, "the source Float32 [1]", || soft_max_gradient(&graph, operands[0], operands[1], 0));
}

/// ChanLumerico/lucid MpsBuilder.mm: the specialiser crashed on it.
#[test]
fn leaky_relu_refuses_a_slope_of_negative_infinity() {
    let _alone = alone();
    let graph = Graph::new();
    let x = graph.placeholder(&[2], F32);
    refused(LEAKY_RELU, "-inf", || leaky_relu_by(&graph, x, f64::NEG_INFINITY));
}
