//! Reductions of many elements: 16-bit floats accumulate in f32, and sums stay as precise as pairs or lanes make them.

use burn::tensor::{DType, Int, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::{Exact, Relative};

use crate::compare::assert_gives;

#[test]
fn sixteen_bit_sums_do_not_stall() {
    // Added one by one in 16 bits, ones stop at 2048 (f16) and 256 (bf16).
    for dtype in [DType::F16, DType::BF16] {
        let ones = || Tensor::<MpsGraph, 2>::ones([3, 20_000], (&Default::default(), dtype));
        let expected = |values: [[f64; 1]; 3]| TensorData::from(values).convert_dtype(dtype);
        assert_gives("sum_dim", &expected([[20_000.0]; 3]), || ones().sum_dim(1).into_data(), Exact);
        assert_gives("mean_dim", &expected([[1.0]; 3]), || ones().mean_dim(1).into_data(), Exact);
    }
}

#[test]
fn sixteen_bit_means_of_large_numbers_do_not_overflow() {
    let x = || Tensor::<MpsGraph, 1>::full([1000], 60_000.0, (&Default::default(), DType::F16));
    let expected = TensorData::from([60_000.0]).convert_dtype(DType::F16);
    assert_gives("mean", &expected, || x().mean().into_data(), Exact);
}

#[test]
fn a_million_elements() {
    // Against a sum in f64: an f32 total of lanes of about 2^13 numbers is right to about 1e-5.
    const COUNT: usize = 1 << 20;
    let numbers: Vec<f32> = (0..COUNT).map(|i| ((i * 7919) % 1009) as f32 * 1e-3).collect();
    let total: f64 = numbers.iter().map(|&x| f64::from(x)).sum();
    let x = || Tensor::<MpsGraph, 1>::from_floats(numbers.as_slice(), &Default::default());
    let close = Relative(1e-5);
    assert_gives("sum", &TensorData::from([total as f32]), || x().sum().into_data(), close);
    assert_gives("mean", &TensorData::from([(total / COUNT as f64) as f32]), || x().mean().into_data(), close);
    assert_gives("max", &TensorData::from([1.008f32]), || x().max().into_data(), Exact);
}

#[test]
fn odd_extents() {
    // Around the widths of vectors: each column and row sum is known.
    for extent in (1..20).chain([31, 33, 63, 65, 127, 129, 1000]) {
        let device = Default::default();
        let x = || Tensor::<MpsGraph, 1, Int>::arange(0..3 * extent, &device).reshape([3, extent]);
        let rows: Vec<i32> = (0..3).map(|row| (extent * row * extent + extent * (extent - 1) / 2) as i32).collect();
        let columns: Vec<i32> = (0..extent).map(|column| (3 * column + 3 * extent) as i32).collect();
        let float = |values: &[i32]| TensorData::from(values).convert_dtype(DType::F32);
        let what = format!("extent {extent}");
        assert_gives(
            &what,
            &TensorData::from(rows.as_slice()),
            || x().sum_dim(1).flatten::<1>(0, 1).into_data(),
            Exact,
        );
        assert_gives(
            &what,
            &TensorData::from(columns.as_slice()),
            || x().sum_dim(0).flatten::<1>(0, 1).into_data(),
            Exact,
        );
        assert_gives(&what, &float(&rows), || x().float().sum_dim(1).flatten::<1>(0, 1).into_data(), Exact);
        assert_gives(&what, &float(&columns), || x().float().sum_dim(0).flatten::<1>(0, 1).into_data(), Exact);
        let last = || x().float().argmax(1).flatten::<1>(0, 1).into_data();
        assert_gives(&what, &TensorData::from([extent as i32 - 1; 3]), last, Exact);
    }
}
