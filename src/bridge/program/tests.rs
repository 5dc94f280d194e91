//! Where barriers stand in a program.

use std::sync::Arc;

use burn_backend::ops::ConvOptions;
use burn_backend::{DType, Shape};

use super::*;
use crate::bridge::draft::{BARRIER, Draft, Flow};
use crate::bridge::recording::Cut;
use crate::bridge::thread::current;
use crate::ffi::os_version;
use crate::lowering::scalar::ScalarInput;
use crate::ops::arithmetic::{self, ArithmeticOp, BinaryOp, UnaryOp};
use crate::ops::convolution::conv;
use crate::ops::matrix_multiplication::matmul;
use crate::ops::tensor_shape::{expand, permute, reshape, slice, transpose};
use crate::ops::{activation, memory, random, reduction};
use crate::tensor::MpsGraphTensor;

/// A value that depends on a run.
fn made(shape: &[usize], dtype: DType) -> MpsGraphTensor {
    let shape = Shape::from(shape.to_vec());
    random::random("random", shape, burn_backend::Distribution::Default, dtype)
}

/// The program that gives what `make` records, and its scalars.
fn program(make: impl FnOnce() -> MpsGraphTensor) -> (Program, Vec<ScalarInput>) {
    let _wanted = make();
    let recording = current().expect("the thread is not ending");
    let segment = recording.cut(Cut::Everything, &Arc::default()).expect("something was recorded");
    let draft = Draft::new(&Flow::new(&segment), &segment.wanted, &vec![false; segment.nodes.len()]);
    let draft = draft.expect("something is wanted");
    assert!(draft.is(&draft.program()));
    (draft.program(), draft.scalars)
}

/// For each operand of the program's products whether it is read through a barrier.
fn barriers(make: impl FnOnce() -> MpsGraphTensor) -> Vec<[bool; 2]> {
    let (program, scalars) = program(make);
    let products = program.nodes.iter().filter(|node| matches!(node.op, Op::MatrixMultiplication(_)));
    let found: Vec<[bool; 2]> = products.map(|node| [node.inputs[0].barrier, node.inputs[1].barrier]).collect();
    let any = found.contains(&[true, false]) || found.iter().any(|pair| pair[1]);
    let of_nodes: usize = program.nodes.iter().map(|node| node.scalars.len()).sum();
    assert_eq!(scalars[of_nodes..], [BARRIER; 1][..usize::from(any)], "minus infinity is fed if a barrier needs it");
    assert_eq!(any, program.to_string().contains(" |"));
    found
}

fn scores() -> MpsGraphTensor {
    matmul(made(&[3, 20, 4], DType::F32), made(&[3, 4, 20], DType::F32))
}

fn value() -> MpsGraphTensor {
    made(&[3, 20, 5], DType::F32)
}

fn exponentials() -> MpsGraphTensor {
    let x = scores();
    let top = reduction::max_dim(x.clone(), 2);
    arithmetic::unary(UnaryOp::Exp, arithmetic::binary(BinaryOp::Sub, x, top))
}

const NONE: [bool; 2] = [false, false];

#[test]
fn a_softmax_times_a_matrix() {
    let attention = [NONE, [true, false]];
    let weights = || activation::softmax(scores(), 2);
    assert_eq!(barriers(|| matmul(weights(), value())), attention);
    assert_eq!(barriers(|| matmul(activation::softmin(scores(), 2), value())), attention);
    let seen_otherwise = || {
        let narrow = arithmetic::cast(transpose(weights()), DType::F16);
        transpose(arithmetic::cast(narrow, DType::F32))
    };
    assert_eq!(barriers(|| matmul(seen_otherwise(), value())), attention);
    assert_eq!(barriers(|| matmul(transpose(value()), transpose(weights()))), [NONE, [false, true]]);
    let zero = || memory::zeros([3, 20, 20].into(), DType::F32);
    assert_eq!(barriers(|| matmul(arithmetic::binary(BinaryOp::Add, weights(), zero()), value())), attention);
}

#[test]
fn exponentials_over_their_sum_times_a_matrix() {
    let attention = [NONE, [true, false]];
    let divided = || {
        let x = exponentials();
        let sum = reduction::sum_dim(x.clone(), 2);
        arithmetic::binary(BinaryOp::Div, x, sum)
    };
    assert_eq!(barriers(|| matmul(divided(), value())), attention);
    let shared = || {
        let x = exponentials();
        let sum = reduction::sum_dim(x.clone(), 2);
        let share = arithmetic::unary(UnaryOp::Recip, sum);
        arithmetic::binary(BinaryOp::Mul, share, x)
    };
    assert_eq!(barriers(|| matmul(shared(), value())), attention);
}

#[test]
fn what_is_not_a_softmax_pays_nothing() {
    assert_eq!(barriers(|| matmul(exponentials(), value())), [NONE; 2]);
    let relu = || activation::relu(scores());
    assert_eq!(barriers(|| matmul(relu(), value())), [NONE; 2]);
    assert_eq!(barriers(|| activation::softmax(scores(), 2)), [NONE]);
    // A product hides the values that went into it.
    let attended = || matmul(activation::softmax(scores(), 2), value());
    let after = || matmul(attended(), made(&[3, 5, 5], DType::F32));
    assert_eq!(barriers(after), [NONE, [true, false], NONE]);
}

