//! Reductions over axes that are no neighbours.

use super::*;

/// Shapes, many of which are reduced in two phases or more over axes that are no neighbours.
const SHAPES: [&[usize]; 10] = [
    &[16, 33, 4],
    &[300, 5, 3],
    &[2, 70, 129],
    &[9, 31, 1, 7],
    &[3, 17, 5, 2],
    &[40, 2, 3, 50],
    &[1, 13, 9, 11],
    &[2, 2, 40, 130],
    &[3, 2, 5, 2, 7],
    &[2, 3, 2, 3, 2, 5],
];

/// The sets of axes of a shape that has so many.
fn sets(rank: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1 << rank).map(axes_of)
}

/// Numbers between -3 and 7.2.
fn wave(count: usize) -> Vec<f32> {
    (0..count).map(|at| (at * 7919 % 1021) as f32 * 0.01 - 3.0).collect()
}

/// Numbers around 1, whose products stay in range.
fn around_one(count: usize) -> Vec<f32> {
    (0..count).map(|at| 0.99 + (at * 7919 % 1021) as f32 * 2e-5).collect()
}

#[test]
fn floats_over_every_set_of_axes() {
    for shape in SHAPES {
        let count = shape.iter().product();
        for axes in sets(shape.len()) {
            for op in ALL {
                let (x, error) = if op == ReduceOp::Prod { (around_one(count), 1e-5) } else { (wave(count), 2e-6) };
                compare(op, &x, shape, &axes, error);
            }
        }
    }
}

#[test]
fn special_numbers_reach_their_results_and_no_others() {
    for shape in SHAPES {
        let count: usize = shape.iter().product();
        let mut x = around_one(count);
        for (at, special) in [(1, f32::NAN), (2, f32::INFINITY), (5, f32::NEG_INFINITY), (7, 0.0), (8, -0.0)] {
            x[count * at / 9] = special;
        }
        for axes in sets(shape.len()) {
            for op in ALL {
                compare(op, &x, shape, &axes, 1e-5);
            }
        }
    }
}

/// Whether the innermost loop is longer than two phases are for.
fn is_long(shape: &[usize], axes: &[usize]) -> bool {
    let last = shape.len() - 1;
    let of_last = |&axis: &usize| axes.contains(&axis) == axes.contains(&last);
    (0..=last).rev().take_while(of_last).map(|axis| shape[axis]).product::<usize>() > 128
}

/// Threads share some of these, in which the order of the steps is that of one reduction after the other.
#[test]
fn two_phases_are_two_reductions() {
    let shapes: [&[usize]; 5] = [&[64, 512, 4, 4], &[300, 40, 31], &[3000, 3, 9], &[5, 140, 6, 77], &[2, 9, 300, 64]];
    for shape in shapes {
        let x = around_one(shape.iter().product());
        for axes in sets(shape.len()) {
            let groups = axes.iter().enumerate().filter(|&(at, &axis)| at == 0 || axes[at - 1] + 1 < axis).count();
            let Some([first, second]) = Loops::packed(shape, &axes).phases() else {
                assert!(groups < 2 || is_long(shape, &axes), "{shape:?} over {axes:?}");
                continue;
            };
            assert!(first.reduced.depth == 1 && second.reduced.depth + 1 == groups, "{shape:?} over {axes:?}");
            let behind = axes.windows(2).position(|pair| pair[0] + 1 < pair[1]).unwrap() + 1;
            let (outer, inner) = axes.split_at(behind);
            let mut narrow = shape.to_vec();
            outer.iter().for_each(|&axis| narrow[axis] = 1);
            for op in ALL.into_iter().filter(|op| ![ReduceOp::Mean, ReduceOp::Prod].contains(op)) {
                let folded = run(op, DType::F32, &x, shape, outer);
                let apart = run(op, DType::F32, &folded, &narrow, inner);
                assert!(run(op, DType::F32, &x, shape, &axes) == apart, "{op:?} of {shape:?} over {axes:?}");
            }
        }
    }
}

#[test]
fn scratch_memory_has_what_the_first_phases_come_to() {
    let bytes = |shape: &[usize], axes: &[usize]| {
        let reduce = Reduce { op: ReduceOp::Sum, axes: axes.to_vec() };
        let narrow = shape.iter().enumerate().map(|(axis, &extent)| if axes.contains(&axis) { 1 } else { extent });
        let [x, y] = [shape.to_vec(), narrow.collect()].map(|shape| TensorType::new(DType::F32, shape));
        reduce.scratch_bytes(&[&x], &y)
    };
    assert_eq!(bytes(&[64, 512, 4, 4], &[0, 2]), 512 * 16 * 4);
    assert_eq!(bytes(&[8, 10, 4, 6, 5], &[0, 2, 4]), 10 * 4 * 6 * 5 * 4 + (10 * 6 * 5 * 4_usize).next_multiple_of(64));
    // Neighbours, long segments, long rows, and few of them.
    for (shape, axes) in [
        (&[64, 512, 4, 4][..], &[2, 3][..]),
        (&[8, 1, 512, 4], &[0, 1]),
        (&[8, 20, 500], &[0, 2]),
        (&[8, 20, 3, 500], &[0, 2]),
        (&[2, 3, 4], &[0, 2]),
    ] {
        assert_eq!(bytes(shape, axes), 0, "{shape:?} over {axes:?}");
    }
}

