//! Tensors without operands: zeros, ones, one number, ranges and grids.

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, DType, Element, Int, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;
use test_support::{BOOL, FLOATS, INTEGERS, INTS, Layout, assert_refused};

use crate::compare::assert_gives;

cases! {
    given(FLOATS, [Layout::Contiguous], Exact) {
        zeros_ones_and_full = |_layout, dtype| special_floats::<B>(dtype);
        like_another = |_layout, dtype| like::<B>(dtype);
    }

    given(INTEGERS, [Layout::Contiguous], Exact) {
        integer_zeros_ones_and_full = |_layout, dtype| SHAPES.map(|shape| ints::<B>(shape, 100, dtype)).to_vec();
        integer_ranges = |_layout, dtype| ranges::<B>(dtype);
    }

    given(INTS, [Layout::Contiguous], Exact) {
        full_of_a_large_number = |_layout, dtype| ints::<B>([2, 3, 4], -2147483647, dtype);
    }

    given([DType::I8, DType::I32, DType::I64], [Layout::Contiguous], Exact) {
        ranges_below_zero = |_layout, dtype| vec![arange::<B>(-3, 4, 1, dtype), arange(-100, 100, 33, dtype)];
    }

    given([BOOL], [Layout::Contiguous], Exact) {
        grids = |_layout, _dtype| grid::<B>();
        diagonals = |_layout, _dtype| [-2, 0, 1, 9].map(masks::<B>).to_vec();
        unit_matrices = |_layout, _dtype| [1, 5].map(|size| Tensor::<B, 2>::eye(size, &B::Device::default())).to_vec();
    }

    by_hand() {
        arange = |x = [0]| Tensor::<B, 1, Int>::arange(2..5, (&x.device(), x.dtype())) => [2, 3, 4];
        arange_step = |x = [0]| Tensor::<B, 1, Int>::arange_step(2..9, 3, (&x.device(), x.dtype())) => [2, 5, 8];
        full = |x = [1.0, 2.0]| x.full_like(2.5) => [2.5, 2.5];
        ones = |x = [2.0, 3.0]| x.ones_like() => [1.0, 1.0];
        zeros = |x = [2.0, 3.0]| x.zeros_like() => [0.0, 0.0];
    }
}

const SHAPES: [[usize; 3]; 4] = [[2, 3, 4], [1, 1, 1], [2, 0, 3], [70, 3, 65]];

/// Zeros, ones and `value` one after the other.
fn floats<B: Backend>(shape: [usize; 3], value: f64, dtype: DType) -> Tensor<B, 3> {
    let device = B::Device::default();
    let options = || (&device, dtype);
    Tensor::cat(
        vec![Tensor::zeros(shape, options()), Tensor::ones(shape, options()), Tensor::full(shape, value, options())],
        0,
    )
}

fn ints<B: Backend>(shape: [usize; 3], value: i64, dtype: DType) -> Tensor<B, 3, Int> {
    let device = B::Device::default();
    let options = || (&device, dtype);
    Tensor::cat(
        vec![Tensor::zeros(shape, options()), Tensor::ones(shape, options()), Tensor::full(shape, value, options())],
        0,
    )
}

/// `floats` of each shape and of numbers that are special.
fn special_floats<B: Backend>(dtype: DType) -> Vec<Tensor<B, 3>> {
    let values = [1.1, -0.0, 65504.0, f64::NEG_INFINITY, f64::NAN];
    SHAPES.into_iter().flat_map(|shape| values.map(|value| floats(shape, value, dtype))).collect()
}

fn like<B: Backend>(dtype: DType) -> Tensor<B, 2> {
    let x = Tensor::<B, 2>::full([2, 3], 5.0, (&B::Device::default(), dtype));
    Tensor::cat(vec![x.zeros_like(), x.ones_like(), x.full_like(2.5)], 1)
}

fn ranges<B: Backend>(dtype: DType) -> Vec<Tensor<B, 1, Int>> {
    [(0, 10, 1), (5, 12, 1), (0, 10, 3), (2, 9, 7), (4, 4, 1), (7, 3, 2), (0, 100, 1)]
        .map(|(start, end, step)| arange(start, end, step, dtype))
        .to_vec()
}

