//! Sorted elements, the positions they come from, and the largest few. burn-flex's floats are in the order of
//! `total_cmp`, so are these. Its sorts are not stable, so the positions of equal elements are checked by tests here.

use burn::tensor::backend::Backend;
use burn::tensor::module::max_pool1d;
use burn::tensor::ops::{FloatTensorOps, IntTensorOps};
use burn::tensor::{DType, FloatDType, Int, IntDType, Tensor, TensorData, TensorPrimitive, s};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;
use test_support::{FLOATS, INTEGERS, Layout, NUMERIC, assert_refused, integer_data};

use crate::compare::assert_gives;

cases! {
    numbers(Layout::ALL, NUMERIC) {
        sort = |x| vec![x.clone().sort(0), x.clone().sort(1), x.sort(2)];
        sort_descending = |x| vec![x.clone().sort_descending(0), x.clone().sort_descending(1), x.sort_descending(2)];
        sort_with_indices_values = |x| vec![x.clone().sort_with_indices(1).0, x.sort_descending_with_indices(2).0];
    }

    // burn-flex sorts rows as short as these by insertion, so equal elements stay in order.
    numbers(Layout::PLAIN, NUMERIC) {
        argsort = |x| [0, 1, 2].map(|dim| x.clone().argsort(dim).cast(IntDType::I64)).to_vec();
        argsort_descending = |x| [0, 1, 2].map(|dim| x.clone().argsort_descending(dim).cast(IntDType::I64)).to_vec();
        sort_with_indices_positions = |x| vec![
            x.clone().sort_with_indices(1).1.cast(IntDType::I64),
            x.sort_descending_with_indices(2).1.cast(IntDType::I64),
        ];
    }

    numbers([Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Extreme], NUMERIC) {
        topk = |x| vec![x.clone().topk(1, 0), x.clone().topk(3, 1), x.topk(2, 2)];
        topk_with_indices = |x| vec![x.clone().topk_with_indices(2, 1).0, x.topk_with_indices(1, 2).0];
    }

    every_axis(Exact) {
        argsort_of_every_rank = |x, axis| x.argsort(axis);
        int_sort_of_every_rank = |x, axis| x.int().sort_descending(axis);
        sort_of_every_rank = |x, axis| x.sort(axis);
    }

    // Rows that take one pass of the positions' sort, two, and more; their values by positions, too.
    given(NUMERIC, [Layout::Contiguous], Exact) {
        sort_of_long_rows = |_layout, dtype| long_rows::<B>(dtype);
    }

    gradients(FLOATS, Layout::PLAIN, Exact) {
        sort_gradient = |x| x.sort(1);
        sort_descending_gradient = |x| x.sort_descending_with_indices(2).0;
    }

    by_hand() {
        argsort = |x = [[2.0, -1.0, 2.0], [0.0, 0.5, -0.5]]| x.argsort(1) => [[1, 0, 2], [2, 0, 1]];
        argtopk = |x = [[2.0, 5.0, 2.0, 5.0], [7.0, 7.0, 7.0, 8.0]]| x.argtopk(3, 1) => [[1, 3, 0], [3, 0, 1]];
        sort = |x = [[2, -1, 16777217], [0, 5, -5]]| x.sort(1) => [[-1, 2, 16777217], [-5, 0, 5]];
        sort_with_indices = |x = [[2.0, 1.0], [3.0, 1.0], [2.0, 0.0]]| x.sort_descending_with_indices(0).1
            => [[1, 0], [0, 1], [2, 2]];
        topk = |x = [[2.0, 5.0, -2.0, 0.5], [7.0, 7.0, 9.0, 8.0]]| x.topk(2, 1) => [[5.0, 2.0], [9.0, 8.0]];
    }
}

