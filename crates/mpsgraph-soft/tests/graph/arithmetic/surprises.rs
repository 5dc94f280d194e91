//! Where MPSGraph's elementwise functions differ from what one might expect, and shapes that do not go together.

use mpsgraph_soft::objc::Id;

use crate::graph::selectors::{BINARY, BINARY_BITS, binary, unary};
use crate::graph::session::{
    BOOL, F16, F32, Graph, I8, I32, I64, U8, Value, close, floats, halves, ints, run_one, value,
};
use crate::support::{Assumed, Documented, Probed, Reported, msg, refused, rule};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

fn one(name: &str, x: Value) -> Value {
    run_one(&[x], |graph, x| graph.op(&unary(name), x))
}

fn two(name: &str, a: Value, b: Value) -> Value {
    run_one(&[a, b], |graph, x| graph.op(&binary(name), x))
}

fn bits(x: &Value) -> Vec<u32> {
    x.elements::<f32>().into_iter().map(f32::to_bits).collect()
}

#[test]
fn rint_takes_halves_to_even() {
    let _test = rule(Documented("Apple's MPSGraphArithmeticOps.h"));
    let x = floats(&[6], &[0.5, 1.5, 2.5, -0.5, -1.5, -2.4]);
    assert_eq!(one("rint", x), floats(&[6], &[0.0, 2.0, 2.0, -0.0, -2.0, -2.0]));
}

#[test]
fn round_takes_halves_away_from_zero() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    let x = floats(&[6], &[0.5, 1.5, 2.5, -0.5, 0.499_999_97, -2.4]);
    assert_eq!(one("round", x), floats(&[6], &[1.0, 2.0, 3.0, -1.0, 0.0, -2.0]));
}

#[test]
fn zeros_of_tanh_and_atan_have_no_sign() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: these two, and no others"));
    let x = || floats(&[2], &[-0.0, 0.0]);
    for name in ["tanh", "atan"] {
        assert_eq!(bits(&one(name, x())), [0, 0], "{name}");
    }
    for name in ["identity", "rint", "squareRoot", "sin", "erf"] {
        assert_eq!(bits(&one(name, x())), [1 << 31, 0], "{name}");
    }
}

#[test]
fn the_sign_of_nan_is_0() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    let x = floats(&[4], &[NAN, -NAN, -INF, -0.0]);
    assert_eq!(bits(&one("sign", x)), [0, 0, (-1f32).to_bits(), 0]);
}

#[test]
fn modulo_has_the_sign_of_the_dividend() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: C's `fmod`"));
    let (a, b) = (&[-7.0, 7.0, -7.0, 7.0], &[3.0, -3.0, -3.0, 3.0]);
    let wanted = [-1.0, 1.0, -1.0, 1.0];
    assert_eq!(two("modulo", floats(&[4], a), floats(&[4], b)), floats(&[4], &wanted));
    let (a, b) = (ints(&[2], &[-7, 7]), ints(&[2], &[3, -3]));
    assert_eq!(two("modulo", a, b), ints(&[2], &[-1, 1]));
}

#[test]
fn floor_modulo_has_the_sign_of_the_divisor() {
    let _test = rule(Documented("Apple's MPSGraphArithmeticOps.h: `a - floor(a / b) * b`, and 0 for a divisor of 0"));
    let (a, b) = (&[-7.0, 7.0, -7.0, 7.0], &[3.0, -3.0, -3.0, 3.0]);
    let wanted = [2.0, -2.0, -1.0, 1.0];
    assert_eq!(two("floorModulo", floats(&[4], a), floats(&[4], b)), floats(&[4], &wanted));
    let (a, b) = (ints(&[3], &[-7, 7, 7]), ints(&[3], &[3, -3, 0]));
    assert_eq!(two("floorModulo", a, b), ints(&[3], &[2, -2, 0]));
}

