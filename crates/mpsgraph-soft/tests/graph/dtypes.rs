//! Element types: which exist, and what operations give. Which they take is in `every_method`.

use mpsgraph_soft::objc::Id;

use super::messages::{data_type, numbers};
use super::selectors::{COMPARISONS, LOGIC, POSITIONS, TESTS, TRUTHS, binary, reduced, unary};
use super::session::{BOOL, F16, F32, Graph, I32, I64, U8, shaped_type};
use crate::support::{Documented, Probed, Reported, class, msg, refused, rule};

/// Checks that a selector refuses tensors of these types, of shape [2].
#[track_caller]
fn types_refused(selector: &str, codes: &[u32], reason: &str) {
    let graph = Graph::new();
    let tensors: Vec<Id> = codes.iter().map(|&code| graph.placeholder(&[2], code)).collect();
    refused(selector, reason, || graph.op(selector, &tensors));
}

/// The type that a selector gives for tensors of these types, of shape [2].
fn given(selector: &str, codes: &[u32]) -> u32 {
    let graph = Graph::new();
    let tensors: Vec<Id> = codes.iter().map(|&code| graph.placeholder(&[2], code)).collect();
    data_type(graph.op(selector, &tensors))
}

#[test]
fn other_codes_than_the_twelve_types_are_refused() {
    let _test = rule(Documented(
        "Apple's MPSCoreTypes.h has no code for doubles; ChanLumerico/lucid maps them to Float32. Complex, normalised \
         and 4-bit types are not computed with here",
    ));
    for code in [0x1000_0040, 0x1100_0040, 0x1100_0020, 0x4000_0008, 4, 0] {
        let reason = "is not an MPSDataType that is supported here";
        refused("initWithShape:dataType:", reason, || shaped_type(&[2], code));
        let ty = shaped_type(&[2], F32);
        refused("setDataType:", reason, || msg!(ty, "setDataType:", code => u32; ()));
        refused("descriptorWithDistribution:dataType:", reason, || {
            msg!(
                class("MPSGraphRandomOpDescriptor"), "descriptorWithDistribution:dataType:",
                0 => usize, code => u32; Id
            )
        });
    }
}

#[test]
fn select_refuses_other_predicates_than_bool() {
    let _test = rule(Reported("pytorch/pytorch TensorCompare.mm feeds a bool"));
    for code in [F32, I32, U8] {
        types_refused(
            "selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:",
            &[code, F32, F32],
            "it must be Bool",
        );
    }
}

#[test]
fn comparisons_and_tests_give_bool() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    for name in TESTS {
        assert_eq!(given(&unary(name), &[F16]), BOOL, "{name}");
    }
    for name in COMPARISONS {
        assert_eq!(given(&binary(name), &[I32, I32]), BOOL, "{name}");
    }
}

#[test]
fn logical_operations_give_the_type_of_their_operands() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0; pytorch/pytorch BinaryOps.mm casts around them"));
    for code in [F32, F16, I32, U8, BOOL] {
        for name in LOGIC {
            assert_eq!(given(&binary(name), &[code, code]), code, "{name}");
        }
        assert_eq!(given(&unary("not"), &[code]), code);
    }
    for code in [F32, F16, I32] {
        assert_eq!(given(&unary("signbit"), &[code]), code);
        for name in TRUTHS {
            let graph = Graph::new();
            let x = graph.placeholder(&[2], code);
            assert_eq!(data_type(reduced(&graph, name, x, 0)), code, "{name}");
        }
    }
}

#[test]
fn positions_and_coordinates_are_32_bit_integers() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: Int32 whatever the operand's type is"));
    for code in [F32, F16, I32, I64] {
        for name in POSITIONS {
            let graph = Graph::new();
            let x = graph.placeholder(&[2], code);
            assert_eq!(data_type(reduced(&graph, name, x, 0)), I32, "{name}");
        }
    }
    let graph = Graph::new();
    let (selector, shape) = ("coordinateAlongAxis:withShape:name:", numbers(&[3]));
    let coordinates = msg!(graph.id(), selector, 0 => isize, shape => Id, Id::NIL => Id; Id);
    assert_eq!(data_type(coordinates), I32);
}
