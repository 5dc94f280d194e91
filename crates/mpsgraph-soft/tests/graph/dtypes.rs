//! Element types: which exist, which an operation takes, and what it gives.

use mpsgraph_soft::objc::Id;

use super::messages::{array, data_type, numbers};
use super::selectors::{
    BINARY, BINARY_BITS, BINARY_FLOATS, BINARY_NUMBERS, COMPARISONS, LOGIC, NAN_REDUCTIONS, POSITIONS, REDUCTIONS,
    ROUNDING, SIGNS, TESTS, TRUTHS, UNARY_BITS, UNARY_FLOATS, UNARY_NUMBERS, binary, reduced, reduction, unary,
};
use super::session::{BF16, BOOL, F16, F32, Graph, I8, I32, I64, U8, U32, shaped_type};
use crate::support::{Documented, Probed, Reported, class, msg, refused, rule};

const U64: u32 = 64;
const FLOATS: [u32; 3] = [F32, F16, BF16];
const INTEGERS: [u32; 6] = [I8, I32, I64, U8, U32, U64];

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
        let reason = "is no MPSDataType that is supported here";
        let graph = || Graph::new();
        refused("placeholderWithShape:dataType:name:", reason, || graph().placeholder(&[2], code));
        refused("constantWithScalar:dataType:", reason, || graph().scalar(1.0, code));
        refused("castTensor:toType:name:", reason, || {
            let graph = graph();
            graph.cast(graph.placeholder(&[2], F32), code)
        });
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
fn binary_operations_refuse_operands_of_different_element_types() {
    let _test = rule(Reported("ChanLumerico/lucid MpsBuilder.mm: \"op requires the same element type\""));
    for name in BINARY.concat() {
        let pair = if BINARY_BITS.contains(&name) { [I32, I8] } else { [F32, F16] };
        types_refused(&binary(name), &pair, "differ in element type");
    }
}

#[test]
fn other_operations_refuse_operands_of_different_element_types() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs; ChanLumerico/lucid MpsBuilder.mm"));
    let reason = "differ in element type";
    types_refused(
        "selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:",
        &[BOOL, F32, I32],
        reason,
    );
    let clamp = "clampWithTensor:minValueTensor:maxValueTensor:name:";
    types_refused(clamp, &[F32, F16, F32], reason);
    types_refused(clamp, &[F32, F32, I32], reason);
    let gradient = "reLUGradientWithIncomingGradient:sourceTensor:name:";
    types_refused(gradient, &[F32, F16], "the source Float16 [2]");
    let listed = |selector: &str| {
        let graph = Graph::new();
        let tensors = array(&[F32, F16].map(|code| graph.placeholder(&[2], code)));
        refused(selector, reason, || graph.axis_op(selector, tensors, 0));
    };
    listed("concatTensors:dimension:name:");
}

#[test]
fn functions_of_floats_refuse_integers_and_bool() {
    let _test = rule(Reported(
        "pytorch/pytorch aten/src/ATen/native/mps/operations/UnaryOps.mm casts integers to floats first",
    ));
    for code in INTEGERS.into_iter().chain([BOOL]) {
        for name in UNARY_FLOATS {
            types_refused(&unary(name), &[code], "only floats");
        }
        types_refused(&binary("atan2"), &[code, code], "only floats");
    }
}

#[test]
fn rounding_refuses_integers() {
    let _test = rule(Reported("pytorch/pytorch#84995: `floorOp_i64` is missing"));
    for code in INTEGERS {
        for name in ROUNDING {
            types_refused(&unary(name), &[code], "only floats");
        }
    }
}

#[test]
fn what_tells_or_keeps_nan_refuses_integers_and_bool() {
    let _test = rule(Probed(
        "kern0x1b/charon probes on macOS 27.0: NSInvalidArgumentException, for want of kernels such as `isNaN_i64_i8`",
    ));
    for code in INTEGERS.into_iter().chain([BOOL]) {
        for name in TESTS {
            types_refused(&unary(name), &[code], "raises an exception");
        }
        for name in &BINARY_FLOATS[..2] {
            types_refused(&binary(name), &[code, code], "raises an exception");
        }
        for name in NAN_REDUCTIONS {
            reduction_refused(name, code, "Float32 and Float16");
        }
    }
}

#[test]
fn signs_refuse_64_bit_integers_and_bool() {
    let _test = rule(Reported("pytorch/pytorch UnaryOps.mm clamps to -1 and 1 instead; `signbitOp_i64` is missing"));
    for code in [I64, U64, BOOL] {
        for name in SIGNS {
            types_refused(&unary(name), &[code], "no kernel for 64-bit integers");
        }
    }
}

#[test]
fn floor_modulo_refuses_64_bit_integers() {
    let _test = rule(Reported("pytorch/pytorch#84995: it floors, and `floorOp_i64` is missing"));
    for code in [I64, U64] {
        types_refused(&binary("floorModulo"), &[code, code], "no kernel for 64-bit integers");
    }
}

#[test]
fn arithmetic_refuses_bool() {
    let _test = rule(Reported("pedronahum/MetalHLO MPSGraphCompiler.swift: numbers and truth values do not mix"));
    for name in UNARY_NUMBERS {
        types_refused(&unary(name), &[BOOL], "bool is not a number");
    }
    for name in BINARY_NUMBERS {
        types_refused(&binary(name), &[BOOL, BOOL], "bool is not a number");
    }
}

#[test]
fn bitwise_operations_refuse_floats_and_bool() {
    let _test = rule(Documented("pedronahum/MetalHLO MPSGraphCompiler.swift; Apple's MPSGraphArithmeticOps.h"));
    for code in FLOATS.into_iter().chain([BOOL]) {
        for name in UNARY_BITS {
            types_refused(&unary(name), &[code], "only integers");
        }
        for name in BINARY_BITS {
            types_refused(&binary(name), &[code, code], "only integers");
        }
    }
}

/// Checks that a reduction refuses a tensor of this type.
#[track_caller]
fn reduction_refused(name: &str, code: u32, reason: &str) {
    let graph = Graph::new();
    let x = graph.placeholder(&[2], code);
    refused(&reduction(name), reason, || reduced(&graph, name, x, 0));
}

/// Checks that a selector with an axis refuses a tensor of this type.
#[track_caller]
fn types_refused_along_an_axis(selector: &str, code: u32, reason: &str) {
    let graph = Graph::new();
    let x = graph.placeholder(&[2], code);
    refused(selector, reason, || graph.axis_op(selector, x, 0));
}

#[test]
fn reductions_refuse_types_without_kernels() {
    let _test = rule(Reported(
        "pytorch/pytorch OperationUtils.mm, `castToIHFTypes`: everything but Int32, Int64, Float16 and Float32 is \
         cast first",
    ));
    let reason = "known to work for Float32, Float16, Int32";
    for code in [BF16, I8, U8, U32, U64, BOOL] {
        for name in [REDUCTIONS, POSITIONS].concat() {
            reduction_refused(name, code, reason);
        }
        let graph = Graph::new();
        let x = graph.placeholder(&[2], code);
        refused("meanOfTensor:axes:name:", reason, || graph.op("meanOfTensor:axes:name:", &[x, Id::NIL]));
    }
    for code in [BF16, I8, U32, U64, BOOL] {
        for name in TRUTHS {
            reduction_refused(name, code, reason);
        }
    }
}

#[test]
fn soft_max_refuses_integers_and_bool() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs: the verifier wants floating-point operands"));
    for code in INTEGERS.into_iter().chain([BOOL]) {
        types_refused_along_an_axis("softMaxWithTensor:axis:name:", code, "only floats");
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
