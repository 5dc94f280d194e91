//! Reductions.

use burn::tensor::{DType, Tensor};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{EXACT, F32, close_floats, rounded_to, same_integers, within};
use crate::table::{Trap, check};
use crate::values::{B, FLOATS, coordinates, exact, f32s, floats, ints, noise, position, wide_integers, wrapped};

pub const TRAPS: &[Trap] = &[
    check("f16 and bf16 sum of 4096 ones", narrow_ones),
    check("f16 mean of 4096 sixteens (their sum overflows f16)", narrow_mean),
    check("f16 and bf16 sums of rows accumulate in f32", narrow_rows),
    check("f16 product that leaves f16 on the way", narrow_product),
    check("max, min with NaN and infinities", nan_extremes),
    check("argmax, argmin choose the NaN, else the first of equals", nan_positions),
    check("argmax, argmin of long rows of zeros and ones", positions_of_equals),
    check("i64 argmax, argmin, max, min beyond 2^53", wide_extremes),
    check("u64 and u32 max, min beyond the sign bit", unsigned_extremes),
    check("i32, i64 sums and products beyond 2^24 wrap", wide_sums),
    check("integer means toward zero", integer_means),
    check("products and variance along the first of three dims", leading_dim),
    check("sum of 2^20 floats", long_sum),
    check("sums of 2^23 floats, 100 in a row (wrong now and then)", many_long_sums),
    check("sums of 20,000 floats, 20,000 in a row (likewise)", many_sums),
    check("sum of 2^20 rows of 3, and of 3 rows of 2^20", lopsided),
    check("sums along the third of four dims at the end of a program", inner_dim_at_the_end),
];

fn narrow_ones() -> Outcome {
    Outcome::of([DType::F16, DType::BF16].into_iter().flat_map(|dtype| {
        let ones = || floats(&[1.0; 4096], [4096], dtype);
        let rows = ones().reshape([2, 2048]).sum_dim(1);
        [
            close_floats(&ones().sum().into_data(), &[1], &[4096.0], EXACT),
            close_floats(&rows.into_data(), &[2, 1], &[2048.0; 2], EXACT),
        ]
    }))
}

fn narrow_mean() -> Outcome {
    let x = || floats(&[16.0; 8192], [8192], DType::F16);
    Outcome::of([
        close_floats(&x().mean().into_data(), &[1], &[16.0], EXACT),
        close_floats(&x().reshape([2, 4096]).mean_dim(1).into_data(), &[2, 1], &[16.0; 2], EXACT),
        // In one program with what made the operand.
        close_floats(&(x() * 2.0).mean().into_data(), &[1], &[32.0], EXACT),
    ])
}

fn narrow_rows() -> Outcome {
    Outcome::of([DType::F16, DType::BF16].map(|dtype| {
        let x: Vec<f64> = noise(4 * 3000, 1).iter().map(|x| x + 1.0).collect();
        let given = floats(&x, [4, 3000], dtype);
        let stored: Vec<f64> = given.to_data().iter::<f64>().collect();
        let sums: Vec<f64> = stored.chunks(3000).map(|row| row.iter().sum()).collect();
        close_floats(&given.sum_dim(1).into_data(), &[4, 1], &sums, rounded_to(dtype))
    }))
}

fn narrow_product() -> Outcome {
    let x = [1000.0, 1000.0, 0.001, 0.5];
    let given = floats(&x, [4], DType::F16);
    let product: f64 = given.to_data().iter::<f64>().product();
    close_floats(&given.prod().into_data(), &[1], &[product], rounded_to(DType::F16))
}

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn nan_extremes() -> Outcome {
    let rows = [[1.0, NAN, 3.0, 2.0], [-INF, 4.0, INF, 0.0], [NAN; 4], [-INF; 4]];
    let flat = rows.concat();
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let x = || floats(&flat, [4, 4], dtype);
        [
            close_floats(&x().max_dim(1).into_data(), &[4, 1], &[NAN, INF, NAN, -INF], EXACT),
            close_floats(&x().min_dim(1).into_data(), &[4, 1], &[NAN, -INF, NAN, -INF], EXACT),
            close_floats(&x().max().into_data(), &[1], &[NAN], EXACT),
            close_floats(&x().min().into_data(), &[1], &[NAN], EXACT),
            close_floats(&x().max_abs_dim(1).into_data(), &[4, 1], &[NAN, INF, NAN, INF], EXACT),
            close_floats(&x().slice(burn::tensor::s![1..2, ..]).max().into_data(), &[1], &[INF], EXACT),
        ]
    }))
}

