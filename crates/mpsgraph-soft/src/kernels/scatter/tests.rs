//! Scatters against a loop over the updates.

use super::*;
use crate::kernels::element::Element;
use bytemuck::{cast_slice, cast_slice_mut};
use half::{bf16, f16};

const MODES: [ScatterMode; 7] = [
    ScatterMode::Add,
    ScatterMode::Sub,
    ScatterMode::Mul,
    ScatterMode::Div,
    ScatterMode::Min,
    ScatterMode::Max,
    ScatterMode::Set,
];

/// One update of an integer, written out for `i64` and wrapped by the caller.
fn integer(mode: ScatterMode, a: i64, b: i64) -> i64 {
    match mode {
        ScatterMode::Add => a.wrapping_add(b),
        ScatterMode::Sub => a.wrapping_sub(b),
        ScatterMode::Mul => a.wrapping_mul(b),
        ScatterMode::Div => a.checked_div(b).unwrap_or(0),
        ScatterMode::Min => a.min(b),
        ScatterMode::Max => a.max(b),
        ScatterMode::Set => b,
    }
}

/// One update of a float.
fn float(mode: ScatterMode, a: f32, b: f32) -> f32 {
    match mode {
        ScatterMode::Add => a + b,
        ScatterMode::Sub => a - b,
        ScatterMode::Mul => a * b,
        ScatterMode::Div => a / b,
        ScatterMode::Min => a.min(b),
        ScatterMode::Max => a.max(b),
        ScatterMode::Set => b,
    }
}

/// Scatters and compares; `target` gives the data position of an update.
fn compare<T: Element>(
    rows: &Rows,
    dtype: DType,
    data: &[T],
    updates: &[T],
    table: &[i64],
    combine: impl Fn(ScatterMode, T, T) -> T,
    target: impl Fn(usize) -> Option<usize>,
) {
    let narrow: Vec<i32> = table.iter().map(|&i| i as i32).collect();
    for mode in MODES {
        let mut expected = data.to_vec();
        for (at, &update) in updates.iter().enumerate() {
            if let Some(to) = target(at) {
                expected[to] = combine(mode, expected[to], update);
            }
        }
        for indices in [Indices::I64(table), Indices::I32(&narrow)] {
            let mut out = data.to_vec();
            let operands = (Some(cast_slice(data)), cast_slice(updates));
            execute(rows, mode, dtype, operands, indices, cast_slice_mut(&mut out));
            let same = out.iter().zip(&expected).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()));
            assert!(same, "{mode:?} of {dtype:?}: {out:?} is not {expected:?}");
        }
    }
}

fn named(table: &[i64], at: usize, extent: usize) -> Option<usize> {
    usize::try_from(table[at]).ok().filter(|&i| i < extent)
}

fn table_of(count: usize, extent: usize) -> Vec<i64> {
    (0..count).map(|i| (i * 7919 % (extent + 2)) as i64 - 1).collect()
}

#[test]
fn rows_of_every_dtype() {
    let (shape, count) = ([2, 5, 3], 12);
    let table = table_of(count, shape[1]);
    let rows = Rows::axis(&shape, &[count], 1, 0);
    let target = |at: usize| named(&table, at / 3 % count, 5).map(|i| (at / (3 * count) * 5 + i) * 3 + at % 3);
    macro_rules! integers {
        ($($t:ident $dtype:ident)*) => {$(
            let data: Vec<$t> = (0..30).map(|i| (i * 1_000_003 + 5i64) as $t).collect();
            let updates: Vec<$t> = (0..6 * count as i64).map(|i| (i * 77_777 % 91 - 3) as $t).collect();
            let combine = |mode, a: $t, b: $t| integer(mode, a as i64, b as i64) as $t;
            compare(&rows, DType::$dtype, &data, &updates, &table, combine, target);
        )*};
    }
    integers!(i8 I8 i16 I16 i32 I32 i64 I64 u8 U8 u16 U16 u32 U32);
    let data: Vec<f32> = (0..30).map(|i| i as f32 * 0.7 - 3.0).collect();
    let mut updates: Vec<f32> = (0..6 * count).map(|i| i as f32 * 0.37 - 8.0).collect();
    updates[7] = f32::NAN;
    updates[9] = f32::INFINITY;
    compare(&rows, DType::F32, &data, &updates, &table, float, target);
    macro_rules! halves {
        ($($t:ident $dtype:ident)*) => {$({
            let narrow = |x: &Vec<f32>| x.iter().map(|&x| $t::from_f32(x)).collect::<Vec<_>>();
            let (data, updates) = (narrow(&data), narrow(&updates));
            let combine = |mode, a: $t, b: $t| $t::from_f32(float(mode, a.to_f32(), b.to_f32()));
            compare(&rows, DType::$dtype, &data, &updates, &table, combine, target);
        })*};
    }
    halves!(f16 F16 bf16 BF16);
}