#[test]
fn minimum_and_maximum_ignore_nan() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: C's `fmin` and `fmax`"));
    let (a, b) = (|| floats(&[3], &[NAN, 1.0, NAN]), || floats(&[3], &[-INF, NAN, NAN]));
    close(&two("minimum", a(), b()), &[3], &[-INF, 1.0, NAN]);
    close(&two("maximum", a(), b()), &[3], &[-INF, 1.0, NAN]);
}

#[test]
fn minimum_and_maximum_with_nan_propagation_keep_it() {
    let _test = rule(Documented("Apple's MPSGraphArithmeticOps.h"));
    for name in ["minimumWithNaNPropagation", "maximumWithNaNPropagation"] {
        let (a, b) = (floats(&[3], &[NAN, 1.0, 2.0]), floats(&[3], &[-INF, NAN, 2.0]));
        close(&two(name, a, b), &[3], &[NAN, NAN, 2.0]);
    }
}

#[test]
fn clamp_ignores_nan_as_minimum_and_maximum_do() {
    let _test =
        rule(Assumed("kern0x1b/charon probes on macOS 27.0 are of minimum and maximum, which a clamp is made of"));
    let operands = [floats(&[3], &[NAN, 5.0, 5.0]), floats(&[3], &[-1.0, NAN, -1.0]), floats(&[3], &[1.0, 1.0, NAN])];
    let result = run_one(&operands, |graph, x| graph.op("clampWithTensor:minValueTensor:maxValueTensor:name:", x));
    assert_eq!(result, floats(&[3], &[-1.0, 1.0, 5.0]));
}

#[test]
fn shifts_take_their_counts_modulo_the_width() {
    let _test = rule(Reported("tillahoffmann/jax-mps and pedronahum/MetalHLO lower their shifts to it"));
    let counts = || ints(&[3], &[1, 33, -31]);
    let x = || ints(&[3], &[-8, -8, -8]);
    assert_eq!(two("bitwiseLeftShift", x(), counts()), ints(&[3], &[-16; 3]));
    assert_eq!(two("bitwiseRightShift", x(), counts()), ints(&[3], &[-4; 3]));
    let narrow = two("bitwiseLeftShift", value(U8, &[1], &[3u8]), value(U8, &[1], &[9u8]));
    assert_eq!(narrow, value(U8, &[1], &[6u8]));
}

#[test]
fn right_shifts_of_signed_integers_copy_the_sign() {
    let _test = rule(Reported("pedronahum/MetalHLO MPSGraphCompiler.swift"));
    let one = || ints(&[1], &[1]);
    assert_eq!(two("bitwiseRightShift", ints(&[1], &[-7]), one()), ints(&[1], &[-4]));
    let unsigned = two("bitwiseRightShift", value(U8, &[1], &[0x80u8]), value(U8, &[1], &[1u8]));
    assert_eq!(unsigned, value(U8, &[1], &[0x40u8]));
}

#[test]
fn integer_division_is_exact_and_goes_toward_zero() {
    let _test = rule(Reported(
        "pedronahum/MetalHLO and tillahoffmann/jax-mps lower integer division to it; kulinseth/pytorch#243 on why \
         never by way of floats",
    ));
    let (a, b) = (ints(&[4], &[-616, 616, -7, i32::MAX]), ints(&[4], &[28, -28, 2, 1]));
    assert_eq!(two("division", a, b), ints(&[4], &[-22, -22, -3, i32::MAX]));
    let wide = two("division", value(I64, &[1], &[i64::MAX]), value(I64, &[1], &[-1i64]));
    assert_eq!(wide, value(I64, &[1], &[-i64::MAX]));
}

#[test]
fn power_of_a_negative_base_is_as_in_c() {
    let _test = rule(Reported(
        "pytorch/pytorch BinaryOps.mm squares signed numbers by it; for fractional exponents C's `pow` gives NaN",
    ));
    let (a, b) = (floats(&[4], &[-3.0, -3.0, -8.0, -0.0]), floats(&[4], &[2.0, 3.0, 1.0 / 3.0, 3.0]));
    close(&two("power", a, b), &[4], &[9.0, -27.0, NAN, -0.0]);
}