fn grid<B: Backend>() -> Tensor<B, 3, Int> {
    Tensor::<B, 2, Int>::cartesian_grid([2, 3], &B::Device::default())
}

fn masks<B: Backend>(offset: i64) -> Tensor<B, 2, Bool> {
    let device = B::Device::default();
    let [upper, lower, diagonal] = [Tensor::<B, 2, Bool>::triu_mask, Tensor::tril_mask, Tensor::diag_mask]
        .map(|mask| mask([4, 5], offset, &device));
    Tensor::cat(vec![upper, lower, diagonal], 0)
}

#[test]
fn empty_has_the_shape_and_dtype() {
    // `empty` leaves the elements undefined, so only shape and dtype are checked.
    let device = Default::default();
    for dtype in FLOATS {
        let x = Tensor::<MpsGraph, 2>::empty([2, 3], (&device, dtype));
        assert_eq!((x.dims(), x.dtype(), x.into_data().dtype), ([2, 3], dtype, dtype));
    }
    assert_eq!(Tensor::<MpsGraph, 1, Int>::empty([4], (&device, DType::U8)).into_data().dtype, DType::U8);
    assert_eq!(Tensor::<MpsGraph, 1, Bool>::empty([4], &device).into_data().shape, [4].into());
}

fn arange<B: Backend>(start: i64, end: i64, step: usize, dtype: DType) -> Tensor<B, 1, Int> {
    Tensor::arange_step(start..end, step, (&B::Device::default(), dtype))
}

#[test]
fn ranges_beyond_floats() {
    agree!(Exact, arange, 16777210, 16777230, 1, DType::I32);
    agree!(Exact, arange, (1i64 << 40) - 1, (1i64 << 40) + 7, 2, DType::I64);
    agree!(Exact, arange, i64::MIN, i64::MIN + 3, 1, DType::I64);
    agree!(Exact, arange, 0, 100_000, 1, DType::I32);
}

#[test]
fn ranges_wrap_in_narrow_dtypes() {
    agree!(Exact, arange, 0, 300, 1, DType::U8);
    agree!(Exact, arange, 100, 160, 3, DType::I8);
    agree!(Exact, arange, -2, 3, 1, DType::U64);
}

#[test]
fn data_comes_back_as_it_went_in() {
    fn round_trip<T: Element>(values: &[T]) {
        let data = TensorData::from(values);
        let (device, dtype) = (Default::default(), T::dtype());
        if dtype.is_float() {
            let found = || Tensor::<MpsGraph, 1>::from_data(data.clone(), (&device, dtype)).into_data();
            assert_gives("floats", &data, found, Exact);
        } else {
            let found = || Tensor::<MpsGraph, 1, Int>::from_data(data.clone(), (&device, dtype)).into_data();
            assert_gives("ints", &data, found, Exact);
        }
    }
    round_trip(&[0.0f32, -0.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE, f32::from_bits(1)]);
    round_trip(&[burn::tensor::f16::MAX, burn::tensor::f16::NEG_ZERO]);
    round_trip(&[burn::tensor::bf16::MAX, burn::tensor::bf16::NAN]);
    round_trip(&[i8::MIN, i8::MAX]);
    round_trip(&[i64::MIN, i64::MAX, (1 << 53) + 1]);
    round_trip(&[u64::MAX, 1 << 63]);
    round_trip::<f32>(&[]);
}

#[test]
fn any_byte_but_0_is_true() {
    let data = TensorData::from_bytes_vec(vec![0, 1, 2, 255], [4], BOOL);
    let x = Tensor::<MpsGraph, 1, Bool>::from_data(data, &Default::default());
    assert_eq!(x.clone().into_data(), TensorData::from([false, true, true, true]));
    assert_eq!(x.int().into_data(), TensorData::from([0, 1, 1, 1]));
}

#[test]
fn a_step_of_zero_is_refused() {
    assert_refused(&["arange", "step", "0"], || arange::<MpsGraph>(0, 5, 0, DType::I32));
}