/// Numbers in no order over the whole range of 64 bits, every third twice; as floats multiples of 1/8 below 256.
fn mixed(count: usize) -> Vec<i128> {
    let mixed = (0..count as u64).map(|i| (i / 3 * 2 + i % 3 / 2).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed.map(|x| i128::from(x.cast_signed())).collect()
}

fn mixed_floats(count: usize) -> TensorData {
    let floats: Vec<f32> = mixed(count).into_iter().map(|x| (x >> 53) as f32 / 8.0).collect();
    TensorData::new(floats, [count])
}

fn long_rows<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let device = B::Device::default();
    let shapes = [[3, 300], [1, 5_000], [2, 70_000]];
    let rows = shapes.into_iter().flat_map(|shape @ [rows, extent]| {
        let count = rows * extent;
        if dtype.is_float() {
            let data = mixed_floats(count).convert_dtype(dtype);
            let x = Tensor::<B, 1>::from_data(data, (&device, dtype)).reshape(shape);
            [x.clone().sort(1), x.clone().sort_descending_with_indices(1).0, x.swap_dims(0, 1).sort(0)]
                .map(Tensor::into_data)
        } else {
            let x =
                Tensor::<B, 2, Int>::from_data(integer_data(&mixed(count), shape.to_vec(), dtype), (&device, dtype));
            [x.clone().sort(1), x.clone().sort_descending_with_indices(1).0, x.swap_dims(0, 1).sort(0)]
                .map(Tensor::into_data)
        }
    });
    rows.collect()
}

/// The positions of a row in order, equal ones as they are.
fn stable<T: Copy>(row: &[T], descending: bool, compare: impl Fn(&T, &T) -> std::cmp::Ordering) -> TensorData {
    let mut order: Vec<i32> = (0..row.len() as i32).collect();
    let element = |&at: &i32| row[at as usize];
    order.sort_by(|a, b| {
        let [a, b] = [element(a), element(b)];
        if descending { compare(&b, &a) } else { compare(&a, &b) }
    });
    TensorData::from(order.as_slice())
}

const EXTENTS: [usize; 4] = [2, 7, 300, 70_000];

#[test]
fn positions_of_equal_integers_stay_in_order() {
    let device = Default::default();
    for dtype in INTEGERS {
        for extent in EXTENTS {
            let data = integer_data(&mixed(extent), vec![extent], dtype);
            let row: Vec<i128> = match dtype {
                DType::U64 => data.iter::<u64>().map(i128::from).collect(),
                _ => data.iter::<i64>().map(i128::from).collect(),
            };
            let x = || Tensor::<MpsGraph, 1, Int>::from_data(data.clone(), (&device, dtype));
            let what = format!("{extent} of {dtype:?}");
            let order = |sorted: Tensor<MpsGraph, 1, Int>| sorted.cast(DType::I32).into_data();
            assert_gives(&what, &stable(&row, false, Ord::cmp), || order(x().argsort(0)), Exact);
            assert_gives(&what, &stable(&row, true, Ord::cmp), || order(x().argsort_descending(0)), Exact);
        }
    }
}

/// As Burn's intermediate representation has it. 300 positions do not fit 8 bits.
#[test]
fn positions_have_the_dtype_of_the_integers_or_fit_i32() {
    let device = Default::default();
    for dtype in INTEGERS {
        for (extent, fits) in [(100, true), (300, dtype.size() > 1)] {
            let data = integer_data(&mixed(extent), vec![extent], dtype);
            let x = || Tensor::<MpsGraph, 1, Int>::from_data(data.clone(), (&device, dtype));
            let found = [
                x().argmax(0),
                x().argmin(0),
                x().argsort(0),
                x().sort_with_indices(0).1,
                x().argtopk(3, 0),
                x().topk_with_indices(3, 0).1,
            ];
            for found in found {
                assert_eq!(found.dtype(), if fits { dtype } else { DType::I32 }, "{extent} of {dtype:?}");
                assert_eq!(found.dtype(), found.into_data().dtype);
            }
        }
    }
}

#[test]
fn nan_keeps_its_sign_in_extremes() {
    for dtype in FLOATS {
        let x = Tensor::<MpsGraph, 1>::from_data([1.0, f32::NAN, -2.0], (&Default::default(), dtype));
        let both = [x.clone().clamp_min(-1.0), x.clamp_max(1.0)];
        let positions = both.map(|x| x.argsort(0).into_data().to_vec::<i32>().expect("i32"));
        assert_eq!(positions, [[2, 0, 1], [2, 0, 1]], "{dtype:?}");
    }
}

