//! Tensors that are made, moved, cut and cast.

use burn_backend::{FloatDType, IntDType};
use burn_tensor::{Bool, Int, Tensor, s};

use super::compare;
use super::float::{DTYPES, NAN, numbers};
use super::int::INTEGERS;

#[test]
fn made() {
    compare("made", |device, results| {
        results.add(Tensor::<2>::zeros([2, 3], device));
        results.add(Tensor::<2>::ones([2, 3], device));
        results.add(Tensor::<2>::full([2, 3], 7.5, device));
        results.add(Tensor::<2, Int>::full([2, 3], 7, device));
        results.add(Tensor::<2, Bool>::full([2, 3], true, device));
        results.add(Tensor::<1, Int>::arange(-3..9, device));
        results.add(Tensor::<1, Int>::arange_step(-3..9, 4, device));
        results.add(Tensor::<2>::eye(4, device));
    });
}

#[test]
fn moved_and_cut() {
    for dtype in DTYPES {
        compare("moved and cut", |device, results| {
            let x = || numbers([3, 4, 5], dtype, device);
            results.add(x().flip([0, 2]));
            results.add(x().roll(&[1, -2], &[0, 2]));
            results.add(x().permute([2, 0, 1]));
            results.add(x().movedim(0, 2));
            results.add(x().repeat(&[2, 1, 3]));
            results.add(x().repeat_dim(1, 3));
            results.add(numbers([3, 1, 5], dtype, device).expand([2, 3, 4, 5]));
            results.add(x().slice(s![.., 0..4;2, ..;-1]));
            results.add(x().slice(s![1..;2, ..;-3, -3..-1]));
            results.add(x().slice_fill(s![.., 1..4;2, ..;-2], 9.0f32));
            results.add(x().slice_assign(s![.., 0..4;2, ..;-1], numbers([3, 2, 5], dtype, device) * 10));
            results.add(x().triu(1));
            results.add(x().tril(-1));
            results.add(x().narrow(2, 1, 3));
            x().chunk(3, 2).into_iter().for_each(|part| results.add(part));
            x().split(2, 1).into_iter().for_each(|part| results.add(part));
            results.add(Tensor::cat(vec![x(), x() * 2], 1));
            results.add(Tensor::stack::<4>(vec![x(), x() * 2], 3));
            results.add(x().cov(1, 1));
            results.add(x().is_close(x() + 1e-9, None, None));
            results.add(x().mask_where(x().greater_scalar(0.0), x() * 3));
            results.add(x().mask_fill(x().greater_scalar(0.0), NAN));
        });
        for (size, step) in [(3, 1), (2, 2), (2, 3), (5, 2), (1, 4)] {
            compare("unfold", |device, results| {
                results.add(numbers([2, 5], dtype, device).unfold::<3, _>(1, size, step));
                results.add(numbers([6, 2], dtype, device).unfold::<3, _>(0, size, step));
            });
        }
    }
}

#[test]
fn cast() {
    for (dtype, other) in DTYPES.into_iter().flat_map(|dtype| DTYPES.map(|other| (dtype, other))) {
        compare("cast", |device, results| {
            let large = match FloatDType::F16 == dtype || FloatDType::F16 == other {
                true => 30_000.0,
                false => 1e30,
            };
            results.add((numbers([40], dtype, device) * large).cast(other));
            results.add(numbers([40], dtype, device).cast(other));
        });
    }
    for (dtype, other) in DTYPES.into_iter().flat_map(|dtype| INTEGERS.map(|other| (dtype, other))) {
        compare("cast to integers", |device, results| {
            let x = numbers([40], dtype, device) * 50;
            let signed = matches!(other, IntDType::I8 | IntDType::I16 | IntDType::I32 | IntDType::I64);
            results.add(if signed { x } else { x.abs() }.cast(other));
        });
    }
}
