//! Activations and their gradients.

use mpsgraph_soft::objc::Id;

use super::messages::{alone, msg, refused};
use super::session::{F32, Graph, I32, close, floats, run_one};

#[test]
fn gradients_take_the_input_of_the_function() {
    let _alone = alone();
    let operands = [
        floats(&[3], &[1.0, 2.0, 4.0]),
        floats(&[3], &[-1.0, 0.0, 2.0]),
    ];
    let relu = run_one(&operands, |graph, x| {
        graph.op("reLUGradientWithIncomingGradient:sourceTensor:name:", x)
    });
    assert_eq!(relu, floats(&[3], &[0.0, 0.0, 4.0]));
    let sigmoid = run_one(&operands, |graph, x| {
        graph.op("sigmoidGradientWithIncomingGradient:sourceTensor:name:", x)
    });
    close(&sigmoid, &[3], &[0.196_611_94, 0.5, 0.419_974_34]);
}

#[test]
fn leaky_relu() {
    let _alone = alone();
    let x = floats(&[3], &[-2.0, 0.0, 3.0]);
    let constant = run_one(
        std::slice::from_ref(&x),
        |graph, x| msg!(graph.id(), "leakyReLUWithTensor:alpha:name:", x[0] => Id, 0.25 => f64, Id::NIL => Id; Id),
    );
    assert_eq!(constant, floats(&[3], &[-0.5, 0.0, 3.0]));
    let tensor = run_one(&[x.clone(), floats(&[1], &[0.5])], |graph, x| {
        graph.op("leakyReLUWithTensor:alphaTensor:name:", x)
    });
    assert_eq!(tensor, floats(&[3], &[-1.0, 0.0, 3.0]));
    let operands = [floats(&[3], &[1.0, 2.0, 4.0]), x, floats(&[1], &[0.5])];
    let gradient = run_one(&operands, |graph, x| {
        graph.op(
            "leakyReLUGradientWithIncomingGradient:sourceTensor:alphaTensor:name:",
            x,
        )
    });
    assert_eq!(gradient, floats(&[3], &[0.5, 1.0, 4.0]));
}

#[test]
fn soft_max_and_its_gradient() {
    let _alone = alone();
    let x = floats(&[2, 2], &[0.0, 0.0, 1.0, 3.0]);
    let last = run_one(std::slice::from_ref(&x), |graph, x| {
        graph.axis_op("softMaxWithTensor:axis:name:", x[0], -1)
    });
    close(&last, &[2, 2], &[0.5, 0.5, 0.119_202_92, 0.880_797]);
    let first = run_one(std::slice::from_ref(&x), |graph, x| {
        graph.axis_op("softMaxWithTensor:axis:name:", x[0], 0)
    });
    close(
        &first,
        &[2, 2],
        &[0.268_941_43, 0.047_425_87, 0.731_058_6, 0.952_574_1],
    );
    let gradient = run_one(&[floats(&[2, 2], &[1.0, 0.0, 0.0, 1.0]), x], |graph, x| {
        let selector = "softMaxGradientWithIncomingGradient:sourceTensor:axis:name:";
        msg!(graph.id(), selector, x[0] => Id, x[1] => Id, 1 => isize, Id::NIL => Id; Id)
    });
    close(
        &gradient,
        &[2, 2],
        &[0.25, -0.25, -0.104_993_59, 0.104_993_59],
    );
}

#[test]
fn refusals() {
    let _alone = alone();
    let graph = Graph::new();
    let x = graph.placeholder(&[2, 2], I32);
    refused("softMaxWithTensor:axis:name:", "only floats", || {
        graph.axis_op("softMaxWithTensor:axis:name:", x, 1)
    });
    let graph = Graph::new();
    let x = graph.placeholder(&[2, 2], F32);
    refused(
        "softMaxWithTensor:axis:name:",
        "not one of 2 dimensions",
        || graph.axis_op("softMaxWithTensor:axis:name:", x, 2),
    );
    let graph = Graph::new();
    let operands = [graph.placeholder(&[2], F32), graph.placeholder(&[1], F32)];
    let selector = "reLUGradientWithIncomingGradient:sourceTensor:name:";
    refused(selector, "the source Float32 [1]", || {
        graph.op(selector, &operands)
    });
}
