//! Integer arithmetic of i32 and i64: exact, wrapping, never through floats.

use burn::tensor::ElementConversion;
use test_support::Tolerance::Exact;
use test_support::{INTS, Layout};

cases! {
    sweep(ints, INTS, Layout::ALL, Exact) {
        abs = |x| x.abs();
        add = |x, y| x + y;
        add_scalar = |x| x + 16777217;
        bitwise_and = |x, y| x.bitwise_and(y);
        bitwise_and_scalar = |x| x.bitwise_and_scalar(25.elem::<B::IntElem>());
        bitwise_not = |x| x.bitwise_not();
        bitwise_or = |x, y| x.bitwise_or(y);
        bitwise_or_scalar = |x| x.bitwise_or_scalar((-26).elem::<B::IntElem>());
        bitwise_xor = |x, y| x.bitwise_xor(y);
        bitwise_xor_scalar = |x| x.bitwise_xor_scalar((-1).elem::<B::IntElem>());
        clamp = |x| x.clamp(-7, 9);
        clamp_max = |x| x.clamp_max(5);
        clamp_min = |x| x.clamp_min(-5);
        div_scalar = |x| x / 7;
        div_scalar_negative = |x| x / -7;
        left_shift_scalar = |x| x.bitwise_left_shift_scalar(5.elem::<B::IntElem>());
        mask_fill = |x, y| x.mask_fill(y.greater_elem(3), 16777217);
        mask_where = |x, y, z| x.mask_where(y.greater_elem(3), z);
        max_pair = |x, y| x.max_pair(y);
        min_pair = |x, y| x.min_pair(y);
        mul = |x, y| x * y;
        mul_scalar = |x| x * 1000003;
        neg = |x| -x;
        powi_scalar_0 = |x| x.powi_scalar(0);
        powi_scalar_1 = |x| x.powi_scalar(1);
        powi_scalar_2 = |x| x.powi_scalar(2);
        powi_scalar_3 = |x| x.powi_scalar(3);
        powi_scalar_4 = |x| x.powi_scalar(4);
        powi_scalar_6 = |x| x.powi_scalar(6);
        powi_scalar_31 = |x| x.powi_scalar(31);
        powi = |x, y| x.powi(y.bitwise_and_scalar(31.elem::<B::IntElem>()));
        remainder_scalar = |x| x.remainder_scalar(7);
        remainder_scalar_negative = |x| x.remainder_scalar(-7);
        right_shift_scalar = |x| x.bitwise_right_shift_scalar(5.elem::<B::IntElem>());
        sign = |x| x.sign();
        sub = |x, y| x - y;
        sub_scalar = |x| x - 16777217;
    }

    // burn-flex panics where i64 overflows (`i64::MIN / -1`) and takes shift counts modulo 64; the extremes are in
    // `integer_edges`.
    sweep(ints, INTS, Layout::PLAIN, Exact) {
        div = |x, y| x / (y * 2 + 1);
        left_shift = |x, y| x.bitwise_left_shift(y.bitwise_and_scalar(31.elem::<B::IntElem>()));
        remainder = |x, y| x.remainder(y * 2 + 1);
        right_shift = |x, y| x.bitwise_right_shift(y.bitwise_and_scalar(31.elem::<B::IntElem>()));
    }

    by_hand() {
        abs = |x = [-3, 0, 2]| x.abs() => [3, 0, 2];
        add = |x = [1, 2], y = [5, -4]| x + y => [6, -2];
        bitwise_and = |x = [12, -1], y = [10, 5]| x.bitwise_and(y) => [8, 5];
        bitwise_and_scalar = |x = [12, -1]| x.bitwise_and_scalar(10.elem::<B::IntElem>()) => [8, 10];
        bitwise_left_shift = |x = [3, -1], y = [2, 4]| x.bitwise_left_shift(y) => [12, -16];
        bitwise_left_shift_scalar = |x = [3, -1]| x.bitwise_left_shift_scalar(2.elem::<B::IntElem>()) => [12, -4];
        bitwise_not = |x = [0, 5]| x.bitwise_not() => [-1, -6];
        bitwise_or = |x = [12, 0], y = [10, 5]| x.bitwise_or(y) => [14, 5];
        bitwise_or_scalar = |x = [12, 0]| x.bitwise_or_scalar(10.elem::<B::IntElem>()) => [14, 10];
        bitwise_right_shift = |x = [13, -16], y = [2, 3]| x.bitwise_right_shift(y) => [3, -2];
        bitwise_right_shift_scalar = |x = [13, -16]| x.bitwise_right_shift_scalar(2.elem::<B::IntElem>()) => [3, -4];
        bitwise_xor = |x = [12, -1], y = [10, 5]| x.bitwise_xor(y) => [6, -6];
        bitwise_xor_scalar = |x = [12, -1]| x.bitwise_xor_scalar(10.elem::<B::IntElem>()) => [6, -11];
        clamp = |x = [-9, 3, 9]| x.clamp(-5, 5) => [-5, 3, 5];
        div = |x = [7, -7, 7], y = [2, 2, -2]| x / y => [3, -3, -3];
        div_scalar = |x = [7, -7]| x / 2 => [3, -3];
        mask_where = |x = [1, 2], mask = [true, false], y = [3, 4]| x.mask_where(mask, y) => [3, 2];
        mul = |x = [3, -2], y = [4, 5]| x * y => [12, -10];
        neg = |x = [3, -2]| -x => [-3, 2];
        powi = |x = [2, -3], y = [10, 3]| x.powi(y) => [1024, -27];
        powi_scalar = |x = [2, -3]| x.powi_scalar(3) => [8, -27];
        remainder = |x = [7, -7, 7], y = [3, 3, -3]| x.remainder(y) => [1, 2, -2];
        remainder_scalar = |x = [7, -7]| x.remainder_scalar(3) => [1, 2];
        sign = |x = [-3, 0, 2]| x.sign() => [-1, 0, 1];
        sub = |x = [1, 2], y = [5, -4]| x - y => [-4, 6];
    }
}