/// What is found of rows with a NaN has it last, as burn-flex has.
#[test]
fn nan_of_rows_and_windows_comes_last() {
    for dtype in FLOATS {
        let rows = [[f32::NAN, 1.0, 4.0], [2.0, 3.0, 0.0], [5.0, 4.0, f32::NAN]];
        let x = Tensor::<MpsGraph, 2>::from_data(rows, (&Default::default(), dtype));
        let pooled = max_pool1d(x.clone().reshape([1, 3, 3]), 3, 3, 0, 1, false).reshape([3, 1]);
        let last = x.clone().cummin(1).slice(s![.., 2..]);
        for found in [x.clone().max_dim(1), x.clone().min_dim(1), pooled, last, x.cummax(1).slice(s![.., 2..])] {
            let positions = found.argsort(0).into_data().to_vec::<i32>().expect("i32");
            assert_eq!(positions, [1, 0, 2], "{dtype:?}");
        }
    }
}

#[test]
fn positions_of_equal_floats_stay_in_order() {
    let device = Default::default();
    let nan = f32::NAN.copysign(1.0);
    let special = [nan, -0.0, f32::INFINITY, 0.0, -nan, f32::NEG_INFINITY, f32::MIN_POSITIVE, 1.0, -1.0];
    for dtype in FLOATS {
        for extent in EXTENTS {
            let mut data = mixed_floats(extent);
            let floats = data.as_mut_slice::<f32>().expect("f32");
            for (at, x) in floats.iter_mut().enumerate().step_by(5) {
                *x = special[at / 5 % special.len()];
            }
            let data = data.convert_dtype(dtype);
            let row: Vec<f32> = data.iter::<f32>().collect();
            let x = || Tensor::<MpsGraph, 1>::from_data(data.clone(), (&device, dtype));
            let what = format!("{extent} of {dtype:?}");
            assert_gives(&what, &stable(&row, false, f32::total_cmp), || x().argsort(0).into_data(), Exact);
            assert_gives(&what, &stable(&row, true, f32::total_cmp), || x().argsort_descending(0).into_data(), Exact);
        }
    }
}

/// Denormals, whose order Apple's f32 kernels may not see, and the bits of NaN.
#[test]
fn every_bit_of_a_float_counts() {
    let bits = [1, 0x8000_0002, 2, 0x8000_0001, 0, 0x8000_0000, 0x7fc0_0001, 0x7fc0_0000, 0xffc0_0000, 0x7f80_0000u32];
    let x = bits.map(f32::from_bits);
    let mut expected = x;
    expected.sort_by(f32::total_cmp);
    let sorted = Tensor::<MpsGraph, 1>::from_floats(x, &Default::default()).sort(0).into_data();
    let found: Vec<f32> = sorted.to_vec().expect("f32");
    assert_eq!(found.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), expected.map(f32::to_bits));
}

/// More rows than MPSGraph sorts at once.
#[test]
fn rows_beyond_2_to_the_22() {
    let rows = (1 << 22) + 3;
    let data = TensorData::new((0..2 * rows).map(|i| (i * 37 % 251) as u8).collect::<Vec<_>>(), [rows, 2]);
    let device = Default::default();
    let x = Tensor::<MpsGraph, 2, Int>::from_data(data.clone(), (&device, DType::U8));
    let sorted: Vec<u8> = x.clone().sort(1).into_data().to_vec().expect("u8");
    let positions: Vec<u8> = x.argsort(1).into_data().to_vec().expect("u8");
    let pairs = data.as_slice::<u8>().expect("u8").as_chunks::<2>().0;
    for ((&[a, b], sorted), positions) in pairs.iter().zip(sorted.as_chunks::<2>().0).zip(positions.as_chunks::<2>().0)
    {
        assert_eq!((*sorted, *positions), if b < a { ([b, a], [1, 0]) } else { ([a, b], [0, 1]) });
    }
}