fn nan_positions() -> Outcome {
    let rows = [
        [1.0, NAN, 3.0, NAN],
        [-INF, 4.0, 4.0, -INF],
        [NAN; 4],
        [-INF; 4],
        [5.0, 5.0, 5.0, 5.0],
        [0.0, -1.0, 7.0, 7.0],
    ];
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let x = || floats(&rows.concat(), [6, 4], dtype);
        let (value, position) = x().max_dim_with_indices(1);
        [
            same_integers(&x().argmax(1).into_data(), &[6, 1], &[1, 1, 0, 0, 0, 2]),
            same_integers(&x().argmin(1).into_data(), &[6, 1], &[1, 0, 0, 0, 0, 1]),
            same_integers(&position.into_data(), &[6, 1], &[1, 1, 0, 0, 0, 2]),
            close_floats(&value.into_data(), &[6, 1], &[NAN, 4.0, NAN, -INF, 5.0, 7.0], EXACT),
        ]
    }))
}

/// Of which a beta of macOS 27 has not found the first (pytorch/pytorch#187280).
fn positions_of_equals() -> Outcome {
    let found = |count: usize, dtype: DType| {
        let first = [0, 5, count - 1];
        let ones: Vec<i64> = first
            .iter()
            .flat_map(|&first| (0..count).map(move |at| i64::from(at >= first && (at - first) % 3 == 0)))
            .collect();
        let (rows, largest) = (|| ints(&ones, [3, count], dtype), first.map(|first| first as i128));
        let smallest = [1, 0, 0];
        Outcome::of([
            same_integers(&rows().argmax(1).into_data(), &[3, 1], &largest),
            same_integers(&rows().argmin(1).into_data(), &[3, 1], &smallest),
            same_integers(&rows().transpose().argmax(0).into_data(), &[1, 3], &largest),
            same_integers(&rows().float().argmax(1).into_data(), &[3, 1], &largest),
            same_integers(&(rows().float().transpose() * 2.0).argmin(0).into_data(), &[1, 3], &smallest),
        ])
    };
    Outcome::of([77, 50_000].map(|count| found(count, DType::I32)))
}

fn wide_extremes() -> Outcome {
    let base = 1i64 << 53;
    let rows = [
        [base, base + 1, base + 3, base + 2],
        [-base - 2, -base - 3, -base - 1, -base],
        [i64::MIN, i64::MAX, 0, i64::MAX - 1],
        [16_777_217, 16_777_216, 16_777_218, 16_777_217],
    ];
    let x = || ints(&rows.concat(), [4, 4], DType::I64);
    let of = |f: fn(&[i64; 4]) -> i64| exact(&rows.each_ref().map(f));
    let extreme = |f: fn(i64, i64) -> i64| rows.concat().into_iter().reduce(f).map(i128::from);
    Outcome::of([
        same_integers(&x().max_dim(1).into_data(), &[4, 1], &of(|row| row.iter().copied().fold(i64::MIN, i64::max))),
        same_integers(&x().min_dim(1).into_data(), &[4, 1], &of(|row| row.iter().copied().fold(i64::MAX, i64::min))),
        same_integers(&x().argmax(1).into_data(), &[4, 1], &[2, 3, 1, 2]),
        same_integers(&x().argmin(1).into_data(), &[4, 1], &[0, 1, 0, 1]),
        same_integers(&x().max().into_data(), &[1], &extreme(i64::max).into_iter().collect::<Vec<_>>()),
        same_integers(&x().min().into_data(), &[1], &extreme(i64::min).into_iter().collect::<Vec<_>>()),
    ])
}

fn unsigned_extremes() -> Outcome {
    let of = |half: i64, dtype: DType| {
        // Twice as large as what i64 writes, so beyond the sign bit.
        let x = || ints(&[3, half, half - 5, 1], [4], dtype) * 2 + 1;
        Outcome::of([
            same_integers(&x().max().into_data(), &[1], &[i128::from(half) * 2 + 1]),
            same_integers(&x().min().into_data(), &[1], &[3]),
            same_integers(&x().argmax(0).into_data(), &[1], &[1]),
        ])
    };
    Outcome::of([of(i64::from(i32::MAX), DType::U32), of(i64::MAX, DType::U64)])
}

fn wide_sums() -> Outcome {
    Outcome::of([DType::I32, DType::I64].into_iter().flat_map(|dtype| {
        let x = wide_integers(600, 3, dtype);
        let rows = |f: fn(i128, i128) -> i128, first: i128| -> Vec<i128> {
            x.chunks(200).map(|row| row.iter().fold(first, |a, &b| wrapped(f(a, b.into()), dtype))).collect()
        };
        let odd: Vec<i64> = x.iter().map(|x| x | 1).collect();
        let products: Vec<i128> =
            odd.chunks(200).map(|row| row.iter().fold(1, |a, &b| wrapped(a * i128::from(b), dtype))).collect();
        [
            same_integers(&ints(&x, [3, 200], dtype).sum_dim(1).into_data(), &[3, 1], &rows(|a, b| a + b, 0)),
            same_integers(&ints(&odd, [3, 200], dtype).prod_dim(1).into_data(), &[3, 1], &products),
            same_integers(&ints(&[16_777_216, 1, 1, 1], [4], dtype).sum().into_data(), &[1], &[16_777_219]),
        ]
    }))
}

