//! Order. MPSGraph's `argSort` is wrong for i64 from macOS 15.4 on, and spoils a sort of the same tensor in the same
//! program. NaN is ordered by its sign, and which of equal elements comes first is not documented.

use burn::tensor::{DType, Int, Tensor};
use test_support::Outcome;

use crate::agreement::{EXACT, close_floats, same_integers};
use crate::table::{Trap, check};
use crate::values::{B, FLOATS, INTEGERS, exact, f32s, floats, ints, noise, wide_integers};

pub const TRAPS: &[Trap] = &[
    check("i64 rows of 300 and 5000 (argSort wrong past 256 from 15.4)", || positions(DType::I64, &[300, 5000])),
    check("i32 and u32 positions in rows of 5000", || {
        Outcome::of([DType::I32, DType::U32].map(|dtype| positions(dtype, &[5000])))
    }),
    check("i64 and u64 sorted beyond 2^53", || Outcome::of([DType::I64, DType::U64].map(sorted))),
    check("narrow integers sorted", || {
        Outcome::of([DType::I8, DType::I16, DType::I32, DType::U8, DType::U16, DType::U32].map(sorted))
    }),
    check("sort and argsort of one tensor in one program, i64", both_of_i64),
    check("sort and argsort of one tensor in one program, floats", both_of_floats),
    check("NaN of either sign, infinities, zeros of either sign", special),
    check("denormals keep their order", denormals),
    check("equal elements keep theirs, ascending", || stable(false)),
    check("equal elements keep theirs, descending", || stable(true)),
    check("the first axis of six", first_of_six),
    check("a transposed operand (its strides were ignored)", transposed),
    check("2^22 + 1 columns of 3, sorted downwards (wrong in one node)", many_rows),
    check("the 20 largest of 50, the largest first", twenty_largest),
    check("the largest of equals are the first ones", largest_of_equals),
    check("rows of 70000: two passes", || positions(DType::I32, &[70_000])),
];

/// The positions of a row in order, equal ones as they are.
fn order<T>(row: &[T], descending: bool, compare: impl Fn(&T, &T) -> std::cmp::Ordering) -> Vec<i128> {
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| if descending { compare(&row[b], &row[a]) } else { compare(&row[a], &row[b]) });
    order.into_iter().map(|at| at as i128).collect()
}

/// Numbers over the whole range of a dtype, each twice; those of an unsigned dtype are not negative.
fn pairs(count: usize, dtype: DType) -> Vec<i64> {
    let numbers = wide_integers(count.div_ceil(2), 1, dtype);
    let numbers =
        numbers.into_iter().map(|x| if dtype.is_uint() { x & i64::MAX >> (64 - 8 * dtype.size()) } else { x });
    let numbers: Vec<i64> = numbers.collect();
    [&numbers[..], &numbers[..]].concat()[..count].to_vec()
}

fn positions(dtype: DType, extents: &[usize]) -> Outcome {
    Outcome::of(extents.iter().flat_map(|&extent| {
        let row = pairs(extent, dtype);
        let x = || ints(&row, [extent], dtype);
        [
            same_integers(&x().argsort(0).into_data(), &[extent], &order(&row, false, Ord::cmp)),
            same_integers(&x().argsort_descending(0).into_data(), &[extent], &order(&row, true, Ord::cmp)),
        ]
    }))
}

fn sorted(dtype: DType) -> Outcome {
    let x = pairs(3 * 700, dtype);
    let expected: Vec<i64> = x
        .chunks(700)
        .flat_map(|row| {
            let mut row = row.to_vec();
            row.sort_unstable();
            row
        })
        .collect();
    same_integers(&ints(&x, [3, 700], dtype).sort(1).into_data(), &[3, 700], &exact(&expected))
}

fn both_of_i64() -> Outcome {
    let x = pairs(600, DType::I64);
    let at = order(&x, false, Ord::cmp);
    let expected: Vec<i128> = at.iter().map(|&at| x[at as usize].into()).collect();
    let computed = ints(&x, [600], DType::I64) + 0;
    let (values, positions) = computed.sort_with_indices(0);
    let twice = Tensor::cat(vec![values.cast(DType::I64), positions.cast(DType::I64)], 0);
    same_integers(&twice.into_data(), &[1200], &[expected, at].concat())
}

fn both_of_floats() -> Outcome {
    let x = noise(2 * 300, 2);
    Outcome::of(FLOATS.map(|dtype| {
        let computed = floats(&x, [600], dtype) * 1.0;
        let (values, positions) = computed.sort_with_indices(0);
        let at = order(&x, false, f64::total_cmp);
        let expected: Vec<f64> = at.iter().map(|&at| x[at as usize]).collect();
        // One program makes both.
        let both = Tensor::cat(vec![values.cast(DType::F32), positions.float().cast(DType::F32)], 0);
        let expected = [expected, at.iter().map(|&at| at as f64).collect()].concat();
        close_floats(&both.into_data(), &[1200], &expected, EXACT)
    }))
}

