//! Moving elements. Every element is a number of its own, so the references are coordinates.

use burn::tensor::{DType, Int, Tensor, s};

use crate::agreement::{EXACT, close_floats, same_integers};
use crate::table::{Check, Outcome, check};
use crate::values::{B, FLOATS, INTEGERS, bools, coordinates, f32s, floats, ints, noise, position};

pub const CHECKS: &[Check] = &[
    check("slices with steps and negative steps", slices),
    check("slices of rank 5 and 6", slices_of_rank),
    check("slice_assign with steps and negative steps", slice_assigns),
    check("slice_assign of i64, u8, f16 and bool", slice_assign_dtypes),
    check("permutations of rank 3, 4, 5 and 6", permutations),
    check("transposed, sliced and flipped operands of one operation", operands),
    check("flip, swap_dims, roll", flips),
    check("expand and repeat_dim, rank 2 to 6", repeats),
    check("cat along each dim, many operands, i64", cats),
    check("chunk, narrow, stack", parts),
    check("unfold in overlapping windows", windows),
    check("triu, tril, eye, one_hot", triangles),
    check("every dtype through a transpose", dtypes),
];

const LARGE: i64 = 1 << 40;

/// An i64 tensor whose elements are their positions, far beyond what f32 tells apart.
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

fn slices() -> Outcome {
    let shape = [7, 10];
    let x = || numbered(shape);
    Outcome::of([
        moved(x().slice(s![1..6, 2..9]), [5, 7], shape, |at| vec![at[0] + 1, at[1] + 2]),
        moved(x().slice(s![..;2, ..;3]), [4, 4], shape, |at| vec![at[0] * 2, at[1] * 3]),
        moved(x().slice(s![1..;3, 1..8;2]), [2, 4], shape, |at| vec![1 + at[0] * 3, 1 + at[1] * 2]),
        // A negative step walks the range from its last element down.
        moved(x().slice(s![..;-1, ..]), [7, 10], shape, |at| vec![6 - at[0], at[1]]),
        moved(x().slice(s![.., 1..9;-3]), [7, 3], shape, |at| vec![at[0], 8 - at[1] * 3]),
        moved(x().slice(s![-3.., -4..-1]), [3, 3], shape, |at| vec![4 + at[0], 6 + at[1]]),
    ])
}

fn slices_of_rank() -> Outcome {
    let five = [3, 4, 2, 5, 3];
    let six = [2, 3, 4, 2, 3, 4];
    Outcome::of([
        moved(numbered(five).slice(s![1..3, ..;2, .., 1..5;-2, ..]), [2, 2, 2, 2, 3], five, |at| {
            vec![at[0] + 1, at[1] * 2, at[2], 4 - at[3] * 2, at[4]]
        }),
        moved(numbered(six).slice(s![.., 1..2, ..;-1, .., ..;2, 1..4]), [2, 1, 4, 2, 2, 3], six, |at| {
            vec![at[0], 1 + at[1], 3 - at[2], at[3], at[4] * 2, at[5] + 1]
        }),
    ])
}

fn slice_assigns() -> Outcome {
    let shape = [6, 8];
    let x = || f32s(&[0.0; 48], shape);
    let of = |got: Tensor<B, 2>, count: [usize; 2], to: fn(&[usize]) -> [usize; 2]| {
        let mut expected = vec![0.0; 48];
        for (i, at) in coordinates(&count).iter().enumerate() {
            expected[position(&shape, &to(at))] = i as f64 + 1.0;
        }
        close_floats(&got.into_data(), &shape, &expected, EXACT)
    };
    let values = |count: [usize; 2]| {
        let n = count[0] * count[1];
        f32s(&(1..=n).map(|i| i as f64).collect::<Vec<_>>(), count)
    };
    Outcome::of([
        of(x().slice_assign(s![2..5, 1..4], values([3, 3])), [3, 3], |at| [at[0] + 2, at[1] + 1]),
        of(x().slice_assign(s![..;2, 1..8;3], values([3, 3])), [3, 3], |at| [at[0] * 2, 1 + at[1] * 3]),
        of(x().slice_assign(s![..;-1, ..], values([6, 8])), [6, 8], |at| [5 - at[0], at[1]]),
        of(x().slice_assign(s![1..6;-2, 2..4], values([3, 2])), [3, 2], |at| [5 - at[0] * 2, at[1] + 2]),
    ])
}

