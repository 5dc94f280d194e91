//! Which element types the tensors of each operation may have.
//!
//! Each operation is in one class. A class is tried with all twelve types: those that it does not take must be refused.

use mpsgraph_soft::mpsgraph::graph::CLASS;

use super::call::{Base, Call, Role};
use super::{all_operations, none, operations};
use crate::graph::selectors::{
    BINARY_BITS, BINARY_NUMBERS, COMPARISONS, LOGIC, Listed, NAN_KEEPERS, NAN_REDUCTIONS, POSITIONS, REDUCTIONS,
    ROUNDING, SIGNS, TESTS, TRUTHS, UNARY_BITS, UNARY_FLOATS, UNARY_NUMBERS, binary, reduction, selectors, unary,
    whole,
};
use crate::graph::session::{BF16, BOOL, F16, F32, I8, I16, I32, I64, U8, U16, U32, U64};
use crate::support::{Assumed, Documented, Probed, Reported, outcome, plain, rule};

const ALL: &[u32] = &[F32, F16, BF16, I8, I16, I32, I64, U8, U16, U32, U64, BOOL];
const FLOATS: &[u32] = &[F32, F16, BF16];
const BITS: &[u32] = &[I32, I8, I16, U8];
const NUMBERS: &[u32] = &[F32, F16, BF16, I8, I16, I32, I64, U8, U16, U32, U64];
const COMPUTED: &[u32] = &[F32, F16, BF16, I8, I16, I32, I64, U8];
const COMPARED: &[u32] = &[F32, F16, BF16, I8, I16, I32, I64, U8, BOOL];
const UP_TO_32_BITS: &[u32] = &[F32, F16, BF16, I8, I16, I32, U8];
const REDUCED: &[u32] = &[F32, F16, I32, I64];
const REDUCED_FLOATS: &[u32] = &[F32, F16];
const REDUCED_TO_TRUTHS: &[u32] = &[F32, F16, I32, I64, U8];
const MOVED: &[u32] = &[F32, F16, BF16, I8, I16, U8, U16, BOOL];

/// Operations whose tensors may have the same types.
struct Types {
    accepted: &'static [u32],
    /// What the refusal of another type says.
    reason: &'static str,
    operations: &'static [Listed],
}

const FUNCTIONS: Types =
    Types { accepted: FLOATS, reason: "only floats", operations: &[(unary, UNARY_FLOATS), (binary, &["atan2"])] };
const ROUNDINGS: Types = Types { accepted: FLOATS, reason: "only floats", operations: &[(unary, ROUNDING)] };
const ABOUT_NAN: Types =
    Types { accepted: FLOATS, reason: "raises an exception", operations: &[(unary, TESTS), (binary, NAN_KEEPERS)] };
const NAN_REDUCING: Types =
    Types { accepted: REDUCED_FLOATS, reason: "Float32 and Float16", operations: &[(reduction, NAN_REDUCTIONS)] };
const OF_FLOATS: Types = Types {
    accepted: FLOATS,
    reason: "only floats",
    operations: &[(whole, &["softMaxWithTensor:axis:name:", "convolution2D…"]), (binary, &["matrixMultiplication"])],
};
const SIGNS_OF: Types =
    Types { accepted: UP_TO_32_BITS, reason: "no kernel for 64-bit integers", operations: &[(unary, SIGNS)] };
const FLOORED: Types = Types {
    accepted: UP_TO_32_BITS,
    reason: "no kernel for 64-bit integers",
    operations: &[(binary, &["floorModulo", "modulo"])],
};
const ARITHMETIC: Types = Types {
    accepted: COMPUTED,
    reason: "bool is not a number",
    operations: &[
        (unary, UNARY_NUMBERS),
        (binary, BINARY_NUMBERS),
        (
            whole,
            &[
                "clampWithTensor:minValueTensor:maxValueTensor:name:",
                "reLUGradientWithIncomingGradient:sourceTensor:name:",
            ],
        ),
    ],
};
const BITWISE: Types =
    Types { accepted: BITS, reason: "only integers", operations: &[(unary, UNARY_BITS), (binary, BINARY_BITS)] };
