//! Integers of every width.

use burn_backend::{DType, FloatDType, IntDType};
use burn_tensor::{Device, Int, Tensor};

use super::pair::data;
use super::{methods, methods_of_pairs, methods_of_two};

pub const INTEGERS: [IntDType; 8] = [
    IntDType::I8,
    IntDType::I16,
    IntDType::I32,
    IntDType::I64,
    IntDType::U8,
    IntDType::U16,
    IntDType::U32,
    IntDType::U64,
];

fn signed(dtype: IntDType) -> bool {
    DType::from(dtype).is_int()
}

/// Rows in which numbers repeat.
pub fn integers(dtype: IntDType, device: &Device) -> Tensor<2, Int> {
    let number = |at: i64| (at * 7919) % 23 - if signed(dtype) { 11 } else { 0 };
    data(&(0..20).map(number).collect::<Vec<_>>(), dtype, device).reshape([4, 5])
}

/// The ends of the dtype and numbers of both signs; half of them for unsigned ones.
fn edges(dtype: IntDType, device: &Device) -> Tensor<2, Int> {
    let bits = DType::from(dtype).size() * 8;
    let [low, high] = match signed(dtype) {
        true => [i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)],
        false => [0, (u64::MAX >> (65 - bits).max(1)) as i64],
    };
    let minus = if signed(dtype) { -1 } else { 1 };
    let row = [0, 1, minus, 5, 5 * minus, 7, 7 * minus, high, low, 100, 100 * minus, 3];
    data(&row, dtype, device).reshape([1, 12])
}

fn nothing(dtype: IntDType, device: &Device) -> Tensor<2, Int> {
    Tensor::<2, Int>::zeros([2, 0], (device, DType::from(dtype)))
}

const MAKERS: [fn(IntDType, &Device) -> Tensor<2, Int>; 3] = [edges, integers, nothing];

fn makers(dtype: IntDType, with_nothing: bool) -> impl Iterator<Item = impl Fn(&Device) -> Tensor<2, Int> + Copy> {
    let makers = MAKERS.into_iter().take(if with_nothing { 3 } else { 2 });
    makers.map(move |make| move |device: &Device| make(dtype, device))
}

#[test]
fn each_element() {
    for (dtype, make) in INTEGERS.into_iter().flat_map(|dtype| makers(dtype, true).map(move |make| (dtype, make))) {
        methods!(make; sign(), abs(), square(), bitwise_not(), bool(), float(), clamp(1, 6));
        methods!(make; cast(FloatDType::F32), cast(FloatDType::F16), cast(FloatDType::BF16));
        for other in INTEGERS {
            methods!(make; cast(other));
        }
        for number in [1, 2, 3, 7, -3].into_iter().filter(|&number| number > 0 || signed(dtype)) {
            methods!(make; add_scalar(number), sub_scalar(number), mul_scalar(number), div_scalar(number));
            methods!(make; remainder_scalar(number), clamp_min(number), clamp_max(number));
            methods!(make; equal_scalar(number), not_equal_scalar(number), lower_scalar(number));
            methods!(make; lower_equal_scalar(number), greater_scalar(number), greater_equal_scalar(number));
            methods!(make; bitwise_and_scalar(number), bitwise_or_scalar(number), bitwise_xor_scalar(number));
            if number > 0 {
                methods!(make; powi_scalar(number), bitwise_left_shift_scalar(number));
                methods!(make; bitwise_right_shift_scalar(number));
            }
        }
    }
}

#[test]
fn rows() {
    for make in INTEGERS.into_iter().flat_map(|dtype| makers(dtype, true)) {
        methods!(make; sum(), prod(), any(), all(), any_dim(1), all_dim(1));
        for dim in 0..2 {
            methods!(make; sum_dim(dim), prod_dim(dim), cumsum(dim), cumprod(dim), cummax(dim), cummin(dim));
            methods!(make; sort(dim), sort_descending(dim), argsort(dim), argsort_descending(dim));
            methods_of_two!(make; sort_with_indices(dim), sort_descending_with_indices(dim));
        }
    }
    for make in INTEGERS.into_iter().flat_map(|dtype| makers(dtype, false)) {
        methods!(make; max(), min(), max_abs(), topk(2, 1), argtopk(2, 1));
        for dim in 0..2 {
            methods!(make; max_dim(dim), min_dim(dim), max_abs_dim(dim), argmax(dim), argmin(dim));
            methods_of_two!(make; max_dim_with_indices(dim), min_dim_with_indices(dim));
        }
    }
    // burn-flex has no means of unsigned integers, nor products of matrices of the other widths.
    for dtype in [IntDType::I8, IntDType::I16, IntDType::I32, IntDType::I64] {
        methods!(|device: &Device| integers(dtype, device); mean(), mean_dim(0), mean_dim(1));
    }
    for dtype in [IntDType::I32, IntDType::I64] {
        let make = |device: &Device| integers(dtype, device);
        methods_of_pairs!(make, |device: &Device| make(device).transpose(); matmul);
    }
}

#[test]
fn pairs() {
    for dtype in INTEGERS {
        let minus = if signed(dtype) { -1 } else { 1 };
        let left = |device: &Device| edges(dtype, device);
        let of = |row: [i64; 12]| move |device: &Device| data(&row, dtype, device).reshape([1, 12]);
        let right = of([1, 3 * minus, 2, 2 * minus, 3, 3, 2 * minus, 2, 3, 7, 9, minus]);
        methods_of_pairs!(left, right; add, sub, mul, div, remainder, max_pair, min_pair);
        methods_of_pairs!(left, right; equal, not_equal, lower, lower_equal, greater, greater_equal);
        methods_of_pairs!(left, right; bitwise_and, bitwise_or, bitwise_xor);
        let steps = of([0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4]);
        methods_of_pairs!(left, steps; bitwise_left_shift, bitwise_right_shift);
        methods_of_pairs!(left, of([0, 1, 2, 3, 4, 5, 2, 1, 1, 2, 3, 4]); powi);
    }
}