#[test]
fn repeated_rows() {
    let repeated = || expand(made(&[1, 4], DType::F32), [64, 4].into());
    let found = barriers(|| matmul(repeated(), made(&[4, 8], DType::F32)));
    assert_eq!(found, [[os_version::at_least(15, 0), false]]);
}

#[test]
fn narrow_slices_with_few_rows() {
    let columns = [burn_backend::Slice::full(), burn_backend::Slice::new(3, Some(40), 1)];
    let product = |rows: usize, columns_out: usize, dtype: DType| {
        let x = slice(made(&[rows, 64], dtype), &columns);
        matmul(x, arithmetic::unary(UnaryOp::Neg, made(&[37, columns_out], dtype)))
    };
    assert_eq!(barriers(|| product(16, 64, DType::F16)), [[true, false]]);
    assert_eq!(barriers(|| product(64, 16, DType::BF16)), [[true, false]]);
    assert_eq!(barriers(|| product(64, 64, DType::F16)), [NONE]);
    assert_eq!(barriers(|| product(16, 64, DType::F32)), [NONE]);
}

#[test]
fn turned_matrices_with_few_rows() {
    let turned = || transpose(made(&[1, 40, 64], DType::F16));
    let hides = os_version::at_least(27, 0);
    let row = |width: usize| arithmetic::unary(UnaryOp::Neg, made(&[1, width], DType::F16));
    // The matrix stays one, whether the extent of 1 in front of it does or not.
    assert_eq!(barriers(|| matmul(row(64), reshape(turned(), [64, 40].into()))), [[false, hides]]);
    // The rows of two matrices side by side are apart.
    assert_eq!(barriers(|| matmul(row(32), reshape(turned(), [32, 80].into()))), [[false, true]]);
}

#[test]
fn reshapes_with_two_extents_of_one() {
    let hides = os_version::at_least(26, 0);
    let flattened = || reshape(made(&[2, 1, 2, 1, 2], DType::F32), [4, 2].into());
    let found = barriers(|| matmul(flattened(), made(&[2, 4], DType::F32)));
    assert_eq!(found, [[hides, false]]);
    // The product itself: a row times a column.
    let negative = |shape: &[usize]| arithmetic::unary(UnaryOp::Neg, made(shape, DType::F32));
    assert_eq!(barriers(|| matmul(negative(&[1, 4]), negative(&[4, 1]))), [[hides; 2]]);
    let ordinary = || reshape(made(&[2, 2, 2], DType::F32), [4, 2].into());
    assert_eq!(barriers(|| matmul(ordinary(), made(&[2, 4], DType::F32))), [NONE]);
}

#[test]
fn reshapes_to_matrices_of_halves() {
    let hides = os_version::at_least(27, 0);
    for dtype in [DType::F16, DType::BF16] {
        let flattened = || reshape(made(&[2, 2, 2], dtype), [4, 2].into());
        let negative = |x: MpsGraphTensor| arithmetic::unary(UnaryOp::Neg, x);
        assert_eq!(barriers(|| matmul(flattened(), negative(made(&[2, 4], dtype)))), [[hides, false]]);
        assert_eq!(barriers(|| matmul(negative(flattened()), negative(made(&[2, 4], dtype)))), [NONE]);
    }
}

#[test]
fn readers_with_two_extents_of_one() {
    let hides = os_version::at_least(26, 0);
    let product = || matmul(reshape(made(&[6], DType::F32), [2, 3].into()), made(&[3, 2], DType::F32));
    let negative = |x: MpsGraphTensor| arithmetic::unary(UnaryOp::Neg, x);
    assert_eq!(barriers(|| negative(reshape(product(), [1, 4].into()))), [NONE]);
    // Both operands are made here, so either may end in a reshape.
    let read = barriers(|| negative(reshape(product(), [1, 1, 4].into())));
    assert_eq!(read, [[hides; 2]]);
    let through_a_cast = || reshape(arithmetic::cast(product(), DType::F16), [4, 1, 1].into());
    assert_eq!(barriers(|| negative(through_a_cast())), [[hides; 2]]);
    // Five axes are folded to three inside of the lowering: [1, 1, 16] here.
    let large = || matmul(reshape(made(&[12], DType::F32), [4, 3].into()), made(&[3, 4], DType::F32));
    let folded = || activation::softmax(reshape(large(), [1, 2, 2, 2, 2].into()), 0);
    assert_eq!(barriers(folded), [[hides; 2]]);
    let operand = || reduction::sum_dim(made(&[3, 2, 2, 2, 2], DType::F32), 0);
    let found = barriers(|| matmul(reshape(operand(), [8, 2].into()), made(&[2, 2], DType::F32)));
    assert_eq!(found, [[hides, false]]);
}