#[test]
fn operands_broadcast() {
    let _test = rule(Documented("Apple's MPSGraphArithmeticOps.h: as NumPy does"));
    let sum = two("addition", floats(&[2, 1, 2], &[1.0, 2.0, 3.0, 4.0]), floats(&[2, 1], &[10.0, 20.0]));
    assert_eq!(sum, floats(&[2, 2, 2], &[11.0, 12.0, 21.0, 22.0, 13.0, 14.0, 23.0, 24.0]));
}

#[test]
fn binary_operations_refuse_shapes_that_do_not_broadcast() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs: other shapes abort when the result's type is inferred"));
    for name in BINARY.concat() {
        let code = if BINARY_BITS.contains(&name) { I32 } else { F32 };
        for (a, b) in [(&[2, 3][..], &[2][..]), (&[2], &[3]), (&[4, 1], &[2, 2])] {
            let graph = Graph::new();
            let operands = [graph.placeholder(a, code), graph.placeholder(b, code)];
            refused(&binary(name), "do not broadcast", || graph.op(&binary(name), &operands));
        }
    }
}

#[test]
fn select_and_clamp_refuse_shapes_that_do_not_broadcast() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs"));
    let select = "selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:";
    let clamp = "clampWithTensor:minValueTensor:maxValueTensor:name:";
    for at in 0..3 {
        for (selector, first) in [(select, BOOL), (clamp, F32)] {
            let graph = Graph::new();
            let tensor = |place: usize, code: u32| graph.placeholder(if place == at { &[3] } else { &[2] }, code);
            let operands = [tensor(0, first), tensor(1, F32), tensor(2, F32)];
            refused(selector, "do not broadcast", || graph.op(selector, &operands));
        }
    }
}

#[test]
fn narrow_integers_wrap() {
    let _test = rule(Assumed(
        "Apple's MPSGraphArithmeticOps.h has bits, not values: two's complement wraps, whatever the width",
    ));
    let sum = two("addition", value(I8, &[2], &[127i8, -128]), value(I8, &[2], &[1i8, -1]));
    assert_eq!(sum, value(I8, &[2], &[-128i8, 127]));
}

#[test]
fn half_floats_round_after_each_operation() {
    let _test = rule(Reported("pytorch/pytorch#136987: each operation rounds to 16 bits"));
    let operands = [halves(&[1], &[2048.0]), halves(&[1], &[1.0]), halves(&[1], &[-2048.0])];
    let result = run_one(&operands, |graph, x| {
        let sum = graph.op(&binary("addition"), &x[..2]);
        graph.op(&binary("addition"), &[sum, x[2]])
    });
    assert_eq!(result, halves(&[1], &[0.0]));
    assert_eq!(result.code, F16);
}

#[test]
fn multiplication_refuses_an_int64_by_itself() {
    let _test = rule(Reported(
        "ChanLumerico/lucid OpEmitters/elementwise/Math.mm: it becomes a square, for which there is no square_i64",
    ));
    let multiply = binary("multiplication");
    let cast =
        |graph: &Graph, x: Id| msg!(graph.id(), "castTensor:toType:name:", x => Id, I64 => u32, Id::NIL => Id; Id);
    let graph = Graph::new();
    let x = graph.placeholder(&[2], I64);
    refused(&multiply, "one Int64 value", || graph.op(&multiply, &[x, x]));
    // Equal nodes become one.
    let graph = Graph::new();
    let x = graph.placeholder(&[2], I32);
    let operands = [cast(&graph, x), cast(&graph, x)];
    refused(&multiply, "one Int64 value", || graph.op(&multiply, &operands));

    let graph = Graph::new();
    let [wide, other] = [I64; 2].map(|code| graph.placeholder(&[2], code));
    graph.op(&multiply, &[wide, other]);
    let narrow = graph.placeholder(&[2], I32);
    graph.op(&multiply, &[narrow, narrow]);
}
