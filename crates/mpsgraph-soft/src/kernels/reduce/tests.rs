//! Reductions against one accumulator per result, over every set of axes.

use super::*;
use crate::kernels::element::Element;
use bytemuck::cast_slice;
use half::f16;

mod phases;

/// One reduction of the elements of one result, in f64 (exact for what the tests use).
fn naive(op: ReduceOp, x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let nan = x.iter().any(|x| x.is_nan());
    match op {
        ReduceOp::Sum => x.iter().sum(),
        ReduceOp::Prod => x.iter().product(),
        ReduceOp::MinNan | ReduceOp::MaxNan if nan => f64::NAN,
        ReduceOp::Min | ReduceOp::MinNan => x.iter().copied().fold(f64::INFINITY, f64::min),
        ReduceOp::Max | ReduceOp::MaxNan => x.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ReduceOp::And => f64::from(x.iter().all(|&x| x != 0.0)),
        ReduceOp::Or => f64::from(x.iter().any(|&x| x != 0.0)),
        ReduceOp::Mean => x.iter().sum::<f64>() / n,
    }
}

/// The elements of each result.
fn groups(shape: &[usize], axes: &[usize]) -> Vec<Vec<usize>> {
    let mut groups = vec![vec![]; (0..shape.len()).filter(|a| !axes.contains(a)).map(|a| shape[a]).product()];
    for flat in 0..shape.iter().product() {
        let (mut rest, mut to, mut scale) = (flat, 0, 1);
        for axis in (0..shape.len()).rev() {
            if !axes.contains(&axis) {
                to += rest % shape[axis] * scale;
                scale *= shape[axis];
            }
            rest /= shape[axis];
        }
        groups[to].push(flat);
    }
    groups
}

fn run<T: Element>(op: ReduceOp, dtype: DType, x: &[T], shape: &[usize], axes: &[usize]) -> Vec<T> {
    let mut out = vec![T::HIGHEST; (0..shape.len()).filter(|a| !axes.contains(a)).map(|a| shape[a]).product()];
    execute(op, dtype, (cast_slice(x), shape), axes, cast_slice_mut(&mut out));
    out
}

/// Compares f32 results with f64's within `error` of the largest magnitude in a group.
fn compare(op: ReduceOp, x: &[f32], shape: &[usize], axes: &[usize], error: f64) {
    let out = run(op, DType::F32, x, shape, axes);
    for (group, &ours) in groups(shape, axes).iter().zip(&out) {
        let group: Vec<f64> = group.iter().map(|&at| f64::from(x[at])).collect();
        let (ours, exact) = (f64::from(ours), naive(op, &group));
        let close = ours == exact || (ours - exact).abs() <= error * (1.0 + exact.abs());
        assert!(close || (ours.is_nan() && exact.is_nan()), "{op:?} {shape:?} over {axes:?}: {ours} is not {exact}");
    }
}

/// The reductions of f32.
const ALL: [ReduceOp; 7] =
    [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max, ReduceOp::MinNan, ReduceOp::MaxNan, ReduceOp::Mean];

/// Axes of the bits of `set`.
fn axes_of(set: usize) -> Vec<usize> {
    (0..16).filter(|axis| set >> axis & 1 == 1).collect()
}

/// Small integers, whose sums and products are exact; few enough that products stay in range.
fn small(n: usize) -> Vec<f32> {
    (0..n).map(|i| if i % 97 == 5 { -2.0 } else { (i * 7919 % 3) as f32 - 1.0 }).collect()
}

#[test]
fn every_set_of_axes() {
    for shape in [[2, 3, 4, 5], [5, 1, 7, 2], [3, 33, 2, 9], [1, 6, 1, 1]] {
        let mut x = small(shape.iter().product());
        for set in 0..16 {
            for op in ALL {
                compare(op, &x, &shape, &axes_of(set), 1e-6);
            }
        }
        let n = x.len();
        x[n / 2] = f32::NAN;
        x[0] = f32::INFINITY;
        for set in 0..16 {
            for op in ALL {
                compare(op, &x, &shape, &axes_of(set), 1e-6);
            }
        }
    }
}