fn slice_assign_dtypes() -> Outcome {
    let data: Vec<i64> = (0..12).collect();
    let expected = |f: fn(i64) -> i128| -> Vec<i128> {
        (0..12).map(|i| if i % 4 == 1 || i % 4 == 3 { f(100 + i / 4 * 2 + (i % 4) / 2) } else { f(i) }).collect()
    };
    let values: Vec<i64> = (100..106).collect();
    let region = s![.., 1..;2];
    let integers = [DType::I64, DType::U8, DType::I32].map(|dtype| {
        let got = ints(&data, [3, 4], dtype).slice_assign(region, ints(&values, [3, 2], dtype));
        same_integers(&got.into_data(), &[3, 4], &expected(i128::from))
    });
    let truth = |values: &[i64]| -> Vec<bool> { values.iter().map(|x| x % 3 == 0).collect() };
    let flags = bools(&truth(&data), [3, 4]).slice_assign(region, bools(&truth(&values), [3, 2]));
    let halves = |values: &[i64]| -> Vec<f64> { values.iter().map(|&x| x as f64).collect() };
    let floats = FLOATS.map(|dtype| {
        let got = floats(&halves(&data), [3, 4], dtype).slice_assign(region, floats(&halves(&values), [3, 2], dtype));
        let expected: Vec<f64> = expected(i128::from).iter().map(|&x| x as f64).collect();
        close_floats(&got.into_data(), &[3, 4], &expected, EXACT)
    });
    let flags = same_integers(&flags.into_data(), &[3, 4], &expected(|x| (x % 3 == 0).into()));
    Outcome::of(integers.into_iter().chain(floats).chain([flags]))
}

