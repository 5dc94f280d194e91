//! Movements against the index formulas of their definitions, through `KernelOp::execute`.

use super::Movement;
use crate::ir::{DType, TensorType};
use crate::kernels::KernelOp;
use crate::kernels::call::Input;
use crate::kernels::row_major::{coordinates, flat};
use crate::kernels::span::{Span, SpanMut};

/// Runs `op` on operands of `shapes`, whose elements count on from one operand to the next, for two element sizes;
/// `expected` gives the element for the coordinates of each result.
fn check(op: Movement, shapes: &[&[usize]], out_shape: &[usize], expected: impl Fn(&[usize]) -> usize) {
    let op = KernelOp::from(op);
    let count = out_shape.iter().product();
    let expected: Vec<usize> = (0..count).map(|i| expected(&coordinates(out_shape, i))).collect();
    macro_rules! run {
        ($t:ident, $dtype:expr) => {
            let mut next = 0usize;
            let mut operand = |&shape: &&[usize]| {
                let n = shape.iter().product::<usize>();
                next += n;
                let values = (next - n..next).map(|x| x as $t).collect::<Vec<_>>();
                (values, TensorType::new($dtype, shape))
            };
            let operands: Vec<_> = shapes.iter().map(&mut operand).collect();
            let mut inputs: Vec<Input> = Vec::new();
            for (x, ty) in &operands {
                // SAFETY: the operands outlive the spans and are not written.
                inputs.push(Input { span: unsafe { Span::of(x) }, ty, strides: None });
            }
            let mut out = vec![$t::MAX; count];
            let ty = TensorType::new($dtype, out_shape);
            // SAFETY: the result is touched through this span alone until `execute` is done.
            op.execute("test", &inputs, (unsafe { SpanMut::of(&mut out) }, &ty), None);
            let expected: Vec<$t> = expected.iter().map(|&x| x as $t).collect();
            assert!(out == expected, "{op:?} of {shapes:?}: {out:?} is not {expected:?}");
        };
    }
    run!(u8, DType::U8);
    run!(i16, DType::I16);
    run!(i64, DType::I64);
}

#[test]
fn slice_update() {
    let op = Movement::SliceUpdate { starts: vec![1, 6], strides: vec![1, -2] };
    check(op, &[&[4, 7], &[2, 3]], &[4, 7], |at| {
        let column = (0..3).find(|j| 6 - 2 * j == at[1]);
        match column {
            Some(j) if (1..3).contains(&at[0]) => 28 + (at[0] - 1) * 3 + j,
            _ => at[0] * 7 + at[1],
        }
    });
}

/// What is kept is copied as a whole if little is replaced or rows beside it are short, else without what is replaced.
#[test]
fn slice_update_of_a_region() {
    let cases: [[[usize; 3]; 3]; 6] = [
        [[2, 3, 400], [2, 3, 100], [0, 0, 100]],
        [[4, 5, 40], [2, 5, 40], [1, 0, 0]],
        [[3, 4, 300], [3, 2, 300], [0, 2, 0]],
        [[3, 4, 300], [2, 3, 40], [1, 0, 256]],
        [[3, 4, 300], [3, 4, 300], [0, 0, 0]],
        [[3, 40, 2], [3, 1, 2], [0, 39, 0]],
    ];
    for [shape, update, starts] in cases {
        let op = Movement::SliceUpdate { starts: starts.to_vec(), strides: vec![1; 3] };
        check(op, &[&shape, &update], &shape, |at| {
            let inside = (0..3).all(|axis| (starts[axis]..starts[axis] + update[axis]).contains(&at[axis]));
            let of_update: Vec<usize> = (0..3).map(|axis| at[axis].wrapping_sub(starts[axis])).collect();
            if inside { shape.iter().product::<usize>() + flat(&update, &of_update) } else { flat(&shape, at) }
        });
    }
}

#[test]
fn concat() {
    check(Movement::Concat { axis: 1 }, &[&[2, 3, 2], &[2, 1, 2], &[2, 5, 2]], &[2, 9, 2], |at| match at[1] {
        0..3 => flat(&[2, 3, 2], at),
        3 => 12 + at[0] * 2 + at[2],
        _ => 16 + flat(&[2, 5, 2], &[at[0], at[1] - 4, at[2]]),
    });
}

#[test]
fn concat_of_long_runs() {
    check(Movement::Concat { axis: 1 }, &[&[3, 1, 40], &[3, 2, 40]], &[3, 3, 40], |at| match at[1] {
        0 => at[0] * 40 + at[2],
        _ => 120 + flat(&[3, 2, 40], &[at[0], at[1] - 1, at[2]]),
    });
}

#[test]
fn pad() {
    for before in [[0, 0, 0], [1, 2, 0], [0, 3, 2]] {
        for after in [[0, 0, 0], [2, 0, 1], [0, 1, 3]] {
            let shape = [2, 3, 4];
            let out: Vec<usize> = (0..3).map(|axis| before[axis] + shape[axis] + after[axis]).collect();
            let op = Movement::Pad { before: before.to_vec(), value: 77u64.to_le_bytes() };
            check(op, &[&shape], &out, |at| {
                let from: Vec<usize> = (0..3).map(|axis| at[axis].wrapping_sub(before[axis])).collect();
                let inside = (0..3).all(|axis| from[axis] < shape[axis]);
                if inside { flat(&shape, &from) } else { 77 }
            });
        }
    }
}

#[test]
#[should_panic(expected = "an empty tensor")]
fn empty_tensors_are_refused() {
    check(Movement::Concat { axis: 0 }, &[&[0]], &[0], |_| 0);
}