#[test]
fn small_sizes_inner_and_outer() {
    for extent in (1..=20).chain([31, 32, 33, 64, 127, 129, 300]) {
        for op in ALL {
            compare(op, &small(extent * 7), &[7, extent], &[1], 1e-6);
            compare(op, &small(extent * 7), &[extent, 7], &[0], 1e-6);
            compare(op, &small(extent * 7), &[7, extent], &[0], 1e-6);
            compare(op, &small(extent), &[extent], &[0], 1e-6);
        }
    }
}

#[test]
fn rank_16_and_rank_0() {
    let x = small(1 << 16);
    for set in [0, 0xffff, 0x5555, 0xaaaa, 0x00f0, 0xff00, 0x00ff, 0x1234] {
        compare(ReduceOp::Sum, &x, &[2; 16], &axes_of(set), 1e-6);
    }
    compare(ReduceOp::Sum, &[3.0], &[], &[], 0.0);
    compare(ReduceOp::Max, &[3.0], &[], &[], 0.0);
}

#[test]
fn large_on_several_threads() {
    let wave = |n: usize| (0..n).map(|i| (i * 7919 % 1013) as f32 * 0.01 - 3.0).collect::<Vec<_>>();
    for op in [ReduceOp::Sum, ReduceOp::Mean, ReduceOp::Max] {
        for (shape, axes) in [
            (vec![1_000_000], vec![0]),
            (vec![300_000, 3], vec![0]),
            (vec![1000, 900], vec![0]),
            (vec![1000, 900], vec![1]),
            (vec![20, 2500], vec![0]),
            (vec![40, 9, 50, 41], vec![0, 2, 3]),
            (vec![40, 9, 50, 41], vec![0, 2]),
            (vec![40, 9, 50, 41], vec![1, 3]),
            (vec![3, 100_000, 2], vec![1]),
        ] {
            compare(op, &wave(shape.iter().product()), &shape, &axes, 2e-6);
        }
    }
}

#[test]
fn sums_stay_accurate() {
    // One accumulator of f32 would be off by thousands here.
    let x = vec![0.1f32; 10_000_000];
    let exact = f64::from(0.1f32) * 1e7;
    for (shape, axes) in [(vec![10_000_000], vec![0]), (vec![1_000_000, 10], vec![0, 1]), (vec![5_000_000, 2], vec![0])]
    {
        let out: f64 = run(ReduceOp::Sum, DType::F32, &x, &shape, &axes).iter().map(|&x| f64::from(x)).sum();
        assert!((out - exact).abs() < 10.0, "{shape:?}: {out} is not {exact}");
    }
}

