//! The matrix product.

use super::session::{BF16, F16, F32, Graph, floats, halves, run_one};
use crate::support::{Documented, Reported, passes_with, plain, refused, rule};

const SELECTOR: &str = "matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:";

#[test]
fn products() {
    let _test = plain();
    let a = floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let b = floats(&[3, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    let result = run_one(&[a, b], |graph, x| graph.op(SELECTOR, x));
    assert_eq!(result, floats(&[2, 2], &[4.0, 5.0, 10.0, 11.0]));
    let a = halves(&[1, 2], &[3.0, 4.0]);
    let b = halves(&[2, 1], &[2.0, 0.5]);
    let result = run_one(&[a, b], |graph, x| graph.op(SELECTOR, x));
    assert_eq!(result, halves(&[1, 1], &[8.0]));
}

#[test]
fn batches_broadcast() {
    let _test = plain();
    let a = floats(&[2, 1, 1, 2], &[1.0, 2.0, 3.0, 4.0]);
    let b = floats(&[2, 2, 1], &[1.0, 1.0, 10.0, 100.0]);
    let result = run_one(&[a, b], |graph, x| graph.op(SELECTOR, x));
    assert_eq!(result, floats(&[2, 2, 1, 1], &[3.0, 210.0, 7.0, 430.0]));
}

/// Checks that the product of tensors of these shapes and types is refused for this reason.
#[track_caller]
fn product_refused(a: &[i64], b: &[i64], codes: [u32; 2], reason: &str) {
    let graph = Graph::new();
    let operands = [graph.placeholder(a, codes[0]), graph.placeholder(b, codes[1])];
    refused(SELECTOR, reason, || graph.op(SELECTOR, &operands));
}

#[test]
fn inner_extents_are_equal() {
    let _test = rule(Documented("Apple's MPSGraphMatrixMultiplicationOps.h: M x K times K x N"));
    product_refused(&[2, 3], &[2, 3], [F32; 2], "inner extents differ");
}

#[test]
fn operands_have_two_axes_or_more() {
    let _test = rule(Reported("tillahoffmann/jax-mps ops: vectors are given a second axis first"));
    product_refused(&[3], &[3, 2], [F32; 2], "rank below 2");
    product_refused(&[2, 3], &[3], [F32; 2], "rank below 2");
}

#[test]
fn batches_that_do_not_broadcast_are_refused() {
    let _test = rule(Documented("Apple's MPSGraphMatrixMultiplicationOps.h: the axes before the last two broadcast"));
    product_refused(&[2, 2, 2], &[3, 2, 2], [F32; 2], "do not broadcast");
}

#[test]
fn long_inner_extents_are_refused() {
    let _test = rule(Reported(
        "pytorch/pytorch#177116, #195163: from 32767 on M1 and M2 read past the operands if 16 rows and columns come \
         out",
    ));
    product_refused(&[16, 32_767], &[32_767, 16], [F32; 2], "M1 and M2");
}

#[test]
fn large_batches_are_refused() {
    let _test = rule(Reported("pytorch/pytorch#189495: the count of matrices wraps around at 2^16"));
    product_refused(&[1 << 16, 1, 1], &[1, 1], [F32; 2], "wraps around");
}

#[test]
fn products_have_four_axes_before_macos_27() {
    let _test = plain();
    let on = |system, test| passes_with("MPSGRAPH_SOFT_MACOS", system, &["--ignored", "--exact", test], 1);
    on("26.0", "graph::matrix_multiplication::products_of_five_axes_are_refused");
    on("27.0", "graph::matrix_multiplication::products_of_five_axes");
}

#[test]
#[ignore = "run by `products_have_four_axes_before_macos_27` with the environment it needs"]
fn products_of_five_axes_are_refused() {
    let _test = rule(Reported("pytorch/pytorch#114942, #117837: a constant of these shapes ends the process"));
    product_refused(&[2, 1, 2, 1, 2], &[2, 3], [F32; 2], "before macOS 27");
}

#[test]
#[ignore = "run by `products_have_four_axes_before_macos_27` with the environment it needs"]
fn products_of_five_axes() {
    let _test = rule(Reported("pytorch/pytorch#187379: macOS 27 multiplies more than four axes"));
    let a = floats(&[2, 1, 2, 1, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let b = floats(&[2, 1], &[1.0, 10.0]);
    let result = run_one(&[a, b], |graph, x| graph.op(SELECTOR, x));
    assert_eq!(result, floats(&[2, 1, 2, 1, 1], &[21.0, 43.0, 65.0, 87.0]));
}

#[test]
fn products_of_16_bits_have_two_axes_on_m5() {
    let _test = plain();
    let with = |family, test| passes_with("MPSGRAPH_SOFT_GPU_FAMILY", family, &["--ignored", "--exact", test], 1);
    with("10", "graph::matrix_multiplication::products_of_16_bits_with_more_axes_are_refused");
    for family in ["7", "8", "9"] {
        with(family, "graph::matrix_multiplication::products_of_16_bits_have_any_number_of_axes");
    }
}

#[test]
#[ignore = "run by `products_of_16_bits_have_two_axes_on_m5` with the environment it needs"]
fn products_of_16_bits_have_any_number_of_axes() {
    let _test = plain();
    let a = halves(&[2, 1, 2], &[3.0, 4.0, 5.0, 6.0]);
    let b = halves(&[2, 1], &[2.0, 0.5]);
    let result = run_one(&[a, b], |graph, x| graph.op(SELECTOR, x));
    assert_eq!(result, halves(&[2, 1, 1], &[8.0, 13.0]));
}

#[test]
#[ignore = "run by `products_of_16_bits_have_two_axes_on_m5` with the environment it needs"]
fn products_of_16_bits_with_more_axes_are_refused() {
    let _test = rule(Reported("pytorch/pytorch#180776: on M5 such products differ from run to run"));
    for code in [F16, BF16] {
        product_refused(&[2, 2, 2], &[2, 2], [code; 2], "not deterministic on M5");
        product_refused(&[2, 2], &[2, 2, 2], [code; 2], "not deterministic on M5");
    }
}

#[test]
fn extents_beyond_two_to_the_fifteenth() {
    let _test = rule(Reported("pytorch/pytorch#116769, #111634; mps/operations/LinearAlgebra.mm"));
    let on = |a: &[i64], b: &[i64]| {
        let build = || {
            let graph = Graph::new();
            let operands = [graph.placeholder(a, F32), graph.placeholder(b, F32)];
            graph.op(SELECTOR, &operands)
        };
        if mpsgraph_soft::objc::version::macos() < (14, 4) {
            refused(SELECTOR, "before macOS 14.4", build);
        } else {
            build();
        }
    };
    on(&[32_769, 2], &[2, 2]);
    on(&[2, 2], &[2, 32_769]);
    on(&[1, 32_769], &[32_769, 1]);
    let graph = Graph::new();
    let operands = [graph.placeholder(&[32_768, 2], F32), graph.placeholder(&[2, 32_768], F32)];
    graph.op(SELECTOR, &operands);
}
