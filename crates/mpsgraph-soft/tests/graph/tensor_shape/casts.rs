//! Casts, by value and by bits.

use mpsgraph_soft::objc::Id;

use crate::graph::session::{
    BF16, BOOL, F16, F32, Graph, I8, I32, I64, U8, U32, Value, bools, floats, ints, run, run_one, value,
};
use crate::support::{Documented, Reported, msg, plain, refused, rule};

const CAST: &str = "castTensor:toType:name:";
const REINTERPRET: &str = "reinterpretCastTensor:toType:name:";

fn cast(x: Value, code: u32) -> Value {
    run_one(&[x], |graph, x| graph.cast(x[0], code))
}

fn reinterpret(graph: &Graph, x: Id, code: u32) -> Id {
    msg!(graph.id(), REINTERPRET, x => Id, code => u32, Id::NIL => Id; Id)
}

#[test]
fn floats_saturate_and_are_truncated_as_integers() {
    let _test =
        rule(Reported("pytorch/pytorch#169058: 128 becomes 127. What NaN becomes is documented nowhere; it is 0 here"));
    let x = || floats(&[5], &[128.0, -200.0, 1.9, -1.9, f32::NAN]);
    assert_eq!(cast(x(), I8), value(I8, &[5], &[127i8, -128, 1, -1, 0]));
    assert_eq!(cast(x(), U8), value(U8, &[5], &[128u8, 0, 1, 0, 0]));
    let wide = floats(&[2], &[3e9, f32::NEG_INFINITY]);
    assert_eq!(cast(wide, I32), ints(&[2], &[i32::MAX, i32::MIN]));
}

#[test]
fn integers_wrap_as_narrower_integers() {
    let _test = rule(Reported("pytorch/pytorch#169058: 128 becomes -128"));
    let x = || ints(&[4], &[300, -1, 128, 2]);
    assert_eq!(cast(x(), I8), value(I8, &[4], &[44i8, -1, -128, 2]));
    assert_eq!(cast(x(), U8), value(U8, &[4], &[44u8, 255, 128, 2]));
    let wide = value(I64, &[1], &[(1i64 << 32) + 5]);
    assert_eq!(cast(wide, I32), ints(&[1], &[5]));
}

#[test]
fn other_casts_keep_the_value() {
    let _test = rule(Documented("Apple's MPSGraphTensorShapeOps.h"));
    let x = || ints(&[3], &[-1, 0, 2]);
    assert_eq!(cast(x(), F32), floats(&[3], &[-1.0, 0.0, 2.0]));
    assert_eq!(cast(x(), I64), value(I64, &[3], &[-1i64, 0, 2]));
    assert_eq!(cast(x(), I32), x());
    assert_eq!(cast(x(), BOOL), bools(&[3], &[1, 0, 1]));
    let truths = bools(&[2], &[1, 0]);
    assert_eq!(cast(truths, F32), floats(&[2], &[1.0, 0.0]));
}

#[test]
fn casts_of_casts_lose_no_integers() {
    let _test = rule(Reported(
        "MIT-RLX/rlx rlx-metal; DrewsChessMachine BF16CastEquivalenceTests.swift: back-to-back casts become one",
    ));
    let through =
        |x: Value, codes: [u32; 2]| run_one(&[x], |graph, x| codes.iter().fold(x[0], |x, &code| graph.cast(x, code)));
    let x = || ints(&[3], &[300, -1, 7]);
    assert_eq!(through(x(), [I8, I32]), x());
    assert_eq!(through(x(), [I8, F32]), floats(&[3], &[300.0, -1.0, 7.0]));
    assert_eq!(through(floats(&[2], &[300.0, 2.5]), [I32, I8]), value(I8, &[2], &[127i8, 2]));
    // What another operation stands between stays two casts.
    let apart = run_one(&[x()], |graph, x| {
        let narrow = graph.op("absoluteWithTensor:name:", &[graph.cast(x[0], I8)]);
        graph.cast(narrow, I32)
    });
    assert_eq!(apart, ints(&[3], &[44, 1, 7]));
}

#[test]
fn casts_of_casts_between_floats_round() {
    let _test = plain();
    let x = floats(&[2], &[1.001, 2.75]);
    let back = run_one(&[x], |graph, x| graph.cast(graph.cast(x[0], BF16), F32));
    assert_eq!(back, floats(&[2], &[1.0, 2.75]));
}

#[test]
fn cast_refuses_floats_as_bool() {
    let _test = rule(Reported("pytorch/pytorch#94263 and ConstantOps.mm: 1.0 came out as 255"));
    for code in [F32, F16, BF16] {
        let graph = Graph::new();
        let x = graph.placeholder(&[2], code);
        refused(CAST, "compare it with 0", || graph.cast(x, BOOL));
    }
}

#[test]
fn cast_refuses_constants_as_bool() {
    let _test = rule(Reported("kulinseth/pytorch#166; pytorch/pytorch#94263: constants above 1 came out as 0"));
    for code in [I32, U8] {
        let graph = Graph::new();
        let x = graph.scalar(2.0, code);
        refused(CAST, "0 for more than 1", || graph.cast(x, BOOL));
    }
}

#[test]
fn reinterpretations_split_and_join_the_last_dimension() {
    let _test = rule(Reported(
        "tillahoffmann/jax-mps gather_scatter_utils.h: 64-bit integers as pairs of 32-bit ones, the low half first",
    ));
    let results = run(&[floats(&[1, 2], &[1.0, -2.0]), value(I64, &[2, 1], &[1i64 << 32, -1])], |graph, x| {
        vec![reinterpret(graph, x[0], U32), reinterpret(graph, x[1], I32), reinterpret(graph, x[0], I64)]
    });
    assert_eq!(results[0], value(U32, &[1, 2], &[0x3f80_0000u32, 0xc000_0000]));
    assert_eq!(results[1], ints(&[2, 2], &[0, 1, -1, -1]));
    assert_eq!(results[2], value(I64, &[1, 1], &[0xc000_0000_3f80_0000u64]));
}

#[test]
fn reinterpretations_refuse_bool() {
    let _test = rule(Reported("pedronahum/MetalHLO MPSGraphCompiler.swift: bits of i1 crash the compiler"));
    for (from, to) in [(BOOL, I8), (I8, BOOL), (BOOL, BOOL)] {
        let graph = Graph::new();
        let x = graph.placeholder(&[2], from);
        refused(REINTERPRET, "bits of Bool", || reinterpret(&graph, x, to));
    }
}

#[test]
fn reinterpretations_refuse_parts_of_elements() {
    let _test =
        rule(Documented("Apple's MPSGraphTensorShapeOps.h: the last dimension takes up the difference in size"));
    let graph = Graph::new();
    let x = graph.placeholder(&[3], F32);
    refused(REINTERPRET, "not a whole number of elements", || reinterpret(&graph, x, I64));
}