#[test]
fn sums_along_several_axes_stay_accurate() {
    // One accumulator of f32 would be off by thousands here.
    for (shape, axes) in
        [([1_000_000, 2, 5], vec![0, 2]), ([2, 1_000_000, 4], vec![0, 2]), ([3000, 2, 1500], vec![0, 2])]
    {
        let x = vec![0.1f32; shape.iter().product()];
        let exact = f64::from(0.1f32) * x.len() as f64;
        let out: f64 = run(ReduceOp::Sum, DType::F32, &x, &shape, &axes).iter().map(|&x| f64::from(x)).sum();
        assert!((out - exact).abs() < 1e-6 * exact, "{shape:?}: {out} is not {exact}");
    }
}

/// Results of the first phase overflow or come to 0, or what is made of them, but not the elements in order.
#[test]
fn finite_results_of_several_phases_stay_finite() {
    let cases: [(&[usize], &[usize], usize); 5] = [
        (&[200, 6, 4], &[0, 2], 2),
        (&[200, 6, 4, 3], &[0, 2], 2),
        (&[5, 200, 6, 4], &[1, 3], 3),
        (&[5, 200, 6, 4, 3], &[1, 3], 3),
        (&[200, 3, 4, 3, 2], &[0, 2, 4], 4),
    ];
    for (shape, axes, last) in cases {
        let step: usize = shape[last + 1..].iter().product();
        let pairs = |pair: [f32; 2]| -> Vec<f32> {
            (0..shape.iter().product()).map(|at: usize| pair[at / step % shape[last] % 2]).collect()
        };
        assert!(Loops::packed(shape, axes).phases().is_some());
        for op in [ReduceOp::Sum, ReduceOp::Mean] {
            let sums = run(op, DType::F32, &pairs([3e38, -3e38]), shape, axes);
            assert!(sums.iter().all(|&sum| sum == 0.0), "{op:?} of {shape:?}: {sums:?}");
        }
        let mut x = pairs([2.0, 0.5]);
        let products = run(ReduceOp::Prod, DType::F32, &x, shape, axes);
        assert!(products.iter().all(|&product| product == 1.0), "{shape:?}: {products:?}");
        // What an element explains stays.
        x[0] = f32::INFINITY;
        let products = run(ReduceOp::Prod, DType::F32, &x, shape, axes);
        assert!(!products[0].is_finite() && products[1..].iter().all(|&product| product == 1.0), "{shape:?}");
    }
}

#[test]
fn halves_over_every_set_of_axes() {
    for shape in SHAPES {
        // Sums of so few small integers are exact, and so are products of signs.
        let count: usize = shape.iter().product();
        let [small, signs] = [small(count), (0..count).map(|at| [1.0, -1.0, 1.0][at * 31 % 7 % 3]).collect()];
        for axes in sets(shape.len()) {
            for op in [ReduceOp::Sum, ReduceOp::Mean, ReduceOp::Prod] {
                let x = if op == ReduceOp::Prod { &signs } else { &small };
                let halves: Vec<f16> = x.iter().map(|&x| f16::from_f32(x)).collect();
                let ours = run(op, DType::F16, &halves, shape, &axes);
                for (group, ours) in groups(shape, &axes).iter().zip(ours) {
                    let group: Vec<f64> = group.iter().map(|&at| f64::from(x[at])).collect();
                    let exact = f16::from_f64(naive(op, &group));
                    assert!(ours == exact, "{op:?} of {shape:?} over {axes:?}: {ours} is not {exact}");
                }
            }
        }
    }
    // Results of the first phase are f16, too.
    let big = vec![f16::from_f32(6_000.0); 64 * 5 * 4];
    assert_eq!(run(ReduceOp::Mean, DType::F16, &big, &[64, 5, 4], &[0, 2]), [f16::INFINITY; 5]);
}

#[test]
fn integers_and_truth_values_over_every_set_of_axes() {
    macro_rules! check {
        ($($t:ident $dtype:ident)*) => {$(for shape in SHAPES {
            let x: Vec<$t> = (0..shape.iter().product::<usize>() as u64)
                .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 29) as $t | (at % 7 != 0) as $t)
                .collect();
            for axes in sets(shape.len()) {
                compare_integers(DType::$dtype, [$t::wrapping_add, $t::wrapping_mul], (&x, shape), &axes);
            }
        })*};
    }
    check!(i8 I8 i16 I16 i32 I32 i64 I64 u8 U8 u16 U16 u32 U32 u64 U64);
    for shape in SHAPES {
        let x: Vec<u8> = (0..shape.iter().product()).map(|at: usize| (at * 7919).is_multiple_of(31).into()).collect();
        let turned: Vec<u8> = x.iter().map(|x| 1 - x).collect();
        for axes in sets(shape.len()) {
            let any: Vec<u8> =
                groups(shape, &axes).iter().map(|group| group.iter().map(|&at| x[at]).max().unwrap()).collect();
            let all: Vec<u8> = any.iter().map(|any| 1 - any).collect();
            for op in [ReduceOp::Sum, ReduceOp::Or, ReduceOp::Max] {
                assert_eq!(run(op, DType::Bool, &x, shape, &axes), any, "{op:?} of {shape:?} over {axes:?}");
            }
            for op in [ReduceOp::Prod, ReduceOp::And, ReduceOp::Min] {
                assert_eq!(run(op, DType::Bool, &turned, shape, &axes), all, "{op:?} of {shape:?} over {axes:?}");
            }
        }
    }
}
