//! Elementwise functions.

mod surprises;

use super::session::{I64, bools, close, floats, ints, run, run_one, value};
use crate::support::{Documented, Probed, Reported, plain, rule};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

#[test]
fn unary_functions_of_floats() {
    let _test = plain();
    let cases: &[(&str, [f32; 3])] = &[
        ("identity", [0.5, -1.5, 2.0]),
        ("absolute", [0.5, 1.5, 2.0]),
        ("negative", [-0.5, 1.5, -2.0]),
        ("exponent", [1.648_721_3, 0.223_130_16, 7.389_056]),
        ("logarithm", [-std::f32::consts::LN_2, NAN, std::f32::consts::LN_2]),
        ("square", [0.25, 2.25, 4.0]),
        ("squareRoot", [std::f32::consts::FRAC_1_SQRT_2, NAN, std::f32::consts::SQRT_2]),
        ("reciprocal", [2.0, -0.666_666_7, 0.5]),
        ("sin", [0.479_425_54, -0.997_495, 0.909_297_4]),
        ("cos", [0.877_582_56, 0.070_737_2, -0.416_146_84]),
        ("tan", [0.546_302_5, -14.101_42, -2.185_04]),
        ("asin", [std::f32::consts::FRAC_PI_6, NAN, NAN]),
        ("acos", [std::f32::consts::FRAC_PI_3, NAN, NAN]),
        ("atan", [0.463_647_6, -0.982_793_75, 1.107_148_8]),
        ("sinh", [0.521_095_3, -2.129_279_5, 3.626_860_4]),
        ("cosh", [1.127_626, 2.352_409_6, 3.762_195_6]),
        ("tanh", [0.462_117_16, -0.905_148_27, 0.964_027_6]),
        ("asinh", [0.481_211_84, -1.194_763_2, 1.443_635_5]),
        ("acosh", [NAN, NAN, 1.316_958]),
        ("atanh", [0.549_306_15, NAN, NAN]),
        ("erf", [0.520_499_9, -0.966_105_1, 0.995_322_3]),
        ("ceil", [1.0, -1.0, 2.0]),
        ("floor", [0.0, -2.0, 2.0]),
        ("rint", [0.0, -2.0, 2.0]),
        ("round", [1.0, -2.0, 2.0]),
        ("truncate", [0.0, -1.0, 2.0]),
        ("sign", [1.0, -1.0, 1.0]),
        ("signbit", [0.0, 1.0, 0.0]),
        ("not", [0.0, 0.0, 0.0]),
        ("reLU", [0.5, 0.0, 2.0]),
        ("sigmoid", [0.622_459_35, 0.182_425_52, 0.880_797]),
    ];
    let results = run(&[floats(&[3], &[0.5, -1.5, 2.0])], |graph, x| {
        cases.iter().map(|(name, _)| graph.op(&format!("{name}WithTensor:name:"), x)).collect()
    });
    for ((name, wanted), result) in cases.iter().zip(&results) {
        println!("{name}");
        close(result, &[3], wanted);
    }
}

#[test]
fn tests_of_floats_are_bool() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    let x = floats(&[4], &[1.0, NAN, -INF, 0.0]);
    let names = ["isNaN", "isInfinite", "isFinite"];
    let results =
        run(&[x], |graph, x| names.iter().map(|name| graph.op(&format!("{name}WithTensor:name:"), x)).collect());
    assert_eq!(results[0], bools(&[4], &[0, 1, 0, 0]));
    assert_eq!(results[1], bools(&[4], &[0, 0, 1, 0]));
    assert_eq!(results[2], bools(&[4], &[1, 0, 0, 1]));
}

#[test]
fn binary_functions_of_floats() {
    let _test = plain();
    let cases: &[(&str, [f32; 4])] = &[
        ("addition", [-4.0, 10.0, 2.0, NAN]),
        ("subtraction", [-10.0, 4.0, 2.0, NAN]),
        ("multiplication", [-21.0, 21.0, 0.0, NAN]),
        ("division", [-2.333_333_3, 2.333_333_3, INF, NAN]),
        ("modulo", [-1.0, 1.0, NAN, NAN]),
        ("floorModulo", [2.0, 1.0, NAN, NAN]),
        ("power", [-343.0, 343.0, 1.0, NAN]),
        ("minimum", [-7.0, 3.0, 0.0, 1.0]),
        ("maximum", [3.0, 7.0, 2.0, 1.0]),
        ("minimumWithNaNPropagation", [-7.0, 3.0, 0.0, NAN]),
        ("maximumWithNaNPropagation", [3.0, 7.0, 2.0, NAN]),
        ("atan2", [-1.165_904_5, 1.165_904_5, std::f32::consts::FRAC_PI_2, NAN]),
        ("logicalAND", [1.0, 1.0, 0.0, 1.0]),
    ];
    let operands = [floats(&[4], &[-7.0, 7.0, 2.0, NAN]), floats(&[4], &[3.0, 3.0, 0.0, 1.0])];
    let results = run(&operands, |graph, x| {
        let selector = |name: &str| format!("{name}WithPrimaryTensor:secondaryTensor:name:");
        cases.iter().map(|(name, _)| graph.op(&selector(name), x)).collect()
    });
    for ((name, wanted), result) in cases.iter().zip(&results) {
        println!("{name}");
        close(result, &[4], wanted);
    }
}

