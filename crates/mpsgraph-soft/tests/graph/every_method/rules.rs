//! The rules.

use mpsgraph_soft::objc::Id;

use super::call::{Base, Call, Role};
use super::element_types::accepted;
use super::send::Argument;
use super::spoiled::{Rule, check};
use super::{none, operations};
use crate::graph::messages::{array, data_type, numbers};
use crate::graph::session::Graph;
use crate::support::{Assumed, Documented, Probed, Reported, class, msg, new, outcome, rule};

const MATRIX: &[i64] = &[2, 2];

fn objects(objects: impl IntoIterator<Item = Id>) -> Vec<Argument> {
    objects.into_iter().map(Argument::Object).collect()
}

/// Numbers in place of an axis or of axes.
fn axes(call: &Call, at: usize, wrong: &[i64]) -> Vec<Argument> {
    match (call.roles[at], call.arguments[at]) {
        (Role::Axis, Argument::Signed(_)) => wrong.iter().map(|&axis| Argument::Signed(axis as isize)).collect(),
        // As an unsigned number, a negative axis is beyond any rank.
        (Role::Axis, Argument::Unsigned(_)) => wrong.iter().map(|&axis| Argument::Unsigned(axis as usize)).collect(),
        (Role::Axis, other) => unreachable!("an axis is a whole number, not {other:?}"),
        (Role::Axes, _) => objects(wrong.iter().map(|&axis| numbers(&[axis, 1]))),
        _ => Vec::new(),
    }
}

/// One object in place of each tensor, and in place of the tensors of an array.
fn tensors(call: &Call, at: usize, wrong: impl Fn(u32) -> Id) -> Vec<Argument> {
    match (call.roles[at], call.arguments[at]) {
        (Role::Data | Role::Indices | Role::Predicate | Role::RandomState, Argument::Object(tensor)) => {
            objects([wrong(data_type(tensor))])
        }
        (Role::Tensors, _) => {
            let tensor = wrong(call.base.code);
            objects([array(&[tensor, tensor])])
        }
        _ => Vec::new(),
    }
}

/// One tensor in place of the second of two or more that must agree.
fn second_tensors(call: &Call, at: usize, wrong: impl Fn(&Base) -> Id) -> Vec<Argument> {
    let is_data = |role: &Role| *role == Role::Data;
    match call.roles[at] {
        Role::Data if call.roles[..at].iter().any(is_data) => objects([wrong(&call.base)]),
        Role::Tensors => {
            let first = call.graph.placeholder(&call.base.extents, call.base.code);
            objects([array(&[first, wrong(&call.base)])])
        }
        _ => Vec::new(),
    }
}

#[test]
fn a_call_made_of_the_keywords_is_accepted() {
    let _test = rule(Assumed("what the other tests here spoil in one place must be right in all others"));
    let refused = |method| outcome(|| Call::new(method, Base::of(method, MATRIX)).send()).err();
    none(&operations().filter_map(refused).collect::<Vec<_>>());
}

#[test]
fn axes_outside_the_rank() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: \"invalid axes\", then an LLVM error"));
    check(&Rule {
        name: "axis outside the rank",
        reasons: &["is not one of 2"],
        extents: MATRIX,
        instead: |call, at| axes(call, at, &[2, -3]),
    });
}

#[test]
fn axes_before_the_last_four() {
    let _test = rule(Reported(
        "pytorch/pytorch#118126 (\"must simplify reduction axes to minor 4 dimensions\"); pytorch/pytorch#187105",
    ));
    check(&Rule {
        name: "axis before the last four",
        reasons: &["not one of the last four"],
        extents: &[2, 2, 2, 2, 2],
        instead: |call, at| axes(call, at, &[0]),
    });
}

#[test]
fn rank_0() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs; tillahoffmann/jax-mps gather_scatter_utils.h"));
    check(&Rule {
        name: "rank 0",
        reasons: &[
            "rank 0",
            "a rank below 2",
            "must be Int32 [7]",
            "region's shape",
            "the source",
            "for 0 dimensions",
            "is not one of 0",
            "another volume",
        ],
        extents: MATRIX,
        instead: |call, at| tensors(call, at, |code| call.graph.scalar(0.0, code)),
    });
}

#[test]
fn element_types_that_differ() {
    let _test = rule(Reported("ChanLumerico/lucid MpsBuilder.mm: \"op requires the same element type\""));
    check(&Rule {
        name: "element types that differ",
        reasons: &["differ in element type", "the source"],
        extents: MATRIX,
        instead: |call, at| {
            second_tensors(call, at, |base| {
                let selector = call.selector();
                let other = accepted(selector).iter().find(|&&code| code != base.code);
                call.graph.placeholder(&base.extents, *other.expect("two types at least"))
            })
        },
    });
}