#[test]
fn programs_that_differ_in_a_barrier_differ() {
    let ready = made(&[20, 20], DType::F32);
    let whole = program(|| matmul(activation::softmax(ready.clone(), 1), ready.clone())).0;
    let mut bare = whole.clone();
    bare.nodes.iter_mut().flat_map(|node| &mut node.inputs).for_each(|input| input.barrier = false);
    assert!(whole.nodes != bare.nodes);
}

#[test]
fn convolutions_of_views() {
    let of = |x: MpsGraphTensor, weight: MpsGraphTensor| {
        let (program, _) = program(|| conv(x, weight, None, ConvOptions::new([1, 1], [0, 0], [1, 1], 1)));
        let mut nodes = program.nodes.iter().filter(|node| matches!(node.op, Op::Convolution(_)));
        let node = nodes.next().expect("one convolution is recorded");
        [node.inputs[0].barrier, node.inputs[1].barrier]
    };
    let plain = |shape: [usize; 4]| made(&shape, DType::F32);
    let channels = [burn_backend::Slice::full(), burn_backend::Slice::new(1, Some(3), 1)];
    let since_15 = os_version::at_least(15, 0);
    assert_eq!(of(plain([2, 2, 5, 5]), plain([3, 2, 3, 3])), NONE);
    assert_eq!(of(slice(plain([2, 4, 5, 5]), &channels), plain([3, 2, 3, 3])), [since_15, false]);
    let turned = permute(plain([2, 3, 3, 3]), &[1, 0, 2, 3]);
    assert_eq!(of(plain([2, 2, 5, 5]), turned), [false, since_15]);
    let repeated = expand(plain([2, 1, 5, 5]), [2, 2, 5, 5].into());
    assert_eq!(of(repeated, plain([3, 2, 3, 3])), [since_15, false]);
    assert_eq!(of(arithmetic::unary(UnaryOp::Neg, plain([2, 2, 5, 5])), plain([3, 2, 3, 3])), NONE);
}

/// For each cast of the program whether it reads its operand through a barrier.
fn barriers_of_casts(make: impl FnOnce() -> MpsGraphTensor) -> Vec<bool> {
    let (program, _) = program(make);
    let casts = program.nodes.iter().filter(|node| matches!(node.op, Op::Arithmetic(ArithmeticOp::Cast)));
    casts.map(|node| node.inputs[0].barrier).collect()
}

#[test]
fn casts_of_casts_that_lose_something() {
    let floats = || made(&[2, 3], DType::F32);
    let through = |x: MpsGraphTensor, each: &[DType]| each.iter().fold(x, |x, &dtype| arithmetic::cast(x, dtype));
    assert_eq!(barriers_of_casts(|| through(floats(), &[DType::BF16, DType::F32])), [false, true]);
    assert_eq!(barriers_of_casts(|| through(floats(), &[DType::F16, DType::BF16, DType::F32])), [false, true, true]);
    assert_eq!(barriers_of_casts(|| through(floats(), &[DType::I32, DType::F32])), [false, true]);
    let wide = || through(floats(), &[DType::I64]);
    assert_eq!(barriers_of_casts(|| through(wide(), &[DType::I32, DType::I64])), [false, true, true]);
    let small = || through(wide(), &[DType::I8]);
    assert_eq!(barriers_of_casts(|| through(wide(), &[DType::F32, DType::I64])), [false, true, true]);
    assert_eq!(barriers_of_casts(|| through(small(), &[DType::BF16, DType::F32])), [false, true, false, false]);
    let short = [DType::I16, DType::BF16, DType::F32];
    assert_eq!(barriers_of_casts(|| through(floats(), &short)), [false, false, true]);
    // No integers hold those of u64, so they do not fit before.
    assert_eq!(barriers_of_casts(|| through(floats(), &[DType::U64, DType::I32])), [false, true]);
    // Moved in between.
    let turned = || arithmetic::cast(transpose(arithmetic::cast(floats(), DType::F16)), DType::F32);
    assert_eq!(barriers_of_casts(turned), [false, true]);
    // A mean is computed in 64 bits.
    let (mean, _) = program(|| reduction::mean_dim(through(wide(), &[DType::I32]), 1));
    let mean = mean.nodes.iter().find(|node| matches!(node.op, Op::Reduction(_))).expect("one is recorded");
    assert!(mean.inputs[0].barrier);
    // Nothing is lost, or the values fit before the cast, or there is an op in between.
    assert_eq!(barriers_of_casts(|| through(made(&[2, 3], DType::F16), &[DType::F32, DType::F16])), [false, false]);
    assert_eq!(barriers_of_casts(|| through(floats(), &[DType::I8, DType::I32, DType::F32])), [false; 3]);
    let apart = || {
        let narrow = arithmetic::cast(floats(), DType::F16);
        arithmetic::cast(arithmetic::unary(UnaryOp::Neg, narrow), DType::F32)
    };
    assert_eq!(barriers_of_casts(apart), [false, false]);
}