fn special() -> Outcome {
    let nan = f64::NAN.copysign(1.0);
    let x = [nan, -0.0, f64::INFINITY, 0.0, -nan, f64::NEG_INFINITY, 1.0, -1.0, 0.0, -0.0, nan, -nan];
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let x_of = || floats(&x, [x.len()], dtype);
        [
            same_integers(&x_of().argsort(0).into_data(), &[x.len()], &order(&x, false, f64::total_cmp)),
            same_integers(&x_of().argsort_descending(0).into_data(), &[x.len()], &order(&x, true, f64::total_cmp)),
        ]
    }))
}

fn denormals() -> Outcome {
    let x: Vec<f64> = [3u32, 1, 0x8000_0002, 2, 0, 0x8000_0007, 0x007f_ffff].map(|x| f32::from_bits(x).into()).to_vec();
    same_integers(&f32s(&x, [x.len()]).argsort(0).into_data(), &[x.len()], &order(&x, false, f64::total_cmp))
}

fn stable(descending: bool) -> Outcome {
    // Rows of 7 and 900 with three different numbers.
    Outcome::of([7, 900].into_iter().flat_map(|extent| {
        let x: Vec<i64> = noise(extent, 3).iter().map(|x| (x * 1.4).round() as i64).collect();
        let expected = order(&x, descending, Ord::cmp);
        let by = |x: Tensor<B, 1, Int>| if descending { x.argsort_descending(0) } else { x.argsort(0) };
        INTEGERS
            .into_iter()
            .filter(|dtype| dtype.is_int())
            .map(move |dtype| same_integers(&by(ints(&x, [extent], dtype)).into_data(), &[extent], &expected))
    }))
}

fn first_of_six() -> Outcome {
    let shape = [9, 2, 1, 3, 2, 2];
    let x = noise(9 * 24, 4);
    let mut columns: Vec<Vec<f64>> = (0..24).map(|i| (0..9).map(|row| x[row * 24 + i]).collect()).collect();
    columns.iter_mut().for_each(|column| column.sort_by(f64::total_cmp));
    let expected: Vec<f64> = (0..9 * 24).map(|i| columns[i % 24][i / 24]).collect();
    close_floats(&f32s(&x, shape).sort(0).into_data(), &shape, &expected, EXACT)
}

fn transposed() -> Outcome {
    let (rows, columns) = (20, 30);
    let x = noise(rows * columns, 5);
    let expected: Vec<i128> = (0..columns)
        .flat_map(|c| order(&(0..rows).map(|r| x[r * columns + c]).collect::<Vec<_>>(), false, f64::total_cmp))
        .collect();
    let got = (f32s(&x, [rows, columns]) * 1.0).transpose().argsort(1);
    same_integers(&got.into_data(), &[columns, rows], &expected)
}

fn many_rows() -> Outcome {
    let columns = (1 << 22) + 1;
    let number = |row: usize, column: usize| ((column * 7 + row * 5) % 11) as i64;
    let x: Vec<i64> = (0..3).flat_map(|row| (0..columns).map(move |column| number(row, column))).collect();
    let got = ints(&x, [3, columns], DType::I8).argsort(0).into_data();
    let mut expected = vec![0i128; 3 * columns];
    for column in 0..columns {
        let at = order(&[0, 1, 2].map(|row| number(row, column)), false, Ord::cmp);
        (0..3).for_each(|row| expected[row * columns + column] = at[row]);
    }
    same_integers(&got, &[3, columns], &expected)
}

fn twenty_largest() -> Outcome {
    let x = noise(4 * 50, 6);
    let at: Vec<i128> = x.chunks(50).flat_map(|row| order(row, true, f64::total_cmp)[..20].to_vec()).collect();
    let values: Vec<f64> = at.iter().enumerate().map(|(i, &at)| x[i / 20 * 50 + at as usize]).collect();
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let x = || floats(&x, [4, 50], dtype);
        [
            close_floats(&x().topk(20, 1).into_data(), &[4, 20], &values, EXACT),
            same_integers(&x().argtopk(20, 1).into_data(), &[4, 20], &at),
        ]
    }))
}

fn largest_of_equals() -> Outcome {
    let x = [2, 9, 9, 5, 9, 5, 2, 9];
    Outcome::of(
        INTEGERS.map(|dtype| same_integers(&ints(&x, [8], dtype).argtopk(6, 0).into_data(), &[6], &[1, 2, 4, 7, 3, 5])),
    )
}