const REDUCING: Types = Types {
    accepted: REDUCED,
    reason: "known to work for Float32, Float16, Int32",
    operations: &[(reduction, REDUCTIONS), (reduction, POSITIONS), (whole, &["meanOfTensor:axes:name:"])],
};
const SCANNING: Types = Types {
    accepted: REDUCED,
    reason: "known to work for Float32, Float16, Int32",
    operations: &[(whole, &["cumulative…"])],
};
const SORTING: Types = Types {
    accepted: REDUCED,
    reason: "known to work for Float32, Float16, Int32",
    operations: &[(whole, &["sortWithTensor:axis:descending:name:"])],
};
const REDUCING_TO_TRUTHS: Types = Types {
    accepted: REDUCED_TO_TRUTHS,
    reason: "known to work for Float32, Float16, Int32",
    operations: &[(reduction, TRUTHS)],
};
const MOVING: Types = Types {
    accepted: MOVED,
    reason: "corrupted beyond 2^24",
    operations: &[(
        whole,
        &[
            "gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:",
            "gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:name:",
            "gatherAlongAxis:withUpdatesTensor:indicesTensor:name:",
            "scatterWithDataTensor:updatesTensor:indicesTensor:axis:mode:name:",
            "scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:",
            "scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:",
            "scatterNDWithUpdatesTensor:indicesTensor:shape:batchDimensions:mode:name:",
            "scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:",
            "scatterAlongAxis:withUpdatesTensor:indicesTensor:shape:mode:name:",
        ],
    )],
};
const PADDING: Types = Types {
    accepted: NUMBERS,
    reason: "cast to Int8 first",
    operations: &[(whole, &["padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:"])],
};
const REINTERPRETING: Types = Types {
    accepted: NUMBERS,
    reason: "bits of Bool",
    operations: &[(whole, &["reinterpretCastTensor:toType:name:"])],
};
const COMPARING: Types = Types {
    accepted: COMPARED,
    reason: "no kernel has been seen",
    operations: &[
        (binary, COMPARISONS),
        (whole, &["selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:"]),
    ],
};
const OF_ANY_TYPE: Types = Types {
    accepted: ALL,
    reason: "",
    operations: &[
        (unary, &["identity", "not"]),
        (binary, LOGIC),
        (
            whole,
            &[
                "castTensor:toType:name:",
                "reshapeTensor:withShape:name:",
                "transposeTensor:permutation:name:",
                "reverseTensor:axes:name:",
                "broadcastTensor:toShape:name:",
                "concatTensors:dimension:name:",
                "sliceTensor:dimension:start:length:name:",
                "sliceTensor:starts:ends:strides:name:",
                "sliceUpdateDataTensor:updateTensor:starts:ends:strides:name:",
                "sliceUpdateDataTensor:updateTensor:starts:ends:strides:startMask:endMask:squeezeMask:name:",
            ],
        ),
    ],
};

const CLASSES: &[Types] = &[
    FUNCTIONS,
    ROUNDINGS,
    ABOUT_NAN,
    NAN_REDUCING,
    OF_FLOATS,
    SIGNS_OF,
    FLOORED,
    ARITHMETIC,
    BITWISE,
    REDUCING,
    SCANNING,
    SORTING,
    REDUCING_TO_TRUTHS,
    MOVING,
    PADDING,
    REINTERPRETING,
    COMPARING,
    OF_ANY_TYPE,
];

impl Types {
    fn selectors(&self) -> Vec<String> {
        selectors(self.operations)
    }

    /// Checks that the operations of this class take its types and no others.
    #[track_caller]
    fn check(&self) {
        let selectors = self.selectors();
        let mut found = Vec::new();
        for method in operations().filter(|method| selectors.iter().any(|selector| selector == method.selector())) {
            for &code in ALL {
                let call = Call::new(method, Base::with_code(method, &[2, 2], code));
                let taken = self.accepted.contains(&code);
                let selector = method.selector();
                match outcome(|| call.send()) {
                    Ok(_) if taken => {}
                    Err(text) if !taken && text.contains(selector) && text.contains(self.reason) => {}
                    Ok(_) => found.push(format!("{selector} takes tensors of type {code:#x}")),
                    Err(text) => found.push(format!("{selector} with tensors of type {code:#x}: {text}")),
                }
            }
        }
        none(&found);
    }
}

/// The types that an operation's tensors may have; none for an operation in no class.
pub fn accepted(selector: &str) -> &'static [u32] {
    let class = CLASSES.iter().find(|class| class.selectors().iter().any(|listed| listed == selector));
    class.map_or(&[], |class| class.accepted)
}