fn permutations() -> Outcome {
    fn of<const D: usize>(shape: [usize; D], axes: [usize; D]) -> Outcome {
        let target = axes.map(|axis| shape[axis]);
        let got = numbered(shape).permute(axes.map(|axis| axis as isize));
        moved(got, target, shape, |at| {
            let mut from = vec![0; D];
            axes.iter().zip(at).for_each(|(&axis, &at)| from[axis] = at);
            from
        })
    }
    Outcome::of([
        of([3, 4, 5], [2, 0, 1]),
        of([2, 3, 4, 5], [3, 1, 0, 2]),
        of([2, 3, 4, 5], [0, 2, 1, 3]),
        of([2, 3, 4, 2, 3], [4, 2, 0, 3, 1]),
        of([2, 3, 2, 3, 2, 3], [5, 3, 1, 4, 2, 0]),
        of([2, 3, 2, 3, 2, 3], [0, 1, 4, 5, 2, 3]),
        of([2, 3, 2, 3, 2, 3], [5, 4, 3, 2, 1, 0]),
    ])
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

fn flips() -> Outcome {
    let shape = [3, 4, 5];
    let x = || numbered(shape);
    let (five, six) = ([2, 3, 2, 3, 2], [2, 3, 2, 3, 2, 3]);
    Outcome::of([
        moved(x().flip([0, 2]), shape, shape, |at| vec![2 - at[0], at[1], 4 - at[2]]),
        moved(x().flip([1]), shape, shape, |at| vec![at[0], 3 - at[1], at[2]]),
        moved(numbered(five).flip([0, 3, 4]), five, five, |at| vec![1 - at[0], at[1], at[2], 2 - at[3], 1 - at[4]]),
        moved(numbered(six).flip([0, 2, 4]), six, six, |at| vec![1 - at[0], at[1], 1 - at[2], at[3], 1 - at[4], at[5]]),
        moved(x().swap_dims(0, 2), [5, 4, 3], shape, |at| vec![at[2], at[1], at[0]]),
        // Burn rolls towards the front.
        moved(x().roll(&[1, -2], &[0, 2]), shape, shape, |at| vec![(at[0] + 1) % 3, at[1], (at[2] + 3) % 5]),
    ])
}

fn repeats() -> Outcome {
    let six = [2, 1, 3, 1, 2, 1];
    Outcome::of([
        moved(numbered([3, 1]).expand([3, 5]), [3, 5], [3, 1], |at| vec![at[0], 0]),
        moved(numbered([4]).expand([2, 3, 4]), [2, 3, 4], [4], |at| vec![at[2]]),
        moved(numbered(six).expand([2, 4, 3, 2, 2, 3]), [2, 4, 3, 2, 2, 3], six, |at| {
            vec![at[0], 0, at[2], 0, at[4], 0]
        }),
        moved(numbered([2, 3]).repeat_dim(0, 3), [6, 3], [2, 3], |at| vec![at[0] % 2, at[1]]),
        moved(numbered([2, 3]).repeat_dim(1, 4), [2, 12], [2, 3], |at| vec![at[0], at[1] % 3]),
    ])
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

fn parts() -> Outcome {
    let shape = [7, 3];
    let chunks = numbered(shape).chunk(3, 0);
    let whole = Tensor::cat(chunks, 0);
    let stacked: Tensor<B, 3, Int> = Tensor::stack(vec![numbered(shape), numbered(shape)], 1);
    Outcome::of([
        moved(whole, shape, shape, |at| at.to_vec()),
        moved(numbered(shape).narrow(0, 2, 4), [4, 3], shape, |at| vec![at[0] + 2, at[1]]),
        moved(stacked, [7, 2, 3], shape, |at| vec![at[0], at[2]]),
    ])
}

fn windows() -> Outcome {
    let shape = [2, 9, 3];
    let overlapping: Tensor<B, 4, Int> = numbered(shape).unfold(1, 4, 2);
    let apart: Tensor<B, 4, Int> = numbered(shape).unfold(1, 3, 3);
    Outcome::of([
        moved(overlapping, [2, 3, 3, 4], shape, |at| vec![at[0], at[1] * 2 + at[3], at[2]]),
        moved(apart, [2, 3, 3, 3], shape, |at| vec![at[0], at[1] * 3 + at[3], at[2]]),
    ])
}

fn triangles() -> Outcome {
    let x = noise(20, 2);
    let of = |keep: fn(usize, usize) -> bool| -> Vec<f64> {
        (0..20).map(|i| if keep(i / 5, i % 5) { x[i] } else { 0.0 }).collect()
    };
    let tensor = || f32s(&x, [4, 5]);
    let eye = Tensor::<B, 2>::eye(4, &burn_mpsgraph::MpsGraphDevice);
    let diagonal: Vec<f64> = (0..16).map(|i| f64::from(u8::from(i / 4 == i % 4))).collect();
    let hot: Tensor<B, 2, Int> = ints(&[2, 0, 1], [3], DType::I32).one_hot(4);
    Outcome::of([
        close_floats(&tensor().triu(1).into_data(), &[4, 5], &of(|r, c| c > r), EXACT),
        close_floats(&tensor().tril(0).into_data(), &[4, 5], &of(|r, c| c <= r), EXACT),
        close_floats(&eye.into_data(), &[4, 4], &diagonal, EXACT),
        same_integers(&hot.into_data(), &[3, 4], &[0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0]),
    ])
}

fn dtypes() -> Outcome {
    let values: Vec<i64> = (0..15).collect();
    let expected: Vec<i128> = (0..15).map(|i| i % 3 * 5 + i / 3).collect();
    let integers =
        INTEGERS.map(|dtype| same_integers(&ints(&values, [3, 5], dtype).transpose().into_data(), &[5, 3], &expected));
    let numbers: Vec<f64> = values.iter().map(|&x| x as f64).collect();
    let expected: Vec<f64> = expected.iter().map(|&x| x as f64).collect();
    let floats = FLOATS
        .map(|dtype| close_floats(&floats(&numbers, [3, 5], dtype).transpose().into_data(), &[5, 3], &expected, EXACT));
    Outcome::of(integers.into_iter().chain(floats))
}
