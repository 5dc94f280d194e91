//! Convolutions and their gradients.

use mpsgraph_soft::objc::Id;

use super::messages::numbers;
use super::session::{BF16, F16, F32, Graph, Value, floats, halves, run_one};
use crate::support::{Assumed, Documented, Reported, class, msg, passes_with, plain, refused, rule};

const CONVOLUTION: &str = "convolution2DWithSourceTensor:weightsTensor:descriptor:name:";
const DATA_GRADIENT: &str = "convolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:\
                             forwardConvolutionDescriptor:name:";
const WEIGHTS_GRADIENT: &str = "convolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:\
                                forwardConvolutionDescriptor:name:";
const DESCRIPTOR: &str = "descriptorWithStrideInX:strideInY:dilationRateInX:dilationRateInY:groups:paddingStyle:\
                          dataLayout:weightsLayout:";
const PADDING: &str = "setExplicitPaddingWithPaddingLeft:paddingRight:paddingTop:paddingBottom:";

/// A descriptor by x and y, for explicit padding of 0, NCHW and OIHW.
pub fn descriptor(strides: [usize; 2], dilations: [usize; 2], groups: usize) -> Id {
    described([strides, dilations], groups, [0, 0, 2])
}

fn described([strides, dilations]: [[usize; 2]; 2], groups: usize, codes: [usize; 3]) -> Id {
    msg!(
        class("MPSGraphConvolution2DOpDescriptor"), DESCRIPTOR,
        strides[0] => usize, strides[1] => usize, dilations[0] => usize, dilations[1] => usize, groups => usize,
        codes[0] => usize, codes[1] => usize, codes[2] => usize; Id
    )
}

/// The same with padding left, right, top and bottom.
fn padded(descriptor: Id, [left, right, top, bottom]: [usize; 4]) -> Id {
    msg!(descriptor, PADDING, left => usize, right => usize, top => usize, bottom => usize; ());
    descriptor
}

pub fn convolution(graph: &Graph, x: &[Id], descriptor: Id) -> Id {
    msg!(graph.id(), CONVOLUTION, x[0] => Id, x[1] => Id, descriptor => Id, Id::NIL => Id; Id)
}

fn gradient(graph: &Graph, selector: &str, x: &[Id], shape: &[i64], descriptor: Id) -> Id {
    let shape = numbers(shape);
    msg!(graph.id(), selector, x[0] => Id, x[1] => Id, shape => Id, descriptor => Id, Id::NIL => Id; Id)
}