fn integer_means() -> Outcome {
    let rows = [[7, 0], [-7, 0], [16_777_217, 16_777_219], [-1, 0]];
    Outcome::of([DType::I32, DType::I64].map(|dtype| {
        let got = ints(&rows.concat(), [4, 2], dtype).mean_dim(1);
        same_integers(&got.into_data(), &[4, 1], &[3, -3, 16_777_218, 0])
    }))
}

/// What is along `dim` of each position that is left when its extent becomes 1.
fn lines<const D: usize>(x: &[f64], shape: [usize; D], dim: usize) -> ([usize; D], Vec<Vec<f64>>) {
    let mut reduced = shape;
    reduced[dim] = 1;
    let mut lines = vec![Vec::new(); reduced.iter().product()];
    for (at, &x) in coordinates(&shape).iter().zip(x) {
        lines[position(&reduced, at)].push(x);
    }
    (reduced, lines)
}

fn leading_dim() -> Outcome {
    let shape = [16, 5, 7];
    let x: Vec<f64> = noise(560, 6).iter().map(|x| x + 1.25).collect();
    let (reduced, lines) = lines(&x, shape, 0);
    let products: Vec<f64> = lines.iter().map(|line| line.iter().product()).collect();
    let variances: Vec<f64> = lines
        .iter()
        .map(|line| {
            let mean = line.iter().sum::<f64>() / 16.0;
            line.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 15.0
        })
        .collect();
    Outcome::of([
        close_floats(&f32s(&x, shape).prod_dim(0).into_data(), &reduced, &products, within(1e-6, 1e-5)),
        close_floats(&f32s(&x, shape).var(0).into_data(), &reduced, &variances, within(1e-6, 1e-5)),
    ])
}

fn many_long_sums() -> Outcome {
    sums_in_a_row(1 << 23, 100, 1)
}

/// The report's program needs up to 300,000.
fn many_sums() -> Outcome {
    sums_in_a_row(20_000, 500, 40)
}

/// Read after `count` are submitted, `rounds` times: full sums have been wrong when many follow each other
/// (pytorch/pytorch#178497).
fn sums_in_a_row(elements: usize, count: usize, rounds: usize) -> Outcome {
    let of = |value: f32| Tensor::<B, 1>::full([elements], value, (&MpsGraphDevice, DType::F32));
    let operands = [of(1.0), of(2.0)];
    let submitted = |i: usize| {
        let sum = operands[i % 2].clone().sum();
        MpsGraphDevice.flush();
        sum
    };
    let expected: Vec<f64> = (0..count).map(|i| (elements * (1 + i % 2)) as f64).collect();
    Outcome::of((0..rounds).map(|_| {
        let sums: Vec<_> = (0..count).map(submitted).collect();
        close_floats(&Tensor::cat(sums, 0).into_data(), &[count], &expected, EXACT)
    }))
}

fn long_sum() -> Outcome {
    let x = noise(1 << 20, 7);
    let sum: f64 = x.iter().map(|x| x + 1.0).sum();
    close_floats(&(f32s(&x, [1 << 20]) + 1.0).sum().into_data(), &[1], &[sum], within(0.0, 2e-5))
}

fn lopsided() -> Outcome {
    let count = 1 << 20;
    let x = noise(3 * count, 8);
    let tall: Vec<f64> = x.chunks(3).map(|row| row.iter().sum()).collect();
    let wide: Vec<f64> = x.chunks(count).map(|row| row.iter().sum()).collect();
    let tensor = || -> Tensor<B, 1> { f32s(&x, [3 * count]) };
    Outcome::of([
        close_floats(&tensor().reshape([count, 3]).sum_dim(1).into_data(), &[count, 1], &tall, F32),
        close_floats(&tensor().reshape([3, count]).sum_dim(1).into_data(), &[3, 1], &wide, within(0.5, 1e-4)),
    ])
}

/// MIT-RLX/rlx (rlx-metal, `graph_has_mps_hostile_reduce`) read zeros here, though not in the middle of a graph.
fn inner_dim_at_the_end() -> Outcome {
    let [rows, heads, width] = [3, 4, 32];
    let (x, w) = (noise(rows * heads * width, 1), noise(rows * heads * heads, 2));
    let shift = noise(rows * width, 3);
    let mixed = f32s(&w, [rows, heads, heads, 1]) * f32s(&x, [rows, 1, heads, width]);
    let sums = mixed.sum_dim(2).reshape([rows, heads, width]) + f32s(&shift, [rows, 1, width]);
    let got = sums.reshape([rows, heads * width]);
    let expected = coordinates(&[rows, heads, width]).into_iter().map(|at| {
        let [row, head, column] = [at[0], at[1], at[2]];
        let term = |from| w[(row * heads + head) * heads + from] * x[(row * heads + from) * width + column];
        shift[row * width + column] + (0..heads).map(term).sum::<f64>()
    });
    close_floats(&got.into_data(), &[rows, heads * width], &expected.collect::<Vec<_>>(), F32)
}
