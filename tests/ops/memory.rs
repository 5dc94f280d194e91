//! Tensors made of nothing: zeros, ones, one number, ranges and grids.

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, DType, Element, Int, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;

use crate::agreement::FLOATS;
use crate::agreement::Tolerance::Exact;
use crate::sweep::{assert_gives, assert_refused};

const ALL_INTS: [DType; 8] =
    [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];
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

#[test]
fn zeros_ones_and_full() {
    for shape in SHAPES {
        for dtype in FLOATS {
            for value in [1.1, -0.0, 65504.0, f64::NEG_INFINITY, f64::NAN] {
                agree!(Exact, floats, shape, value, dtype);
            }
        }
        for dtype in ALL_INTS {
            agree!(Exact, ints, shape, 100, dtype);
        }
        for dtype in [DType::I32, DType::I64] {
            agree!(Exact, ints, shape, -2147483647, dtype);
        }
    }
}

#[test]
fn like_another() {
    fn case<B: Backend>(dtype: DType) -> Tensor<B, 2> {
        let x = Tensor::<B, 2>::full([2, 3], 5.0, (&B::Device::default(), dtype));
        Tensor::cat(vec![x.zeros_like(), x.ones_like(), x.full_like(2.5)], 1)
    }
    for dtype in FLOATS {
        agree!(Exact, case, dtype);
    }
}

#[test]
fn empty_has_the_shape_and_dtype() {
    // What is in it is nobody's business.
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
fn ranges() {
    for dtype in ALL_INTS {
        for (start, end, step) in [(0, 10, 1), (5, 12, 1), (0, 10, 3), (2, 9, 7), (4, 4, 1), (7, 3, 2), (0, 100, 1)] {
            agree!(Exact, arange, start, end, step, dtype);
        }
    }
    for dtype in [DType::I8, DType::I32, DType::I64] {
        agree!(Exact, arange, -3, 4, 1, dtype);
        agree!(Exact, arange, -100, 100, 33, dtype);
    }
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
fn grids_and_masks() {
    fn grid<B: Backend>() -> Tensor<B, 3, Int> {
        Tensor::<B, 2, Int>::cartesian_grid([2, 3], &B::Device::default())
    }
    fn eye<B: Backend>(size: usize) -> Tensor<B, 2> {
        Tensor::eye(size, &B::Device::default())
    }
    fn masks<B: Backend>(offset: i64) -> Tensor<B, 2, Bool> {
        let device = B::Device::default();
        let [upper, lower, diagonal] = [Tensor::<B, 2, Bool>::triu_mask, Tensor::tril_mask, Tensor::diag_mask]
            .map(|mask| mask([4, 5], offset, &device));
        Tensor::cat(vec![upper, lower, diagonal], 0)
    }
    agree!(Exact, grid);
    agree!(Exact, eye, 1);
    agree!(Exact, eye, 5);
    for offset in [-2, 0, 1, 9] {
        agree!(Exact, masks, offset);
    }
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
fn a_step_of_zero_is_refused() {
    assert_refused(&["arange", "step", "0"], || arange::<MpsGraph>(0, 5, 0, DType::I32));
}