#[test]
fn every_operation_on_tensors_is_in_one_class() {
    let _test = plain();
    let listed: Vec<String> = CLASSES.iter().flat_map(Types::selectors).collect();
    let mut found = Vec::new();
    for method in all_operations() {
        let selector = method.selector();
        let times = listed.iter().filter(|listed| *listed == selector).count();
        let takes_tensors = super::call::roles(method).iter().any(|role| matches!(role, Role::Data | Role::Tensors));
        if times != usize::from(takes_tensors) {
            found.push(format!("{selector} is in {times} classes of element types"));
        }
    }
    for selector in &listed {
        if !CLASS.instance.iter().any(|method| method.selector() == selector) {
            found.push(format!("{selector} is listed with its element types, but MPSGraph has it no more"));
        }
    }
    none(&found);
}

#[test]
fn functions_of_floats_refuse_integers_and_bool() {
    let _test = rule(Reported(
        "pytorch/pytorch aten/src/ATen/native/mps/operations/UnaryOps.mm casts integers to floats first",
    ));
    FUNCTIONS.check();
}

#[test]
fn rounding_refuses_integers_and_bool() {
    let _test = rule(Reported("pytorch/pytorch#84995: `floorOp_i64` is missing"));
    ROUNDINGS.check();
}

#[test]
fn what_tells_or_keeps_nan_refuses_integers_and_bool() {
    let _test = rule(Probed(
        "kern0x1b/charon probes on macOS 27.0: NSInvalidArgumentException, for want of kernels such as `isNaN_i64_i8`",
    ));
    ABOUT_NAN.check();
    NAN_REDUCING.check();
}

#[test]
fn soft_max_and_products_refuse_integers_and_bool() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs graph.rs, ops.rs: the verifier wants floating-point operands"));
    OF_FLOATS.check();
}

#[test]
fn signs_refuse_64_bit_integers_and_bool() {
    let _test = rule(Reported("pytorch/pytorch UnaryOps.mm clamps to -1 and 1 instead; `signbitOp_i64` is missing"));
    SIGNS_OF.check();
}

#[test]
fn floor_modulo_refuses_64_bit_integers_and_bool() {
    let _test = rule(Reported("pytorch/pytorch#84995: it floors, and `floorOp_i64` is missing"));
    FLOORED.check();
}

#[test]
fn arithmetic_refuses_bool() {
    let _test = rule(Reported("pedronahum/MetalHLO MPSGraphCompiler.swift: numbers and truth values do not mix"));
    ARITHMETIC.check();
}

#[test]
fn comparisons_and_choices_refuse_unsigned_integers_of_more_than_8_bits() {
    let _test = rule(Assumed(
        "pytorch/pytorch#159094: PyTorch has u16, u32 and u64 on MPS for filling and random numbers only; a missing \
         kernel ends the process",
    ));
    COMPARING.check();
}

#[test]
fn bitwise_operations_refuse_floats_and_bool() {
    let _test = rule(Documented("Apple's MPSGraphArithmeticOps.h; pedronahum/MetalHLO MPSGraphCompiler.swift"));
    BITWISE.check();
}

#[test]
fn running_sums_refuse_types_that_sums_refuse() {
    let _test = rule(Assumed("nothing is published of their kernels, so they are taken to be as those of reductions"));
    SCANNING.check();
}

#[test]
fn reductions_refuse_types_without_kernels() {
    let _test = rule(Reported(
        "pytorch/pytorch OperationUtils.mm, `castToIHFTypes`: everything but Int32, Int64, Float16 and Float32 is cast \
         first",
    ));
    REDUCING.check();
    REDUCING_TO_TRUTHS.check();
}

#[test]
fn sorts_refuse_types_without_kernels() {
    let _test = rule(Reported(
        "pytorch/pytorch#193730: `castToIHFTypes` was there for the element types that `sortWithTensor` does not take",
    ));
    SORTING.check();
}

#[test]
fn gathers_and_scatters_refuse_32_and_64_bit_integers() {
    let _test = rule(Reported("tillahoffmann/jax-mps gather_scatter_utils.h; pytorch/pytorch#195595"));
    MOVING.check();
}

#[test]
fn padding_with_a_constant_refuses_bool() {
    let _test = rule(Reported("pytorch/pytorch Pad.mm casts to Int8"));
    PADDING.check();
}

#[test]
fn reinterpretation_refuses_bool() {
    let _test = rule(Reported("pedronahum/MetalHLO MPSGraphCompiler.swift: bits of i1 crash the compiler"));
    REINTERPRETING.check();
}

#[test]
fn other_operations_take_all_types() {
    let _test = rule(Documented("Apple's MPSGraphTensorShapeOps.h and MPSGraphArithmeticOps.h name no types for them"));
    OF_ANY_TYPE.check();
}
