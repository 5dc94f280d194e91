//! Placeholders and constants.

use mpsgraph_soft::objc::Id;

use super::messages::{array, data_type, numbers, objects, shape};
use super::session::{BF16, BOOL, F16, F32, Graph, I8, I32, I64, U8, bools, floats, halves, ints, run, value};
use crate::support::{Assumed, Documented, Probed, Reported, class, msg, refused, rule};

fn data(bytes: &[u8]) -> Id {
    msg!(
        class("NSData"), "dataWithBytes:length:",
        bytes.as_ptr().cast() => *const std::ffi::c_void, bytes.len() => usize; Id
    )
}

fn constant(graph: &Graph, bytes: &[u8], extents: &[i64], code: u32) -> Id {
    let (data, shape) = (data(bytes), numbers(extents));
    msg!(graph.id(), "constantWithData:shape:dataType:", data => Id, shape => Id, code => u32; Id)
}

fn filled(graph: &Graph, value: f64, extents: &[i64], code: u32) -> Id {
    let shape = numbers(extents);
    msg!(graph.id(), "constantWithScalar:shape:dataType:", value => f64, shape => Id, code => u32; Id)
}

#[test]
fn constants() {
    let _test = rule(Documented("Apple's MPSGraphMemoryOps.h"));
    let results = run(&[floats(&[2], &[1.0, 2.0])], |graph, x| {
        let two = graph.scalar(2.0, F32);
        vec![
            constant(graph, &[1, 0, 0, 0, 255, 255, 255, 255], &[2, 1], I32),
            filled(graph, 0.5, &[2], F16),
            filled(graph, 1.0, &[2], BOOL),
            filled(graph, -3.0, &[1, 2], I64),
            graph.op("multiplicationWithPrimaryTensor:secondaryTensor:name:", &[x[0], two]),
            filled(graph, 1.0, &[1], BF16),
        ]
    });
    assert_eq!(results[0], ints(&[2, 1], &[1, -1]));
    assert_eq!(results[1], halves(&[2], &[0.5, 0.5]));
    assert_eq!(results[2], bools(&[2], &[1, 1]));
    assert_eq!(results[3], value(I64, &[1, 2], &[-3i64, -3]));
    assert_eq!(results[4], floats(&[2], &[2.0, 4.0]));
    assert_eq!(results[5], value(BF16, &[1], &[0x3f80u16]));
}

#[test]
fn placeholders() {
    let _test = rule(Documented("Apple's MPSGraphMemoryOps.h"));
    let graph = Graph::new();
    let a = graph.placeholder(&[2, 3], F16);
    let b = graph.placeholder(&[4], F32);
    assert_eq!((shape(a), data_type(a)), (vec![2, 3], F16));
    assert_eq!((shape(b), data_type(b)), (vec![4], F32));
    assert_eq!(objects(msg!(graph.id(), "placeholderTensors"; Id)), [a, b]);
}

const PLACEHOLDER: &str = "placeholderWithShape:dataType:name:";
const DATA: &str = "constantWithData:shape:dataType:";

/// Checks that a number is refused as a constant, with and without a shape.
#[track_caller]
fn number_refused(value: f64, code: u32, reason: &str) {
    refused("constantWithScalar:dataType:", reason, || Graph::new().scalar(value, code));
    refused("constantWithScalar:shape:dataType:", reason, || filled(&Graph::new(), value, &[2], code));
}

#[test]
fn placeholders_refuse_arguments_of_another_class() {
    let _test = rule(Assumed("Objective-C's types: a shape is an array of numbers, a name a string"));
    let wrong = |shape: Id, name: Id, reason: &str| {
        let graph = Graph::new();
        refused(PLACEHOLDER, reason, || msg!(graph.id(), PLACEHOLDER, shape => Id, F32 => u32, name => Id; Id));
    };
    wrong(array(&[array(&[])]), Id::NIL, "holds NSArray");
    wrong(data(&[]), Id::NIL, "not an NSArray of NSNumber");
    wrong(numbers(&[1]), numbers(&[1]), "not an NSString");
}

#[test]
fn constants_of_bool_refuse_other_numbers_than_0_and_1() {
    let _test = rule(Reported("kulinseth/pytorch#166; pytorch/pytorch#94263: constants above 1 became 0"));
    for value in [2.0, -1.0, 0.5, f64::NAN] {
        number_refused(value, BOOL, "other numbers than 0 and 1 become 0");
    }
    refused(DATA, "other than 0 and 1", || constant(&Graph::new(), &[1, 2], &[2], BOOL));
}

#[test]
fn constants_of_integers_refuse_fractions_and_nan() {
    let _test = rule(Assumed(
        "Apple's MPSGraphMemoryOps.h: the number is a double, whose rounding to an integer is not documented",
    ));
    for code in [I32, I64, U8] {
        number_refused(0.5, code, "how it would be rounded is not known");
        number_refused(f64::NAN, code, "how it would be rounded is not known");
    }
}

#[test]
fn constants_refuse_integers_beyond_2_to_the_53() {
    let _test = rule(Documented("Apple's MPSGraphMemoryOps.h: the number is a double"));
    number_refused(9_007_199_254_740_994.0, I64, "not exact beyond 2^53");
    number_refused(-9_007_199_254_740_994.0, I64, "not exact beyond 2^53");
    let exact = run(&[floats(&[1], &[0.0])], |graph, _| {
        vec![filled(graph, 9_007_199_254_740_992.0, &[1], I64), constant(graph, &i64::MAX.to_ne_bytes(), &[1], I64)]
    });
    assert_eq!(exact[0], value(I64, &[1], &[1i64 << 53]));
    assert_eq!(exact[1], value(I64, &[1], &[i64::MAX]));
}

#[test]
fn constants_refuse_numbers_out_of_the_range_of_their_type() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs graph.rs"));
    for (value, code) in [(128.0, I8), (-129.0, I8), (-1.0, U8), (256.0, U8), (2_147_483_648.0, I32)] {
        number_refused(value, code, "out of the range");
    }
}

#[test]
fn constants_refuse_data_of_another_size() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: too few bytes are read past their end"));
    for bytes in [&[1, 2, 3][..], &[1]] {
        let reason = format!("{} bytes of data for a constant Int8 [2]", bytes.len());
        refused(DATA, &reason, || constant(&Graph::new(), bytes, &[2], I8));
    }
}

#[test]
fn constants_refuse_negative_infinity() {
    let _test = rule(Reported(
        "ChanLumerico/lucid MpsBuilder.mm: the specialiser crashed, so it masks with finite numbers; PyTorch's masks \
         are too",
    ));
    for code in [F32, F16, BF16] {
        number_refused(f64::NEG_INFINITY, code, "-inf");
    }
    // What overflows to it.
    number_refused(-1e30, F16, "-inf");
    number_refused(-1e300, F32, "-inf");
    let bytes = |bits: &[u16]| bits.iter().flat_map(|bits| bits.to_ne_bytes()).collect();
    let infinities: [(Vec<u8>, u32); 3] = [
        ([1.0, f32::NEG_INFINITY].map(f32::to_ne_bytes).concat(), F32),
        (bytes(&[0x3c00, 0xfc00]), F16),
        (bytes(&[0x3f80, 0xff80]), BF16),
    ];
    for (bytes, code) in infinities {
        refused(DATA, "-inf", || constant(&Graph::new(), &bytes, &[2], code));
    }
    let finite = run(&[floats(&[1], &[0.0])], |graph, _| vec![filled(graph, -1e30, &[1], F32)]);
    assert_eq!(finite[0], floats(&[1], &[-1e30]));
}