#[test]
fn positions_in_the_dtype_that_is_asked_for() {
    type B = MpsGraph<f32, i32>;
    let x = || Tensor::<B, 1>::from_floats([3.0, 1.0, 2.0], &Default::default()).into_primitive().tensor();
    for dtype in [IntDType::I64, IntDType::I32, IntDType::U8] {
        let found = Tensor::<B, 1, Int>::from_primitive(B::float_argsort(x(), 0, false, dtype)).into_data();
        assert_eq!(found, TensorData::from([1, 2, 0]).convert_dtype(dtype.into()));
        let found = Tensor::<B, 1, Int>::from_primitive(B::float_argtopk(x(), 0, 2, dtype)).into_data();
        assert_eq!(found, TensorData::from([0, 2]).convert_dtype(dtype.into()));
    }
    for dtype in INTEGERS {
        let ints = Tensor::<B, 1, Int>::from_data([7, 7, 8, 7], (&Default::default(), dtype));
        assert_eq!(ints.clone().argtopk(3, 0).into_data(), TensorData::from([2, 0, 1]).convert_dtype(dtype));
        assert_eq!(ints.sort_with_indices(0).1.into_data(), TensorData::from([0, 1, 3, 2]).convert_dtype(dtype));
    }
}

#[test]
fn all_of_an_axis_and_none() {
    type B = MpsGraph<f32, i32>;
    let x = || Tensor::<B, 2>::from_floats([[1.0, 3.0], [2.0, -1.0]], &Default::default()).into_primitive().tensor();
    let topk = |k| Tensor::<B, 2>::from_primitive(TensorPrimitive::Float(B::float_topk(x(), 1, k))).into_data();
    assert_eq!(topk(2), TensorData::from([[3.0f32, 1.0], [2.0, -1.0]]));
    assert_eq!(topk(0).shape.as_slice(), [2, 0]);
    let found = Tensor::<B, 2, Int>::from_primitive(B::float_argtopk(x(), 0, 0, IntDType::I32)).into_data();
    assert_eq!((found.shape.as_slice(), found.dtype), (&[0, 2][..], DType::I32));
}

#[test]
fn mistakes_are_refused() {
    type B = MpsGraph<f32, i32>;
    let floats = |shape: [usize; 2]| Tensor::<B, 2>::zeros(shape, &Default::default()).into_primitive().tensor();
    let ints = || Tensor::<B, 2, Int>::zeros([2, 3], &Default::default()).into_primitive();
    assert_refused(&["sort", "dim 2", "[2, 3]"], || B::float_sort(floats([2, 3]), 2, false));
    assert_refused(&["argsort", "dim 3", "[2, 3]"], || B::int_argsort(ints(), 3, true));
    assert_refused(&["argsort", "dim 2", "[2, 3]"], || B::int_sort_with_indices(ints(), 2, true));
    assert_refused(&["topk", "4 largest of 3", "dim 1", "[2, 3]"], || B::float_topk(floats([2, 3]), 1, 4));
    assert_refused(&["argtopk", "3 largest of 2", "dim 0", "[2, 3]"], || B::int_argtopk(ints(), 0, 3));
    assert_refused(&["argtopk", "dim 2", "[2, 3]"], || B::float_argtopk(floats([2, 3]), 2, 1, IntDType::I32));
    let narrow = || B::float_argsort(floats([1, 300]), 1, false, IntDType::U8);
    assert_refused(&["argsort", "299", "U8", "i32"], narrow);
    let half = Tensor::<B, 2>::zeros([2, 3], &Default::default()).cast(FloatDType::F16).into_primitive().tensor();
    assert_refused(&["sort", "dim 2", "[2, 3]"], || B::float_sort(half, 2, false));
}

/// So many that the positions leave digits of 16 bits, of which two are the lower half of an element.
#[test]
fn long_rows_of_64_bit_integers() {
    let low = |at: i64| (at * 0x9e37_79b9) & 0xffff_ffff;
    let numbers: Vec<i64> = (0..2000).map(|at| ((at % 3 - 1) << 32) | low(at)).collect();
    let row = TensorData::new(numbers.clone(), [2000]);
    let row = Tensor::<MpsGraph, 1, Int>::from_data(row, (&Default::default(), DType::I64));
    let mut sorted = numbers;
    sorted.sort_unstable();
    row.sort(0).into_data().assert_eq(&TensorData::new(sorted, [2000]), true);
}
