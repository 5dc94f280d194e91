//! Rules that go across all operations, applied to every method in the table of `MPSGraph` itself.
//!
//! `call` makes a call that is accepted of any selector, `spoiled` puts one wrong argument into it, `except` lists the
//! methods that a rule does not hold for, and why, and `element_types` has for each method what its tensors may be. A
//! method that is in no list must keep every rule, so a new one cannot be forgotten.

mod call;
mod element_types;
mod except;
mod rules;
mod send;
mod spoiled;

use mpsgraph_soft::mpsgraph::graph::CLASS;
use mpsgraph_soft::objc::Method;
use mpsgraph_soft::objc::version::macos;

use crate::support::{passes_with, plain};

/// Methods of `MPSGraph` that are not operations.
const NOT_OPERATIONS: &[&str] = &[
    "init",
    "options",
    "setOptions:",
    "placeholderTensors",
    "compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:",
];

/// The operations, those of later systems included.
fn all_operations() -> impl Iterator<Item = &'static Method> {
    CLASS.instance.iter().filter(|method| !NOT_OPERATIONS.contains(&method.selector()))
}

/// The operations that the played system has.
fn operations() -> impl Iterator<Item = &'static Method> {
    all_operations().filter(|method| is_there(method))
}

fn is_there(method: &Method) -> bool {
    method.min_macos().unwrap_or(CLASS.min_macos) <= macos()
}

/// Panics with what was found, one line each.
#[track_caller]
fn none(found: &[String]) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn on_a_system_that_has_all() {
    let _test = plain();
    let newest = all_operations().filter_map(Method::min_macos).max().expect("operations of later systems");
    let others = ["graph::every_method::", "--skip", "on_a_system_that_has_all"];
    passes_with("MPSGRAPH_SOFT_MACOS", &format!("{}.{}", newest.0, newest.1), &others, 20);
}
