//! Writing by index.

use burn::backend::Autodiff;
use burn::tensor::{DType, IndexingUpdateOp, Int, Tensor, TensorData, module::embedding};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{EXACT, F32, close_floats, same_integers};
use crate::table::{Trap, check};
use crate::values::{B, choices, exact, f32s, floats, ints, noise, wide_integers, wrapped};

pub const TRAPS: &[Trap] = &[
    check("scatter-add of integers beyond 2^24, duplicates (i32, i64)", add_integers),
    check("select_assign adds integers beyond 2^24, duplicates", add_integer_rows),
    check("f16 and bf16 rows: 4096 ones into one", narrow_rows),
    check("scatter_nd assigns the last of duplicates (f32, i64)", assign),
    check("scatter_nd add, mul, min, max of i64 beyond 2^53", combine_integers),
    check("embedding gradient with a thousand duplicates", embedding_gradient),
    check("2^20 floats and integers added to two rows (too slow for the driver on M2)", crowded),
    check("scatter_nd add, mul, min, max of f32", combine_floats),
];

fn positions<const D: usize>(at: &[usize], shape: [usize; D]) -> Tensor<B, D, Int> {
    ints(&at.iter().map(|&i| i as i64).collect::<Vec<_>>(), shape, DType::I32)
}

fn add_integers() -> Outcome {
    Outcome::of([DType::I32, DType::I64].map(|dtype| {
        let (data, updates) = (wide_integers(12, 1, dtype), wide_integers(40, 2, dtype));
        let at = choices(40, 3, 3);
        let mut expected = exact(&data);
        for (i, (&row, &update)) in at.iter().zip(&updates).enumerate() {
            let sum = &mut expected[row * 4 + i % 4];
            *sum = wrapped(*sum + i128::from(update), dtype);
        }
        let got = ints(&data, [3, 4], dtype).scatter(
            0,
            positions(&at, [10, 4]),
            ints(&updates, [10, 4], dtype),
            IndexingUpdateOp::Add,
        );
        same_integers(&got.into_data(), &[3, 4], &expected)
    }))
}

fn add_integer_rows() -> Outcome {
    Outcome::of([DType::I8, DType::I32, DType::I64].map(|dtype| {
        let (data, updates) = (wide_integers(12, 4, dtype), wide_integers(400, 5, dtype));
        let at = choices(100, 3, 6);
        let mut expected = exact(&data);
        for (i, &update) in updates.iter().enumerate() {
            let sum = &mut expected[at[i / 4] * 4 + i % 4];
            *sum = wrapped(*sum + i128::from(update), dtype);
        }
        let got = ints(&data, [3, 4], dtype).select_assign(
            0,
            positions(&at, [100]),
            ints(&updates, [100, 4], dtype),
            IndexingUpdateOp::Add,
        );
        same_integers(&got.into_data(), &[3, 4], &expected)
    }))
}

fn narrow_rows() -> Outcome {
    Outcome::of([DType::F16, DType::BF16].map(|dtype| {
        let got = floats(&[0.0; 6], [3, 2], dtype).select_assign(
            0,
            positions(&[1; 4096], [4096]),
            floats(&[1.0; 8192], [4096, 2], dtype),
            IndexingUpdateOp::Add,
        );
        close_floats(&got.into_data(), &[3, 2], &[0.0, 0.0, 4096.0, 4096.0, 0.0, 0.0], EXACT)
    }))
}

fn crowded() -> Outcome {
    let count = 1 << 20;
    let at = choices(count, 2, 7);
    let ones = at.iter().sum::<usize>();
    let sums = [count - ones, ones];
    let at = || positions(&at, [count]);
    let rows = floats(&[0.0; 2], [2, 1], DType::F32);
    let got = rows.select_assign(0, at(), Tensor::ones([count, 1], &MpsGraphDevice), IndexingUpdateOp::Add);
    let rows = ints(&[0; 2], [2, 1], DType::I32);
    let whole = Tensor::<B, 2, Int>::ones([count, 1], (&MpsGraphDevice, DType::I32));
    let counted = rows.select_assign(0, at(), whole, IndexingUpdateOp::Add);
    Outcome::of([
        close_floats(&got.into_data(), &[2, 1], &sums.map(|sum| sum as f64), EXACT),
        same_integers(&counted.into_data(), &[2, 1], &sums.map(|sum| sum as i128)),
    ])
}

