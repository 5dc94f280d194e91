//! Which operations a rule does not hold for, and why. An entry that is not needed any more fails.

use super::{all_operations, none};
use crate::graph::selectors::{
    BINARY_BITS, BINARY_NUMBERS, COMPARISONS, LOGIC, Listed, NAN_KEEPERS, NAN_REDUCTIONS, REDUCTIONS, ROUNDING, SIGNS,
    TESTS, TRUTHS, UNARY_BITS, UNARY_FLOATS, UNARY_NUMBERS, binary, reduction, selectors, unary, whole,
};
use crate::support::plain;

/// Operations that a rule does not hold for.
struct Exception {
    rule: &'static str,
    reason: &'static str,
    operations: &'static [Listed],
}

const EXCEPT: &[Exception] = &[
    Exception {
        rule: "axis before the last four",
        reason: "the assertion is reported of reductions, sorts and scans only",
        operations: &[(
            whole,
            &[
                "softMaxWithTensor:axis:name:",
                "reverseTensor:axes:name:",
                "coordinateAlongAxis:withShape:name:",
                "concatTensors:dimension:name:",
                "sliceTensor:dimension:start:length:name:",
                "gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:",
                "gatherAlongAxis:withUpdatesTensor:indicesTensor:name:",
                "scatterWithDataTensor:updatesTensor:indicesTensor:axis:mode:name:",
                "scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:",
                "scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:",
                "scatterAlongAxis:withUpdatesTensor:indicesTensor:shape:mode:name:",
            ],
        )],
    },
    Exception {
        rule: "rank 0",
        reason: "a number of rank 0 broadcasts in what is computed element by element",
        operations: &[
            (unary, UNARY_FLOATS),
            (unary, ROUNDING),
            (unary, TESTS),
            (unary, UNARY_NUMBERS),
            (unary, SIGNS),
            (unary, UNARY_BITS),
            (unary, &["identity", "not"]),
            (binary, BINARY_NUMBERS),
            (binary, NAN_KEEPERS),
            (binary, COMPARISONS),
            (binary, LOGIC),
            (binary, BINARY_BITS),
            (binary, &["floorModulo", "modulo", "atan2"]),
            (
                whole,
                &[
                    "selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:",
                    "clampWithTensor:minValueTensor:maxValueTensor:name:",
                    "castTensor:toType:name:",
                ],
            ),
        ],
    },
    Exception {
        rule: "rank 0",
        reason: "a broadcast gives a number of rank 0 a shape",
        operations: &[(whole, &["broadcastTensor:toShape:name:"])],
    },
    Exception {
        rule: "dynamic extent",
        reason: "a reshape fills in one extent of -1",
        operations: &[(whole, &["reshapeTensor:withShape:name:"])],
    },
    Exception {
        rule: "nil",
        reason: "nil axes are all axes",
        operations: &[
            (reduction, REDUCTIONS),
            (reduction, NAN_REDUCTIONS),
            (reduction, TRUTHS),
            (whole, &["meanOfTensor:axes:name:"]),
        ],
    },
];

/// Why a rule does not hold for an operation, if that is so.
pub fn reason(rule: &str, selector: &str) -> Option<&'static str> {
    let lists = |entry: &&Exception| selectors(entry.operations).iter().any(|listed| listed == selector);
    EXCEPT.iter().filter(|entry| entry.rule == rule).find(lists).map(|entry| entry.reason)
}

#[test]
fn exceptions_name_operations() {
    let _test = plain();
    let is_there = |selector: &String| all_operations().any(|method| method.selector() == selector);
    let gone = EXCEPT.iter().flat_map(|entry| selectors(entry.operations)).filter(|selector| !is_there(selector));
    none(&gone.map(|selector| format!("{selector} is an exception, but MPSGraph has it no more")).collect::<Vec<_>>());
}