/// Accumulators of every 32nd element, or of a few rows, would overflow or come to 0.
#[test]
fn finite_results_stay_finite() {
    for (count, pair) in [(32, [1e20, 1e-20]), (1024, [2.0, 0.5]), (4096, [2.0, 0.5]), (10_000, [0.5, 2.0])] {
        let pairs = |columns: usize| (0..count * columns).map(|at| pair[at / columns % 2]).collect::<Vec<f32>>();
        let product = (0..count).map(|at| pair[at % 2]).product::<f32>();
        for (shape, axes) in [([1, count], [1]), ([count, 1], [0])] {
            assert_eq!(run(ReduceOp::Prod, DType::F32, &pairs(1), &shape, &axes), [product], "{shape:?}");
        }
        assert_eq!(run(ReduceOp::Prod, DType::F32, &pairs(3), &[count, 3], &[0]), [product; 3], "columns of {count}");
        let huge: Vec<f32> = (0..count).map(|at| [3e38, -3e38][at % 2]).collect();
        for op in [ReduceOp::Sum, ReduceOp::Mean] {
            assert_eq!(run(op, DType::F32, &huge, &[count], &[0]), [0.0], "{op:?} of {count}");
        }
    }
    // Of 40 columns, every third is one of pairs, and every fifth has a 0; the others overflow in any order.
    let x: Vec<f32> = (0..1024 * 40)
        .map(|at| match [at / 40, at % 40] {
            [700, column] if column % 5 == 0 => 0.0,
            [row, column] if column % 3 == 0 => [2.0, 0.5][row % 2],
            _ => -2.0,
        })
        .collect();
    let products = run(ReduceOp::Prod, DType::F32, &x, &[1024, 40], &[0]);
    for (column, &product) in products.iter().enumerate().filter(|(column, _)| column % 5 != 0) {
        assert_eq!(product, if column % 3 == 0 { 1.0 } else { f32::INFINITY }, "column {column}");
    }
    assert!(products.iter().step_by(15).all(|&product| product == 0.0), "{products:?}");
    assert!(products.iter().step_by(5).all(|&product| product == 0.0 || product.is_nan()), "{products:?}");
    // What an element explains stays, and so does what no order makes finite.
    let mut x = vec![2.0f32; 64];
    x[40] = 0.0;
    assert_eq!(run(ReduceOp::Prod, DType::F32, &x, &[64], &[0]), [0.0]);
    assert_eq!(run(ReduceOp::Prod, DType::F32, &[2.0; 200], &[200], &[0]), [f32::INFINITY]);
    assert_eq!(run(ReduceOp::Sum, DType::F32, &[3e38; 2], &[2], &[0]), [f32::INFINITY]);
    x[3] = f32::INFINITY;
    assert!(run(ReduceOp::Prod, DType::F32, &x, &[64], &[0])[0].is_nan());
}

/// Of rows that several threads take, some packed and some not, every third is one of pairs that overflow in another
/// order, and every fifth has a 0.
#[test]
fn finite_products_of_many_rows() {
    let cases = [
        ([1, 60_000, 4], vec![2]),
        ([1, 700, 100], vec![2]),
        ([1, 300, 400], vec![2]),
        ([8, 900, 40], vec![0, 2]),
        ([300, 700, 1], vec![0, 2]),
    ];
    for ([outer, rows, inner], axes) in cases {
        let element = |outer: usize, row: usize, at: usize| match row {
            _ if row.is_multiple_of(5) && at == inner - 1 => 0.0,
            _ if row.is_multiple_of(3) => [1e30, 1e-30][(outer + at) % 2],
            _ => [1.0, 2.0][(row + at) % 4 / 3],
        };
        let x: Vec<f32> =
            (0..outer * rows * inner).map(|at| element(at / inner / rows, at / inner % rows, at % inner)).collect();
        let products = run(ReduceOp::Prod, DType::F32, &x, &[outer, rows, inner], &axes);
        for (row, product) in products.into_iter().enumerate() {
            let in_order = (0..outer).flat_map(|outer| (0..inner).map(move |at| element(outer, row, at)));
            let wanted: f32 = in_order.product();
            assert!(product == wanted, "row {row} of {rows}: {product}, not {wanted}");
        }
    }
}

#[test]
fn nan_rules() {
    let all = [f32::NAN; 50];
    for (shape, axes) in [([50, 1], [0]), ([2, 25], [1]), ([25, 2], [0])] {
        assert!(run(ReduceOp::Min, DType::F32, &all, &shape, &axes).iter().all(|&x| x == f32::INFINITY));
        assert!(run(ReduceOp::Max, DType::F32, &all, &shape, &axes).iter().all(|&x| x == f32::NEG_INFINITY));
        assert!(run(ReduceOp::MaxNan, DType::F32, &all, &shape, &axes).iter().all(|x| x.is_nan()));
    }
    // A NaN anywhere in a long row or column, between infinities.
    for (shape, axes) in [([1, 200], [1]), ([200, 1], [0]), ([100, 2], [0])] {
        for at in (0..200).step_by(2) {
            let mut x: Vec<f32> = (0..200).map(|at| [f32::NEG_INFINITY, f32::INFINITY][at % 2]).collect();
            assert!(!run(ReduceOp::MaxNan, DType::F32, &x, &shape, &axes)[0].is_nan());
            x[at] = f32::NAN;
            for (op, nan) in [(ReduceOp::MaxNan, f32::NAN), (ReduceOp::MinNan, -f32::NAN)] {
                x[at] = nan;
                let found = run(op, DType::F32, &x, &shape, &axes)[0];
                assert!(found.is_nan() && found.is_sign_positive(), "{op:?} {shape:?} at {at}");
            }
        }
    }
}

