//! Many updates of one place: integers wrap around exactly, sums of 16-bit floats keep the precision of f32.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, IndexingUpdateOp::Add, Int, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;
use test_support::{INTEGERS, Layout, distinct};

use crate::gather::indices;

cases! {
    // Digits of 16, 8 and 4 bits.
    given(INTEGERS, [Layout::Contiguous], Exact) {
        integer_sums_1 = |_layout, dtype| sums::<B>(dtype, 1);
        integer_sums_7 = |_layout, dtype| sums::<B>(dtype, 7);
        integer_sums_300 = |_layout, dtype| sums::<B>(dtype, 300);
        integer_sums_70000 = |_layout, dtype| sums::<B>(dtype, 70_000);
    }
}

/// `count` updates of four places.
fn sums<B: Backend>(dtype: DType, count: usize) -> Vec<TensorData> {
    let device = B::Device::default();
    let of = |shape| Tensor::<B, 2, Int>::from_data(distinct(shape, dtype), (&device, dtype));
    let (data, updates) = (of([4, 3]), of([count, 3]));
    vec![
        data.clone().select_assign(0, indices([count], 4, DType::I32), updates.clone(), Add).into_data(),
        data.scatter(0, indices([count, 3], 4, DType::I32), updates, Add).into_data(),
    ]
}

/// burn-flex adds in the dtype itself and stops at 2048 (f16) and 256 (bf16), so the expected number is written down.
#[test]
fn sums_of_16_bit_floats_are_taken_in_f32() {
    for (dtype, count) in [(DType::F16, 3000), (DType::BF16, 1024)] {
        let device = Default::default();
        let ones = Tensor::<MpsGraph, 2>::ones([count, 2], (&device, dtype));
        let zero = || Tensor::<MpsGraph, 2>::zeros([1, 2], (&device, dtype));
        let rows = zero().select_assign(0, Tensor::zeros([count], &device), ones.clone(), Add);
        let lanes = zero().scatter(0, Tensor::zeros([count, 2], &device), ones, Add);
        let expected = [count as f32; 2];
        for found in [rows, lanes] {
            assert_eq!(found.into_data().iter::<f32>().collect::<Vec<_>>(), expected, "{dtype:?}");
        }
    }
}

/// The addition behind the scatter is the user's, and repeats what the scatter has made.
#[test]
fn sums_of_integers_are_repeated_by_who_adds_them() {
    let device = Default::default();
    let places = |places: &[i32]| Tensor::<MpsGraph, 1, Int>::from_data(places, &device);
    let numbers = |tensor: Tensor<MpsGraph, 2, Int>| tensor.into_data().iter::<i64>().collect::<Vec<_>>();
    for dtype in INTEGERS {
        let of = |data: TensorData| Tensor::<MpsGraph, 2, Int>::from_data(data, (&device, dtype));
        let zeros = |shape| Tensor::<MpsGraph, 2, Int>::zeros(shape, (&device, dtype));
        let row = zeros([1, 3]).select_assign(
            0,
            places(&[0, 0, 0]),
            of(TensorData::from([[1, 2, 3], [4, 5, 6], [7, 8, 9]])),
            Add,
        );
        let all = of(TensorData::from([[10, 20, 30], [40, 50, 60]])) + row;
        assert_eq!(numbers(all), [22, 35, 48, 52, 65, 78], "{dtype:?}");
        let column = zeros([2, 1]).select_assign(0, places(&[0, 0, 1]), of(TensorData::from([[1], [4], [7]])), Add);
        let all = of(TensorData::from([[10, 20, 30], [40, 50, 60]])) + column;
        assert_eq!(numbers(all), [15, 25, 35, 47, 57, 67], "{dtype:?}");
    }
}