#[test]
fn integers() {
    let _test = plain();
    let cases: &[(&str, [i32; 4])] = &[
        ("addition", [-4, 10, 2, i32::MIN]),
        ("subtraction", [-10, 4, 2, i32::MAX - 1]),
        ("multiplication", [-21, 21, 0, i32::MAX]),
        ("division", [-2, 2, 0, i32::MAX]),
        ("modulo", [-1, 1, 0, 0]),
        ("floorModulo", [2, 1, 0, 0]),
        ("minimum", [-7, 3, 0, 1]),
        ("maximum", [3, 7, 2, i32::MAX]),
        ("bitwiseAND", [1, 3, 0, 1]),
        ("bitwiseOR", [-5, 7, 2, i32::MAX]),
        ("bitwiseXOR", [-6, 4, 2, i32::MAX - 1]),
        ("bitwiseLeftShift", [-56, 56, 2, -2]),
        ("bitwiseRightShift", [-1, 0, 2, i32::MAX >> 1]),
        ("logicalXOR", [0, 0, 1, 0]),
    ];
    let operands = [ints(&[4], &[-7, 7, 2, i32::MAX]), ints(&[4], &[3, 3, 0, 1])];
    let results = run(&operands, |graph, x| {
        let selector = |name: &str| format!("{name}WithPrimaryTensor:secondaryTensor:name:");
        let mut tensors: Vec<_> = cases.iter().map(|(name, _)| graph.op(&selector(name), x)).collect();
        tensors.push(graph.op("bitwiseNOTWithTensor:name:", &x[..1]));
        tensors
    });
    for ((name, wanted), result) in cases.iter().zip(&results) {
        assert_eq!(*result, ints(&[4], wanted), "{name}");
    }
    assert_eq!(results[cases.len()], ints(&[4], &[6, -8, -3, i32::MIN]));
}

#[test]
fn wide_integers_are_exact() {
    let _test = rule(Reported("pytorch/pytorch BinaryOps.mm computes 64-bit integers in the graph"));
    let operands = [value(I64, &[2], &[i64::MAX, -9]), value(I64, &[2], &[1i64, 4])];
    let result = run_one(&operands, |graph, x| graph.op("subtractionWithPrimaryTensor:secondaryTensor:name:", x));
    assert_eq!(result, value(I64, &[2], &[i64::MAX - 1, -13]));
}

#[test]
fn comparisons_are_bool_and_broadcast() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: NaN compares as in IEEE 754"));
    // [1, 2, 3] against [[2], [3]]
    let cases: &[(&str, [u8; 6])] = &[
        ("equal", [0, 1, 0, 0, 0, 1]),
        ("notEqual", [1, 0, 1, 1, 1, 0]),
        ("lessThan", [1, 0, 0, 1, 1, 0]),
        ("lessThanOrEqualTo", [1, 1, 0, 1, 1, 1]),
        ("greaterThan", [0, 0, 1, 0, 0, 0]),
        ("greaterThanOrEqualTo", [0, 1, 1, 0, 0, 1]),
    ];
    let operands = [floats(&[3], &[1.0, 2.0, NAN]), floats(&[2, 1], &[2.0, 3.0])];
    let results = run(&[operands[0].clone(), operands[1].clone(), floats(&[3], &[1.0, 2.0, 3.0])], |graph, x| {
        let selector = |name: &str| format!("{name}WithPrimaryTensor:secondaryTensor:name:");
        cases.iter().map(|(name, _)| graph.op(&selector(name), &[x[2], x[1]])).collect()
    });
    for ((name, wanted), result) in cases.iter().zip(&results) {
        assert_eq!(*result, bools(&[2, 3], wanted), "{name}");
    }
    let nan = run_one(&operands, |graph, x| graph.op("notEqualWithPrimaryTensor:secondaryTensor:name:", x));
    assert_eq!(nan, bools(&[2, 3], &[1, 0, 1, 1, 1, 1]));
}

#[test]
fn logic_on_bool() {
    let _test = rule(Documented("Apple's MPSGraphArithmeticOps.h"));
    let operands = [bools(&[4], &[0, 0, 1, 1]), bools(&[4], &[0, 1, 0, 1])];
    let cases: &[(&str, [u8; 4])] =
        &[("AND", [0, 0, 0, 1]), ("OR", [0, 1, 1, 1]), ("XOR", [0, 1, 1, 0]), ("XNOR", [1, 0, 0, 1])];
    let results = run(&operands, |graph, x| {
        let selector = |name: &str| format!("logical{name}WithPrimaryTensor:secondaryTensor:name:");
        let mut tensors: Vec<_> = cases.iter().map(|(name, _)| graph.op(&selector(name), x)).collect();
        tensors.push(graph.op("notWithTensor:name:", &x[..1]));
        tensors
    });
    for ((name, wanted), result) in cases.iter().zip(&results) {
        assert_eq!(*result, bools(&[4], wanted), "{name}");
    }
    assert_eq!(results[cases.len()], bools(&[4], &[1, 1, 0, 0]));
}

#[test]
fn select_and_clamp() {
    let _test = rule(Documented("Apple's MPSGraphArithmeticOps.h: operands broadcast"));
    let select = "selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:";
    let operands = [bools(&[3], &[1, 0, 1]), floats(&[2, 1], &[1.0, 2.0]), floats(&[1], &[-1.0])];
    let result = run_one(&operands, |graph, x| graph.op(select, x));
    assert_eq!(result, floats(&[2, 3], &[1.0, -1.0, 1.0, 2.0, -1.0, 2.0]));
    let clamp = "clampWithTensor:minValueTensor:maxValueTensor:name:";
    let operands = [ints(&[3], &[-5, 0, 5]), ints(&[1], &[-2]), ints(&[1], &[3])];
    let result = run_one(&operands, |graph, x| graph.op(clamp, x));
    assert_eq!(result, ints(&[3], &[-2, 0, 3]));
}