fn image() -> Value {
    floats(&[1, 1, 2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
}

fn filter() -> Value {
    floats(&[1, 1, 2, 2], &[1.0, 10.0, 100.0, 1000.0])
}

#[test]
fn strides_dilation_and_padding() {
    let _test = rule(Documented(
        "Apple's MPSGraphConvolutionOps.h: x and left and right are the last dimension; the filter is not reversed",
    ));
    let result = run_one(&[image(), filter()], |graph, x| convolution(graph, x, descriptor([1, 1], [1, 1], 1)));
    assert_eq!(result, floats(&[1, 1, 1, 2], &[5421.0, 6532.0]));
    let result = run_one(&[image(), filter()], |graph, x| {
        convolution(graph, x, padded(descriptor([2, 1], [1, 1], 1), [1, 0, 0, 1]))
    });
    assert_eq!(result, floats(&[1, 1, 2, 2], &[4010.0, 6532.0, 40.0, 65.0]));
    let result = run_one(&[image(), filter()], |graph, x| convolution(graph, x, descriptor([1, 1], [2, 1], 1)));
    assert_eq!(result, floats(&[1, 1, 1, 1], &[6431.0]));
}

#[test]
fn groups_have_channels_of_their_own() {
    let _test = rule(Documented("Apple's MPSGraphConvolutionOps.h: channels are divided into groups"));
    let x = floats(&[1, 4, 1, 1], &[1.0, 2.0, 3.0, 4.0]);
    let weights = floats(&[2, 2, 1, 1], &[1.0, 10.0, 100.0, 1000.0]);
    let result = run_one(&[x, weights], |graph, x| convolution(graph, x, descriptor([1, 1], [1, 1], 2)));
    assert_eq!(result, floats(&[1, 2, 1, 1], &[21.0, 4300.0]));
}

#[test]
fn gradients() {
    let _test = rule(Documented(
        "Apple's MPSGraphConvolutionOps.h: gradients of the forward convolution that the descriptor describes",
    ));
    let grad = floats(&[1, 1, 1, 2], &[1.0, 2.0]);
    let forward = || descriptor([1, 1], [1, 1], 1);
    let result =
        run_one(&[grad.clone(), filter()], |graph, x| gradient(graph, DATA_GRADIENT, x, &[1, 1, 2, 3], forward()));
    assert_eq!(result, floats(&[1, 1, 2, 3], &[1.0, 12.0, 20.0, 100.0, 1200.0, 2000.0]));
    let result = run_one(&[grad, image()], |graph, x| gradient(graph, WEIGHTS_GRADIENT, x, &[1, 1, 2, 2], forward()));
    assert_eq!(result, floats(&[1, 1, 2, 2], &[5.0, 8.0, 14.0, 17.0]));
}

#[test]
fn halves_are_summed_in_floats() {
    let _test = rule(Assumed("nothing is published of how convolutions sum 16-bit floats; this is the best they can"));
    let mut numbers = [0.25; 1025];
    numbers[0] = 2048.0;
    let result = run_one(&[halves(&[1, 1025, 1, 1], &numbers), halves(&[1, 1025, 1, 1], &[1.0; 1025])], |graph, x| {
        convolution(graph, x, descriptor([1, 1], [1, 1], 1))
    });
    assert_eq!(result, halves(&[1, 1, 1, 1], &[2304.0]));
}

#[test]
fn zeros_are_refused() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs: strides, dilation rates and groups of 0 abort"));
    for (strides, dilations, groups) in [([0, 1], [1, 1], 1), ([1, 1], [1, 0], 1), ([1, 1], [1, 1], 0)] {
        refused(DESCRIPTOR, "aborts when the graph is compiled", || descriptor(strides, dilations, groups));
    }
}

#[test]
fn other_paddings_and_layouts_are_refused() {
    let _test = rule(Documented("Apple's MPSGraphCoreTypes.h has five padding styles and eleven layouts"));
    let with = |codes| move || described([[1, 1], [1, 1]], 1, codes);
    refused(DESCRIPTOR, "set explicit padding", with([2, 0, 2]));
    refused(DESCRIPTOR, "no MPSGraphPaddingStyle", with([5, 0, 2]));
    refused(DESCRIPTOR, "data is NCHW", with([0, 1, 2]));
    refused(DESCRIPTOR, "weights are OIHW", with([0, 0, 3]));
    refused(DESCRIPTOR, "no MPSGraphTensorNamedDataLayout", with([0, 11, 2]));
}

/// Checks that the convolution of tensors of these shapes is refused for this reason.
#[track_caller]
fn convolution_refused(x: &[i64], weights: &[i64], groups: usize, reason: &str) {
    let graph = Graph::new();
    let operands = [graph.placeholder(x, F32), graph.placeholder(weights, F32)];
    refused(CONVOLUTION, reason, || convolution(&graph, &operands, descriptor([1, 1], [1, 1], groups)));
}

#[test]
fn extents_that_do_not_fit_are_refused() {
    let _test = rule(Reported(
        "pytorch/pytorch#84206 (\"Source and weight input channels mismatch\"), #112998 (\"kernel width mismatch\"): \
         assertions",
    ));
    convolution_refused(&[1, 3, 4, 4], &[2, 2, 1, 1], 1, "the channels do not fit");
    convolution_refused(&[1, 4, 4, 4], &[3, 2, 1, 1], 2, "the channels do not fit");
    convolution_refused(&[1, 1, 2, 4], &[1, 1, 3, 1], 1, "has no output");
    convolution_refused(&[1, 1, 4], &[1, 1, 1, 1], 1, "must have four dimensions");
    let graph = Graph::new();
    let operands = [graph.placeholder(&[1, 1, 2, 2], F32), graph.placeholder(&[1, 1, 2, 2], F32)];
    let forward = || descriptor([1, 1], [1, 1], 1);
    let reason = "must have the output's shape [1, 1, 3, 3]";
    refused(DATA_GRADIENT, reason, || gradient(&graph, DATA_GRADIENT, &operands, &[1, 1, 4, 4], forward()));
    let graph = Graph::new();
    let operands = [graph.placeholder(&[1, 1, 2, 2], F32), graph.placeholder(&[1, 1, 4, 4], F32)];
    let reason = "must have the output's shape [1, 1, 4, 4]";
    refused(WEIGHTS_GRADIENT, reason, || gradient(&graph, WEIGHTS_GRADIENT, &operands, &[1, 1, 1, 1], forward()));
}

#[test]
fn long_filters_are_refused() {
    let _test = rule(Reported(
        "pytorch/pytorch#188335, #188359: from 256 on the kernel overruns the memory of its threads, which an Apple \
         engineer confirms",
    ));
    convolution_refused(&[1, 1, 1, 300], &[1, 1, 1, 256], 1, "from 256 on");
    convolution_refused(&[1, 1, 300, 1], &[1, 1, 256, 1], 1, "from 256 on");
}

#[test]
fn many_channels_are_refused() {
    let _test =
        rule(Reported("pytorch/pytorch#129207, #142836: silently wrong beyond 65536, on macOS 15.1 in 2-D still"));
    convolution_refused(&[1, 1, 1, 1], &[65_537, 1, 1, 1], 1, "more than 65536");
    let graph = Graph::new();
    for code in [F32, F16, BF16] {
        let operands = [graph.placeholder(&[1, 1, 1, 1], code), graph.placeholder(&[65_536, 1, 1, 1], code)];
        convolution(&graph, &operands, descriptor([1, 1], [1, 1], 1));
    }
}

#[test]
fn gradients_for_weights_of_many_images_are_refused() {
    let _test = rule(Reported(
        "pytorch/pytorch#96225, #193577: the gradient for the weights counts images in 16 bits and is silently wrong; \
         the output and the gradient for the input are right",
    ));
    let graph = Graph::new();
    let weights = graph.placeholder(&[1, 1, 1, 1], F32);
    let [few, many] = [65_535, 65_536].map(|images| graph.placeholder(&[images, 1, 1, 1], F32));
    let forward = || descriptor([1, 1], [1, 1], 1);
    convolution(&graph, &[many, weights], forward());
    gradient(&graph, DATA_GRADIENT, &[many, weights], &[65_536, 1, 1, 1], forward());
    gradient(&graph, WEIGHTS_GRADIENT, &[few, few], &[1, 1, 1, 1], forward());
    refused(WEIGHTS_GRADIENT, "of more than 65535", || {
        gradient(&graph, WEIGHTS_GRADIENT, &[many, many], &[1, 1, 1, 1], forward())
    });
}

#[test]
fn gradients_of_one_channel_in_a_group_end_with_the_filter() {
    let _test = plain();
    let on = |system, test| passes_with("MPSGRAPH_SOFT_MACOS", system, &["--ignored", "--exact", test], 1);
    on("26.0", "graph::convolution::gradients_go_on_behind_the_filter");
    on("27.0", "graph::convolution::gradients_that_go_on_behind_the_filter_are_refused");
}

/// The gradient for two channels of 6 elements of which a filter of 3 meets 5, with so many groups and so much padding.
fn gradient_behind_the_filter(groups: usize, padding: usize) -> impl FnOnce() -> Id {
    move || {
        let graph = Graph::new();
        let operands = [&[1, 2, 1, 2], &[2, 2 / groups as i64, 1, 3]].map(|shape| graph.placeholder(shape, F32));
        let descriptor = padded(descriptor([2, 1], [1, 1], groups), [0, padding, 0, 0]);
        gradient(&graph, DATA_GRADIENT, &operands, &[1, 2, 1, 6 - padding as i64], descriptor)
    }
}

#[test]
#[ignore = "run by `gradients_of_one_channel_in_a_group_end_with_the_filter` with the environment it needs"]
fn gradients_go_on_behind_the_filter() {
    let _test = plain();
    gradient_behind_the_filter(2, 0)();
}

#[test]
#[ignore = "run by `gradients_of_one_channel_in_a_group_end_with_the_filter` with the environment it needs"]
fn gradients_that_go_on_behind_the_filter_are_refused() {
    let _test =
        rule(Reported("apple/coreai-torch#58: an explicit padding of -1 in a depthwise gradient on macOS 27.0"));
    refused(DATA_GRADIENT, "aborts on macOS 27", gradient_behind_the_filter(2, 0));
    gradient_behind_the_filter(2, 1)();
    gradient_behind_the_filter(1, 0)();
}
