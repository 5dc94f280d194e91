//! Reductions of integers: exact, wrapping.

use burn::tensor::{Element, Int, IntDType, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;
use test_support::{INTS, Layout, ints};

use crate::compare::assert_gives;

cases! {
    sweep(ints, INTS, Layout::ALL, Exact) {
        all = |x| x.all();
        all_dim = |x| x.all_dim(1);
        any = |x| x.any();
        any_dim = |x| x.any_dim(1);
        max_abs_dim = |x| x.max_abs_dim(2);
        max_dim_0 = |x| x.max_dim(0);
        max_dim_2 = |x| x.max_dim(2);
        min_dim_0 = |x| x.min_dim(0);
        min_dim_2 = |x| x.min_dim(2);
        prod = |x| x.prod();
        prod_dim_0 = |x| x.prod_dim(0);
        prod_dim_1 = |x| x.prod_dim(1);
        prod_dim_2 = |x| x.prod_dim(2);
        sum = |x| x.sum();
        sum_dim_0 = |x| x.sum_dim(0);
        sum_dim_1 = |x| x.sum_dim(1);
        sum_dim_2 = |x| x.sum_dim(2);
    }

    // burn-flex's positions are I64; the test below has ours.
    sweep(ints, INTS, [Layout::PLAIN.as_slice(), &[Layout::Extreme]].concat(), Exact) {
        argmax_0 = |x| x.argmax(0).cast(IntDType::I64);
        argmax_1 = |x| x.argmax(1).cast(IntDType::I64);
        argmax_2 = |x| x.argmax(2).cast(IntDType::I64);
        argmin_0 = |x| x.argmin(0).cast(IntDType::I64);
        argmin_1 = |x| x.argmin(1).cast(IntDType::I64);
        argmin_2 = |x| x.argmin(2).cast(IntDType::I64);
        max_dim_with_indices = |x| x.max_dim_with_indices(2).1.cast(IntDType::I64);
        min_dim_with_indices = |x| x.min_dim_with_indices(2).1.cast(IntDType::I64);
    }

    // No elements have no extreme, and burn-flex wraps a sum before it divides.
    sweep(ints, INTS, Layout::PLAIN, Exact) {
        max = |x| x.max();
        max_abs = |x| x.max_abs();
        max_dim_1 = |x| x.max_dim(1);
        mean = |x| x.mean();
        mean_dim_0 = |x| x.mean_dim(0);
        mean_dim_1 = |x| x.mean_dim(1);
        min = |x| x.min();
        min_dim_1 = |x| x.min_dim(1);
    }

    by_hand() {
        max_dim = |x = [[1, -5], [3, 2]]| x.max_dim(0) => [[3, 2]];
        mean_dim = |x = [[7, 0], [-7, 0]]| x.mean_dim(1) => [[3], [-3]];
        min = |x = [1, -5, 3]| x.min() => [-5];
        prod = |x = [1, -2, 3]| x.prod() => [-6];
        sum_dim = |x = [[1, 2], [3, 6]]| x.sum_dim(1) => [[3], [9]];
    }
}

#[test]
fn dtypes_of_positions() {
    // As burn-fusion describes these ops, and as Burn's own definition of those with extremes gives it.
    for dtype in INTS {
        let x = ints::<MpsGraph>(Layout::Contiguous, dtype, 0);
        assert_eq!(x.clone().argmax(1).into_data().dtype, dtype);
        assert_eq!(x.clone().argmin(1).into_data().dtype, dtype);
        assert_eq!(x.clone().max_dim_with_indices(1).1.into_data().dtype, dtype);
        assert_eq!(x.min_dim_with_indices(1).1.into_data().dtype, dtype);
    }
}

type Ints = Tensor<MpsGraph, 2, Int>;

/// Compares `function` along axis 1 with `exact` of each line.
#[track_caller]
fn assert_lines<T: Element>(name: &str, lines: &[[T; 4]; 3], function: fn(Ints) -> Ints, exact: impl Fn(&[T; 4]) -> T) {
    let expected = TensorData::from(lines.each_ref().map(|line| [exact(line)]));
    let device = Default::default();
    let found = || function(Tensor::from_data(TensorData::from(*lines), (&device, T::dtype()))).into_data();
    assert_gives(&format!("{name} of {:?}", T::dtype()), &expected, found, Exact);
}

macro_rules! dtypes {
    ($($int:ident)+) => {$(
        /// burn-flex lacks some of these dtypes and computes the others as i64.
        #[test]
        fn $int() {
            let (min, max) = ($int::MIN, $int::MAX);
            let lines = [[3, 7, 100, 9], [max, min, max - 1, 1], [max / 2 + 1, 2, max / 2 + 2, 4]];
            assert_lines("sum_dim", &lines, |x| x.sum_dim(1), |x| x.iter().fold(0, |a: $int, &b| a.wrapping_add(b)));
            assert_lines("prod_dim", &lines, |x| x.prod_dim(1), |x| x.iter().fold(1, |a: $int, &b| a.wrapping_mul(b)));
            assert_lines("max_dim", &lines, |x| x.max_dim(1), |x| x.iter().copied().fold(min, $int::max));
            assert_lines("min_dim", &lines, |x| x.min_dim(1), |x| x.iter().copied().fold(max, $int::min));
            let first = |x: &[$int; 4], found: $int| x.iter().position(|&x| x == found).expect("it is there") as $int;
            assert_lines("argmax", &lines, |x| x.argmax(1), |x| first(x, x.iter().copied().fold(min, $int::max)));
            assert_lines("argmin", &lines, |x| x.argmin(1), |x| first(x, x.iter().copied().fold(max, $int::min)));
            // The mean is right where the sum does not fit the dtype, but the sum must fit 64 bits.
            let lines = [[3, 7, 100, 9], [max / 4, max / 4, max / 4, 2], [min / 4, min / 4, 1, min / 4 + 1]];
            assert_lines("mean_dim", &lines, |x| x.mean_dim(1), |x| {
                (x.iter().map(|&x| x as i128).sum::<i128>() / 4) as $int
            });
        }
    )+};
}

dtypes! { i8 i16 i32 i64 u8 u16 u32 u64 }

#[test]
fn means_of_narrow_integers_do_not_wrap() {
    // burn-flex sums i8 as i8.
    let device = Default::default();
    let x = || Tensor::<MpsGraph, 1, Int>::from_data(TensorData::from([100i8, 120, 110]), (&device, i8::dtype()));
    assert_gives("mean", &TensorData::from([110i8]), || x().mean().into_data(), Exact);
}
