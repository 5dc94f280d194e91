//! Sizes that no tensor may have: too many dimensions, elements or bytes. Zero extents, rank 0 and axes out of reach
//! are in `every_method`.

use mpsgraph_soft::objc::Id;

use super::messages::{array, numbers};
use super::session::{BOOL, F32, Graph, I32, I64, U8, floats, run_one};
use crate::support::{Assumed, Documented, Reported, msg, refused, rule};

const PLACEHOLDER: &str = "placeholderWithShape:dataType:name:";
const FILLED: &str = "constantWithScalar:shape:dataType:";
const BROADCAST: &str = "broadcastTensor:toShape:name:";

#[test]
fn placeholders_without_a_rank_are_refused() {
    let _test = rule(Assumed(
        "every shape is known here, although pytorch/pytorch SoftMax.mm feeds a placeholder without a rank",
    ));
    let graph = Graph::new();
    refused(
        PLACEHOLDER,
        "unknown rank",
        || msg!(graph.id(), PLACEHOLDER, Id::NIL => Id, F32 => u32, Id::NIL => Id; Id),
    );
}

#[test]
fn a_number_of_rank_0_broadcasts() {
    let _test = rule(Reported(
        "doom-fish/mpsgraph-rs graph.rs; gomlx/go-coreml: `constantWithScalar:dataType:` is of rank 0 and fine",
    ));
    let doubled = run_one(&[floats(&[2], &[1.5, 2.0])], |graph, x| {
        let two = graph.scalar(2.0, F32);
        graph.op("multiplicationWithPrimaryTensor:secondaryTensor:name:", &[x[0], two])
    });
    assert_eq!(doubled, floats(&[2], &[3.0, 4.0]));
}

#[test]
fn more_than_16_dimensions_are_refused() {
    let _test = rule(Documented("Apple's MPSNDArray.h: at most 16 dimensions"));
    let reason = "more than 16 dimensions";
    refused(PLACEHOLDER, reason, || Graph::new().placeholder(&[1; 17], F32));
    let graph = Graph::new();
    let x = graph.placeholder(&[1; 16], F32);
    let reshape = "reshapeTensor:withShape:name:";
    refused(reshape, reason, || graph.op(reshape, &[x, numbers(&[1; 17])]));
}

#[test]
fn tensors_of_2_to_the_31_elements_are_refused() {
    let _test = rule(Documented(
        "Apple's MPSNDArray.h; pytorch/pytorch#84039; pytorch/pytorch#153560 (slices of more were wrong)",
    ));
    let reason = "2^31 elements or more";
    refused(PLACEHOLDER, reason, || Graph::new().placeholder(&[1 << 16, 1 << 15], U8));
    let graph = Graph::new();
    let shape = numbers(&[1 << 31]);
    refused(FILLED, reason, || msg!(graph.id(), FILLED, 1.0 => f64, shape => Id, U8 => u32; Id));
    let on = |selector: &str, build: &dyn Fn(&Graph, Id) -> Id| {
        let graph = Graph::new();
        let x = graph.placeholder(&[1 << 15, 1], BOOL);
        refused(selector, reason, || build(&graph, x));
    };
    on(BROADCAST, &|graph, x| graph.op(BROADCAST, &[x, numbers(&[1 << 15, 1 << 16])]));
    let and = "logicalANDWithPrimaryTensor:secondaryTensor:name:";
    on(and, &|graph, x| graph.op(and, &[x, graph.placeholder(&[1, 1 << 16], BOOL)]));
    let pad = "padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:";
    on(pad, &|graph, x| {
        let (left, right) = (numbers(&[0, 1 << 16]), numbers(&[0, 0]));
        msg!(
            graph.id(), pad, x => Id, 3 => isize, left => Id, right => Id, 0.0 => f64, Id::NIL => Id; Id
        )
    });
    let concat = "concatTensors:dimension:name:";
    let graph = Graph::new();
    let x = graph.placeholder(&[1 << 30], U8);
    refused(concat, reason, || graph.axis_op(concat, array(&[x, x]), 0));
}

#[test]
fn tensors_of_more_than_4_gib_are_refused() {
    let _test = rule(Reported("pytorch/pytorch#149261; pytorch/pytorch#149325"));
    let reason = "larger than 4 GiB";
    Graph::new().placeholder(&[1 << 29], I64);
    refused(PLACEHOLDER, reason, || Graph::new().placeholder(&[(1 << 29) + 1], I64));
    let graph = Graph::new();
    let x = graph.placeholder(&[1 << 30], I32);
    refused("castTensor:toType:name:", reason, || graph.cast(x, I64));
}
