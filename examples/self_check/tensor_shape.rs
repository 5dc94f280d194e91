//! Moving elements. Every element is a number of its own, so the references are coordinates.

use burn::tensor::{DType, Int, Tensor, s};
use test_support::Outcome;

use crate::agreement::{close_floats, same_integers};
use crate::table::{Trap, check};
use crate::values::{B, bools, coordinates, f32s, ints, noise, position};

pub const TRAPS: &[Trap] = &[
    check("transposed, sliced and flipped operands of one operation", operands),
    check("cat along each dim, many operands, i64", cats),
    check("cat of bools", cat_of_bools),
    check("a slice of the last dim read with the first one in two", slices_read_in_other_shapes),
];

const LARGE: i64 = 1 << 40;

/// An i64 tensor whose elements are their positions, offset by so much that f32 could not tell them apart.
fn numbered<const D: usize>(shape: [usize; D]) -> Tensor<B, D, Int> {
    let count: usize = shape.iter().product();
    ints(&(0..count as i64).map(|i| i + LARGE).collect::<Vec<_>>(), shape, DType::I64)
}

/// Fails unless each element of `got` comes from the coordinate that `from` gives for its own.
fn moved<const D: usize, const E: usize>(
    got: Tensor<B, E, Int>,
    shape: [usize; E],
    source: [usize; D],
    from: impl Fn(&[usize]) -> Vec<usize>,
) -> Outcome {
    let expected: Vec<i128> =
        coordinates(&shape).iter().map(|at| position(&source, &from(at)) as i128 + i128::from(LARGE)).collect();
    same_integers(&got.into_data(), &shape, &expected)
}

fn operands() -> Outcome {
    let shape = [5, 5];
    let x = noise(25, 1);
    let tensor = || f32s(&x, shape);
    let got = tensor().transpose() * tensor().flip([0]) + tensor().slice(s![2..3, ..])
        - tensor().transpose().slice(s![.., 1..2]);
    let expected: Vec<f64> = coordinates(&shape)
        .iter()
        .map(|at| x[at[1] * 5 + at[0]] * x[(4 - at[0]) * 5 + at[1]] + x[10 + at[1]] - x[5 + at[0]])
        .collect();
    close_floats(&got.into_data(), &shape, &expected, crate::agreement::F32)
}

fn cats() -> Outcome {
    let shape = [3, 4, 5];
    let many: Vec<_> = (0..40).map(|i| numbered([40, 3]).slice(s![i..i + 1, ..])).collect();
    Outcome::of([
        moved(Tensor::cat(vec![numbered(shape), numbered(shape)], 0), [6, 4, 5], shape, |at| {
            vec![at[0] % 3, at[1], at[2]]
        }),
        moved(Tensor::cat(vec![numbered(shape), numbered(shape)], 1), [3, 8, 5], shape, |at| {
            vec![at[0], at[1] % 4, at[2]]
        }),
        moved(Tensor::cat(vec![numbered(shape), numbered(shape)], 2), [3, 4, 10], shape, |at| {
            vec![at[0], at[1], at[2] % 5]
        }),
        moved(Tensor::cat(many, 0), [40, 3], [40, 3], |at| at.to_vec()),
    ])
}

fn cat_of_bools() -> Outcome {
    let (x, y) = ([true, false, true, true, false, false], [false, true]);
    let (first, second) = (|| bools(&x, [2, 3]), || bools(&y, [2, 1]));
    let joined = Tensor::cat(vec![first(), second(), first().bool_not()], 1);
    let expected = [[1, 0, 1, 0, 0, 1, 0], [1, 0, 0, 1, 0, 1, 1]].concat();
    let counted = joined.clone().int().sum_dim(1);
    Outcome::of([
        same_integers(&joined.int().into_data(), &[2, 7], &expected),
        same_integers(&counted.into_data(), &[2, 1], &[3, 4]),
    ])
}

/// The reshape takes the place of the slice in Core ML (MIT-RLX/rlx), where it loses the slice's beginning.
fn slices_read_in_other_shapes() -> Outcome {
    let (from, shape) = ([6, 12], [2, 3, 4]);
    let x = noise(72, 1);
    let part = |first: usize| (f32s(&x, from) * 1.0).slice(s![.., first..first + 4]).reshape(shape);
    let got = [part(4), part(8) * 2.0, part(8) + part(4)];
    let at = |first: usize, at: &[usize]| x[(at[0] * 3 + at[1]) * 12 + first + at[2]];
    let each = |value: &dyn Fn(&[usize]) -> f64| coordinates(&shape).iter().map(|at| value(at)).collect::<Vec<f64>>();
    let expected = [each(&|p| at(4, p)), each(&|p| 2.0 * at(8, p)), each(&|p| at(8, p) + at(4, p))];
    let compared = got.into_iter().zip(&expected);
    Outcome::of(compared.map(|(got, expected)| close_floats(&got.into_data(), &shape, expected, crate::agreement::F32)))
}
