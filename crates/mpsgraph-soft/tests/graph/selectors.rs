//! MPSGraph's selectors by what their tensors may be: functions of one and of two tensors, and reductions.

use mpsgraph_soft::mpsgraph::graph::CLASS;
use mpsgraph_soft::objc::{Id, Method};

use super::messages::numbers;
use super::session::Graph;

/// Functions of one tensor of floats.
pub const UNARY_FLOATS: &[&str] = &[
    "exponent",
    "logarithm",
    "squareRoot",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "sigmoid",
];

/// What rounds: for floats.
pub const ROUNDING: &[&str] = &["ceil", "floor", "rint", "round", "truncate"];

/// What tells floats apart: gives Bool.
pub const TESTS: &[&str] = &["isNaN", "isInfinite", "isFinite"];

/// Functions of one tensor of numbers.
pub const UNARY_NUMBERS: &[&str] = &["absolute", "negative", "square", "reLU"];

/// Functions of one tensor of floats or integers of at most 32 bits.
pub const SIGNS: &[&str] = &["sign", "signbit"];

/// Functions of one tensor of integers.
pub const UNARY_BITS: &[&str] = &["bitwiseNOT"];

/// Functions of two tensors of numbers.
pub const BINARY_NUMBERS: &[&str] =
    &["addition", "subtraction", "multiplication", "division", "power", "minimum", "maximum"];

/// Functions of two tensors of floats that keep NaN.
pub const NAN_KEEPERS: &[&str] = &["minimumWithNaNPropagation", "maximumWithNaNPropagation"];

/// Comparisons: of any type, give Bool.
pub const COMPARISONS: &[&str] =
    &["equal", "notEqual", "lessThan", "lessThanOrEqualTo", "greaterThan", "greaterThanOrEqualTo"];

/// Logical functions: of any type, which they give.
pub const LOGIC: &[&str] = &["logicalAND", "logicalOR", "logicalXOR", "logicalXNOR"];

/// Functions of two tensors of integers.
pub const BINARY_BITS: &[&str] = &["bitwiseAND", "bitwiseOR", "bitwiseXOR", "bitwiseLeftShift", "bitwiseRightShift"];

/// Functions of two tensors, all of them but the matrix product.
pub const BINARY: &[&[&str]] =
    &[BINARY_NUMBERS, &["floorModulo", "modulo", "atan2"], NAN_KEEPERS, COMPARISONS, LOGIC, BINARY_BITS];

/// The selector of a function of one tensor.
pub fn unary(name: &str) -> String {
    format!("{name}WithTensor:name:")
}

/// The selector of a function of two tensors.
pub fn binary(name: &str) -> String {
    format!("{name}WithPrimaryTensor:secondaryTensor:name:")
}

/// Reductions along `axes:` to a number.
pub const REDUCTIONS: &[&str] = &["Sum", "Product", "Minimum", "Maximum"];

/// The same, keeping NaN.
pub const NAN_REDUCTIONS: &[&str] = &["MinimumPropagateNaN", "MaximumPropagateNaN"];

/// The same, to a truth value.
pub const TRUTHS: &[&str] = &["And", "Or"];

/// The same, to a position; along `axis:` only.
pub const POSITIONS: &[&str] = &["ArgMaximum", "ArgMinimum"];

/// The selector of a reduction.
pub fn reduction(name: &str) -> String {
    let axes = if POSITIONS.contains(&name) { "axis" } else { "axes" };
    format!("reduction{name}WithTensor:{axes}:name:")
}

/// A reduction along one axis.
pub fn reduced(graph: &Graph, name: &str, x: Id, axis: isize) -> Id {
    let selector = reduction(name);
    if POSITIONS.contains(&name) {
        graph.axis_op(&selector, x, axis)
    } else {
        graph.op(&selector, &[x, numbers(&[axis as i64])])
    }
}

/// Operations by name, and how a selector is made of the name.
pub type Listed = (fn(&str) -> String, &'static [&'static str]);

/// The name is the selector.
pub fn whole(selector: &str) -> String {
    selector.to_owned()
}

/// The selectors of a list; one that ends with `…` stands for all methods of `MPSGraph` that begin so.
pub fn selectors(listed: &[Listed]) -> Vec<String> {
    let written = listed.iter().flat_map(|(selector, names)| names.iter().map(|name| selector(name)));
    written
        .flat_map(|selector| match selector.strip_suffix('…') {
            Some(start) => CLASS
                .instance
                .iter()
                .map(Method::selector)
                .filter(|own| own.starts_with(start))
                .map(String::from)
                .collect(),
            None => vec![selector],
        })
        .collect()
}