#[test]
fn by_coordinates_and_along() {
    let combine = |mode, a: i32, b: i32| integer(mode, a.into(), b.into()) as i32;
    let data: Vec<i32> = (0..2 * 4 * 5 * 3).map(|i: i32| i.wrapping_mul(100_000_007) % 1009).collect();
    // Coordinates along axes 1 and 2, batched over axis 0; rows of 3.
    let pairs = table_of(2 * 9 * 2, 4);
    let updates: Vec<i32> = (0..2 * 9 * 3).map(|i| i * 31 % 17 - 5).collect();
    compare(&Rows::nd(&[2, 4, 5, 3], &[2, 9, 2], 1), DType::I32, &data, &updates, &pairs, combine, |at| {
        let position = at / 3;
        let (i, j) = (named(&pairs, 2 * position, 4)?, named(&pairs, 2 * position + 1, 5)?);
        Some(((position / 9 * 4 + i) * 5 + j) * 3 + at % 3)
    });
    let single = table_of(2 * 6 * 15, 4);
    let updates: Vec<i32> = (0..2 * 6 * 15).map(|i| i * 31 % 17 - 5).collect();
    compare(&Rows::along(&[2, 4, 15], &[2, 6, 15], 1), DType::I32, &data, &updates, &single, combine, |at| {
        Some((at / 90 * 4 + named(&single, at, 4)?) * 15 + at % 15)
    });
}

/// Columns that one thread takes, and that threads share, with a rest behind the last whole line of a cache.
#[test]
fn along_columns() {
    for (blocks, extent, columns, lines) in [(2, 7, 19, 5), (1, 40, 150, 30), (2, 300, 203, 250), (1, 3000, 70, 90)] {
        let shape = [blocks, extent, columns];
        let count = lines * columns;
        let table = table_of(blocks * count, extent);
        let combine = |mode, a: i32, b: i32| integer(mode, a.into(), b.into()) as i32;
        let data: Vec<i32> = (0..(blocks * extent * columns) as i32).map(|i| i.wrapping_mul(1_000_003)).collect();
        let updates: Vec<i32> = (0..(blocks * count) as i32).map(|i| i % 1013 - 500).collect();
        let rows = Rows::along(&shape, &[blocks, lines, columns], 1);
        compare(&rows, DType::I32, &data, &updates, &table, combine, |at| {
            Some((at / count * extent + named(&table, at, extent)?) * columns + at % columns)
        });
    }
}

#[test]
fn large_keeps_the_order_of_updates() {
    for width in [1, 64] {
        let (extent, count) = (1001, 200_000 / width);
        let table = table_of(count, extent);
        let data = vec![0.5f32; extent * width];
        // Sums of these depend on the order.
        let updates: Vec<f32> = (0..count * width).map(|i| ((i * 7919 % 1013) as f32 - 400.0).exp2()).collect();
        let shape = [extent, 1, width];
        let rows = Rows::axis(&shape, &[count], 0, 0);
        compare(&rows, DType::F32, &data, &updates, &table, float, |at| {
            Some(named(&table, at / width, extent)? * width + at % width)
        });
    }
}

/// Three blocks are divided where there are two threads; ascending indices leave whole parts out.
#[test]
fn blocks_that_threads_share() {
    for width in [1, 2] {
        let (blocks, extent) = (3, 50_001);
        let shape = [blocks, extent, width];
        let table: Vec<i64> = (-3..20_000).map(|i| i * 3).collect();
        let count = table.len();
        let data: Vec<f32> = (0..blocks * extent * width).map(|i| i as f32).collect();
        let updates: Vec<f32> = (0..blocks * count * width).map(|i| (i % 1013) as f32).collect();
        let rows = Rows::axis(&shape, &[count], 1, 0);
        compare(&rows, DType::F32, &data, &updates, &table, float, |at| {
            let (row, inner) = (at / width, at % width);
            Some((row / count * extent + named(&table, row % count, extent)?) * width + inner)
        });
    }
}