#[test]
fn shapes_that_do_not_go_together() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs: other shapes abort when the result's type is inferred"));
    check(&Rule {
        name: "shapes that do not go together",
        reasons: &[
            "do not broadcast",
            "do not fit",
            "inner extents differ",
            "the source",
            "region's shape",
            "must be the same but for",
            "must have",
            "rank 1 is needed",
        ],
        extents: MATRIX,
        instead: |call, at| second_tensors(call, at, |base| call.graph.placeholder(&[3, 3], base.code)),
    });
}

#[test]
fn tensors_of_another_graph() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs graph.rs"));
    check(&Rule {
        name: "tensor of another graph",
        reasons: &["belongs to another graph"],
        extents: MATRIX,
        instead: |call, at| tensors(call, at, |code| Graph::new().placeholder(MATRIX, code)),
    });
}

#[test]
fn nil() {
    let _test = rule(Documented("Apple's headers declare these arguments nonnull"));
    check(&Rule {
        name: "nil",
        reasons: &["not an MPSGraphTensor", "not an NSArray", "not an NSData", "the descriptor is", "unknown rank"],
        extents: MATRIX,
        instead: |call, at| match (call.roles[at], call.arguments[at]) {
            (Role::Name, _) => Vec::new(),
            (_, Argument::Object(_)) => objects([Id::NIL]),
            _ => Vec::new(),
        },
    });
}

#[test]
fn objects_of_another_class() {
    let _test = rule(Documented("Apple's headers declare the class of each argument"));
    check(&Rule {
        name: "object of another class",
        reasons: &[
            "not an MPSGraphTensor",
            "not an NSArray",
            "holds NSObject",
            "not an NSData",
            "not an NSString",
            "the descriptor is",
        ],
        extents: MATRIX,
        instead: |call, at| {
            let other = || msg!(class("NSArray"), "array"; Id);
            match call.roles[at] {
                Role::Tensors => objects([Id::NIL, array(&[numbers(&[1])])]),
                Role::Shape | Role::Axes | Role::PerDimension => {
                    objects([msg!(class("NSData"), "data"; Id), array(&[new("NSObject").id()])])
                }
                Role::Axis | Role::ElementType | Role::Number => Vec::new(),
                Role::Data | Role::Indices | Role::Predicate | Role::RandomState => objects([other()]),
                Role::Name | Role::Descriptor | Role::Bytes => objects([other()]),
            }
        },
    });
}

#[test]
fn codes_that_are_not_element_types() {
    let _test =
        rule(Documented("Apple's MPSCoreTypes.h has no code for doubles; ChanLumerico/lucid maps them to Float32"));
    check(&Rule {
        name: "unknown element type",
        reasons: &["MPSDataType that is supported here"],
        extents: MATRIX,
        instead: |call, at| match call.roles[at] {
            Role::ElementType => vec![Argument::Bits(0x1000_0040), Argument::Bits(0)],
            _ => Vec::new(),
        },
    });
}

/// Arrays in place of shapes.
fn shapes(call: &Call, at: usize, wrong: &[i64]) -> Vec<Argument> {
    if call.roles[at] == Role::Shape { objects([numbers(wrong)]) } else { Vec::new() }
}

#[test]
fn zero_extents() {
    let _test =
        rule(Probed("kern0x1b/charon probes on macOS 27.0 (\"device may not be nil\"); pytorch/pytorch#117941"));
    check(&Rule {
        name: "zero extent",
        reasons: &["zero"],
        extents: MATRIX,
        instead: |call, at| shapes(call, at, &[2, 0]),
    });
}

#[test]
fn empty_shapes() {
    let _test = rule(Probed(
        "kern0x1b/charon probes on macOS 27.0 (\"a constant must be passed a ranked shape\"); doom-fish/mpsgraph-rs \
         graph.rs",
    ));
    check(&Rule {
        name: "empty shape",
        reasons: &["empty"],
        extents: MATRIX,
        instead: |call, at| shapes(call, at, &[]),
    });
}

#[test]
fn dynamic_extents() {
    let _test = rule(Reported(
        "ChanLumerico/lucid MpsBuilder.mm: constants that end up with a symbolic axis abort when they are specialised",
    ));
    check(&Rule {
        name: "dynamic extent",
        reasons: &["dynamic"],
        extents: MATRIX,
        instead: |call, at| shapes(call, at, &[-1, 2]),
    });
}

#[test]
fn more_numbers_than_dimensions() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs"));
    check(&Rule {
        name: "more numbers than dimensions",
        reasons: &["3 numbers for 2 dimensions"],
        extents: MATRIX,
        instead: |call, at| match call.roles[at] {
            Role::PerDimension => objects([numbers(&[1, 0, 2])]),
            _ => Vec::new(),
        },
    });
}