#[test]
fn products_are_the_same_bits_along_any_axis() {
    for count in [1, 2, 5, 31, 32, 33, 63, 64, 65, 95, 97, 128, 4096, 4097, 9000] {
        for width in [1, 3, 33, 70, 300] {
            // Around 1, so that nothing overflows, and odd, so that every step rounds.
            let x: Vec<f32> = (0..count * width).map(|at| 0.97 + (at * 7919 % 613) as f32 * 1e-4).collect();
            let columns = run(ReduceOp::Prod, DType::F32, &x, &[count, width], &[0]);
            let turned: Vec<f32> = (0..count * width).map(|at| x[at % count * width + at / count]).collect();
            let rows = run(ReduceOp::Prod, DType::F32, &turned, &[width, count], &[1]);
            assert_eq!(columns, rows, "{width} columns of {count}");
        }
    }
    let halves: Vec<f16> = (0..300).map(|at| f16::from_f32(0.5 + at as f32 * 0.003)).collect();
    let turned: Vec<f16> = (0..300).map(|at| halves[at % 100 * 3 + at / 100]).collect();
    let columns = run(ReduceOp::Prod, DType::F16, &halves, &[100, 3], &[0]);
    assert_eq!(columns, run(ReduceOp::Prod, DType::F16, &turned, &[3, 100], &[1]));
}

/// Compares every reduction that integers have, of a type whose sums and products are these.
fn compare_integers<T: Element + Ord + From<bool> + std::fmt::Debug>(
    dtype: DType,
    [sum, product]: [fn(T, T) -> T; 2],
    (x, shape): (&[T], &[usize]),
    axes: &[usize],
) {
    let [zero, one] = [false, true].map(T::from);
    let check = |op, expected: &dyn Fn(&[T]) -> T| {
        for (group, ours) in groups(shape, axes).iter().zip(run(op, dtype, x, shape, axes)) {
            let group: Vec<T> = group.iter().map(|&at| x[at]).collect();
            assert_eq!(ours, expected(&group), "{op:?} of {shape:?} over {axes:?}");
        }
    };
    check(ReduceOp::Sum, &|x| x.iter().fold(zero, |a, &b| sum(a, b)));
    check(ReduceOp::Prod, &|x| x.iter().fold(one, |a, &b| product(a, b)));
    if dtype != DType::U64 {
        check(ReduceOp::Min, &|x| *x.iter().min().unwrap());
        check(ReduceOp::Max, &|x| *x.iter().max().unwrap());
    }
    if dtype.size() == 1 {
        check(ReduceOp::And, &|x| x.iter().all(|&x| x != zero).into());
        check(ReduceOp::Or, &|x| x.iter().any(|&x| x != zero).into());
    }
}

#[test]
fn integers_of_every_width() {
    macro_rules! check {
        ($($t:ident $dtype:ident)*) => {$(
            let x: Vec<$t> = (0..300u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) as $t).collect();
            let cases = [([3, 100], vec![1]), ([100, 3], vec![0]), ([30, 10], vec![0, 1]), ([2, 150], vec![])];
            for (shape, axes) in cases {
                compare_integers(DType::$dtype, [$t::wrapping_add, $t::wrapping_mul], (&x, &shape), &axes);
            }
        )*};
    }
    check!(i8 I8 i16 I16 i32 I32 i64 I64 u8 U8 u16 U16 u32 U32 u64 U64);
}