/// Rows of three in a table of 4 x 2 of them, some twice.
const ROWS: [[usize; 2]; 6] = [[1, 1], [0, 1], [3, 0], [1, 1], [2, 0], [3, 0]];

fn nd_indices() -> Tensor<B, 2, Int> {
    positions(&ROWS.concat(), [6, 2])
}

/// The table after each update was combined with its row.
fn updated<T: Copy>(data: &[T], updates: &[T], f: impl Fn(T, T) -> T) -> Vec<T> {
    let mut table = data.to_vec();
    for (i, &update) in updates.iter().enumerate() {
        let [a, b] = ROWS[i / 3];
        let at = (a * 2 + b) * 3 + i % 3;
        table[at] = f(table[at], update);
    }
    table
}

fn assign() -> Outcome {
    let (data, updates) = (noise(24, 1), noise(18, 2));
    let (wide, wide_updates) = (wide_integers(24, 3, DType::I64), wide_integers(18, 4, DType::I64));
    let float = f32s(&data, [4, 2, 3]).scatter_nd(nd_indices(), f32s(&updates, [6, 3]), IndexingUpdateOp::Assign);
    let integer = ints(&wide, [4, 2, 3], DType::I64).scatter_nd(
        nd_indices(),
        ints(&wide_updates, [6, 3], DType::I64),
        IndexingUpdateOp::Assign,
    );
    Outcome::of([
        close_floats(&float.into_data(), &[4, 2, 3], &updated(&data, &updates, |_, new| new), EXACT),
        same_integers(&integer.into_data(), &[4, 2, 3], &exact(&updated(&wide, &wide_updates, |_, new| new))),
    ])
}

fn combine_integers() -> Outcome {
    let (data, updates) = (wide_integers(24, 5, DType::I64), wide_integers(18, 6, DType::I64));
    let of = |how: IndexingUpdateOp, f: fn(i64, i64) -> i64| {
        let got = ints(&data, [4, 2, 3], DType::I64).scatter_nd(nd_indices(), ints(&updates, [6, 3], DType::I64), how);
        same_integers(&got.into_data(), &[4, 2, 3], &exact(&updated(&data, &updates, f)))
    };
    Outcome::of([
        of(IndexingUpdateOp::Add, i64::wrapping_add),
        of(IndexingUpdateOp::Mul, i64::wrapping_mul),
        of(IndexingUpdateOp::Min, i64::min),
        of(IndexingUpdateOp::Max, i64::max),
    ])
}

fn embedding_gradient() -> Outcome {
    type A = Autodiff<B>;
    let device = &MpsGraphDevice;
    let (rows, width, count) = (7, 4, 4000);
    let at = choices(count, rows - 1, 9);
    let weight = noise(count * width, 10);
    let mut expected = vec![0.0; rows * width];
    for (i, &row) in at.iter().enumerate() {
        (0..width).for_each(|k| expected[row * width + k] += weight[i * width + k]);
    }
    let table = Tensor::<A, 2>::zeros([rows, width], device).require_grad();
    let indices: Vec<i64> = at.iter().map(|&i| i as i64).collect();
    let indices = Tensor::<A, 2, Int>::from_data(TensorData::new(indices, [4, count / 4]), device);
    let weight = Tensor::<A, 3>::from_data(TensorData::new(weight, [4, count / 4, width]), device);
    let gradients = (embedding(table.clone(), indices) * weight).sum().backward();
    match table.grad(&gradients) {
        Some(gradient) => {
            close_floats(&gradient.into_data(), &[rows, width], &expected, crate::agreement::within(1e-3, 1e-5))
        }
        None => Outcome::fact("a gradient", "none", false),
    }
}

fn combine_floats() -> Outcome {
    let (data, updates) = (noise(24, 7), noise(18, 8));
    let of = |how: IndexingUpdateOp, f: fn(f64, f64) -> f64| {
        let got = f32s(&data, [4, 2, 3]).scatter_nd(nd_indices(), f32s(&updates, [6, 3]), how);
        close_floats(&got.into_data(), &[4, 2, 3], &updated(&data, &updates, f), F32)
    };
    Outcome::of([
        of(IndexingUpdateOp::Add, |a, b| a + b),
        of(IndexingUpdateOp::Mul, |a, b| a * b),
        of(IndexingUpdateOp::Min, f64::min),
        of(IndexingUpdateOp::Max, f64::max),
    ])
}