/// Updates in no order are of either part, and some of none; one after the other they keep their order.
#[test]
fn updates_that_threads_share_in_no_order() {
    for (width, extent) in [(3, 40_001), (5, 20_001), (16, 9001), (40, 4001)] {
        let table: Vec<i64> = (0..30_000).map(|i| i * i % 7919 * (extent + 2) / 7919 - 1).collect();
        let (extent, count) = (extent as usize, table.len());
        let data: Vec<f32> = (0..extent * width).map(|i| i as f32).collect();
        let updates: Vec<f32> = (0..count * width).map(|i| ((i * 7919 % 1013) as f32 - 400.0).exp2()).collect();
        let shape = [extent, width];
        let rows = Rows::axis(&shape, &[count], 0, 0);
        compare(&rows, DType::F32, &data, &updates, &table, float, |at| {
            Some(named(&table, at / width, extent)? * width + at % width)
        });
    }
}

/// Coordinates in ascending order leave whole parts out, whatever the bytes of a row.
#[test]
fn coordinates_that_threads_share() {
    for width in [3, 5, 16, 40] {
        let extents = [300, 1_200_000 / width / 300];
        let table: Vec<i64> = (0..20_000i64).flat_map(|i| [i * 300 / 20_000, i % extents[1] as i64]).collect();
        let count = table.len() / 2;
        let data: Vec<f32> = (0..extents[0] * extents[1] * width).map(|i| i as f32).collect();
        let updates: Vec<f32> = (0..count * width).map(|i| (i % 1013) as f32).collect();
        let (shape, of_indices) = ([extents[0], extents[1], width], [count, 2]);
        let rows = Rows::nd(&shape, &of_indices, 0);
        compare(&rows, DType::F32, &data, &updates, &table, float, |at| {
            let [i, j] = [0, 1].map(|c| named(&table, at / width * 2 + c, extents[c]));
            Some((i? * extents[1] + j?) * width + at % width)
        });
    }
}

#[test]
fn small_blocks_are_taken_together() {
    for (positions, extent) in [(1, 10), (3, 4), (40, 8), (64, 2), (65, 2)] {
        let shape = [531, extent];
        let count = shape[0] * positions;
        let table = table_of(count, extent);
        let data: Vec<f32> = (0..shape[0] * extent).map(|i| i as f32).collect();
        let updates: Vec<f32> = (0..count).map(|i| 1.0 / (i + 1) as f32).collect();
        let rows = Rows::along(&shape, &[shape[0], positions], 1);
        compare(&rows, DType::F32, &data, &updates, &table, float, |at| {
            Some(at / positions * extent + named(&table, at, extent)?)
        });
    }
}

#[test]
fn without_data_updates_meet_zeros() {
    for width in [1, 3] {
        let (shape, table) = ([2, 5, width], [4, -1, 0, 4, 7]);
        let rows = Rows::axis(&shape, &[table.len()], 1, 0);
        let updates: Vec<f32> = (1..=2 * table.len() * width).map(|i| i as f32).collect();
        for mode in [ScatterMode::Add, ScatterMode::Sub] {
            let run = |data: Option<&[f32]>| {
                let mut out = vec![9.0f32; 10 * width];
                let operands = (data.map(cast_slice), cast_slice(&updates));
                execute(&rows, mode, DType::F32, operands, Indices::I32(&table), cast_slice_mut(&mut out));
                out
            };
            assert_eq!(run(None), run(Some(&vec![0.0; 10 * width])), "{mode:?}, rows of {width}");
        }
    }
}

#[test]
fn bools_are_set() {
    let rows = Rows::axis(&[2], &[3], 0, 0);
    let mut out = [9; 2];
    let operands = (Some(&[1, 1][..]), &[1, 0, 1][..]);
    execute(&rows, ScatterMode::Set, DType::Bool, operands, Indices::I32(&[0, 0, 1]), &mut out);
    assert_eq!(out, [0, 1]);
}