#[test]
fn narrow_floats_accumulate_in_their_own_width() {
    // Above 2048 only every second integer is an f16, so that a sum of 32 equal parts does not move by one.
    let mut ones = vec![f16::ONE; 128];
    ones[0] = f16::from_f32(4096.0);
    let sum = run(ReduceOp::Sum, DType::F16, &ones, &[128], &[0])[0].to_f32();
    assert!((4096.0..4096.0 + 127.0).contains(&sum), "{sum}");
    let big = vec![f16::from_f32(60_000.0); 64];
    assert_eq!(run(ReduceOp::Mean, DType::F16, &big, &[64], &[0])[0], f16::INFINITY);
}

#[test]
fn bool_stays_bool() {
    let x = [1u8, 1, 0, 1, 1, 1];
    for (op, expected) in [
        (ReduceOp::Sum, [1, 1]),
        (ReduceOp::Prod, [0, 1]),
        (ReduceOp::Min, [0, 1]),
        (ReduceOp::Max, [1, 1]),
        (ReduceOp::And, [0, 1]),
        (ReduceOp::Or, [1, 1]),
    ] {
        assert_eq!(run(op, DType::Bool, &x, &[2, 3], &[1]), expected);
    }
}

/// Reduces the axis in the middle of `[blocks, rows, width]`, all blocks at once and each by itself.
fn compare_blocks<T: Element>(op: ReduceOp, dtype: DType, x: &[T], [blocks, rows, width]: [usize; 3]) {
    let together = run(op, dtype, x, &[blocks, rows, width], &[1]);
    let apart: Vec<T> = x.chunks_exact(rows * width).flat_map(|x| run(op, dtype, x, &[rows, width], &[0])).collect();
    let bytes = |results: &[T]| cast_slice::<T, u8>(results).to_vec();
    assert!(bytes(&together) == bytes(&apart), "{op:?} of {dtype:?}, [{blocks}, {rows}, {width}]");
}

#[test]
fn blocks_are_folded_together_as_each_by_itself() {
    const RANGE: usize = 251;
    let shapes = [[700, 2, 2], [33, 3, 10], [41, 2, 11], [9, 16, 3], [30, 8, 64], [5, 60, 7], [12, 5, 50], [3, 130, 2]];
    for shape in shapes.into_iter().chain([[1, 2, 2], [2, 600, 3], [6, 70, 20], [300, 20, 30], [2, 9, 1000]]) {
        let count: usize = shape.iter().product();
        let place = |i: usize| i * 7919 % RANGE;
        let floats: Vec<f32> = (0..count).map(|i| place(i) as f32 * 0.37 - 40.0).collect();
        for op in ALL {
            compare_blocks(op, DType::F32, &floats, shape);
        }
        let halves: Vec<f16> = floats.iter().map(|&x| f16::from_f32(x)).collect();
        let longs: Vec<i64> = (0..count).map(|i| place(i) as i64 - 125).collect();
        let bytes: Vec<u8> = (0..count).map(|i| place(i) as u8).collect();
        for op in [ReduceOp::Sum, ReduceOp::Prod] {
            compare_blocks(op, DType::F16, &halves, shape);
            compare_blocks(op, DType::I64, &longs, shape);
            compare_blocks(op, DType::U8, &bytes, shape);
        }
        compare_blocks(ReduceOp::Max, DType::I64, &longs, shape);
        compare_blocks(ReduceOp::Or, DType::U8, &bytes, shape);
    }
}

#[test]
fn one_truth_wherever_what_settles_it_is() {
    let count = 3 * BLOCK + 5;
    for at in [0, 1, BLOCK - 1, BLOCK, count - 1] {
        for (ops, other) in [([ReduceOp::Or, ReduceOp::Sum], 0), ([ReduceOp::And, ReduceOp::Prod], 1)] {
            let mut x = vec![other; count];
            for op in ops {
                assert_eq!(run::<u8>(op, DType::Bool, &x, &[count], &[0]), [other], "{op:?}");
            }
            x[at] = 1 - other;
            for op in ops {
                assert_eq!(run::<u8>(op, DType::Bool, &x, &[1, count], &[1]), [1 - other], "{op:?} at {at}");
            }
        }
    }
}
