//! Checks that every family has lines in the table, and every op a line by hand.

use std::collections::BTreeSet;

use crate::FAMILIES;
use crate::case::all;
use crate::source::{families, methods};

#[test]
fn every_family_has_rows() {
    for family in families() {
        let listed = FAMILIES.iter().find(|(name, _)| *name == family);
        let Some((_, cases)) = listed else {
            panic!("{family} is missing in `families!` of tests/ops/lib.rs, so it has no row in self_check");
        };
        assert!(!cases().is_empty(), "tests/ops/{family} has no line, so {family} has no row in self_check");
    }
}

#[test]
fn no_two_lines_have_one_name() {
    let mut seen = BTreeSet::new();
    for case in all() {
        assert!(seen.insert(case.path), "{} is there twice", case.path);
    }
}

/// Methods that give a tensor but need no line: every line uses `from_data`, there is one device, and the elements of
/// `empty` are undefined.
const WITHOUT_LINES: [&str; 5] = ["from_data", "q_from_data", "to_device", "q_to_device", "empty"];

/// The op of a method: `add` of `float_add` and `int_add`, `powi` of `int_powi_impl`.
fn op(method: &str) -> &str {
    let kinds = ["float_", "int_", "bool_"];
    let op = kinds.iter().find_map(|kind| method.strip_prefix(kind)).unwrap_or(method);
    op.strip_suffix("_impl").unwrap_or(op)
}

/// A line of a name serves the methods of floats, of integers and of bools; quantized ones have their own.
#[test]
fn every_op_has_a_line_by_hand() {
    let by_hand: BTreeSet<&str> = all().iter().filter_map(|case| case.by_hand()).collect();
    let methods = methods();
    let gives_a_tensor = |returns: &str| {
        returns.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "Tensor" | "Quantized"))
    };
    let missing: BTreeSet<&str> = methods
        .iter()
        .filter(|method| gives_a_tensor(&method.returns))
        .map(|method| op(&method.name))
        .filter(|op| !WITHOUT_LINES.contains(op) && !by_hand.contains(op))
        .collect();
    assert!(methods.len() > 300, "{} methods were found in src/backend", methods.len());
    assert!(missing.is_empty(), "no line in `by_hand()` or `gradients_by_hand()` of tests/ops is called {missing:?}");
}
