//! Integer arithmetic of i32 and i64: exact, wrapping, never through floats.

use burn::tensor::ElementConversion;

use crate::agreement::Tolerance::Exact;
use crate::agreement::{INTS, Layout};

sweep! { ints, INTS, Layout::ALL, Exact;
    abs |x| x.abs();
    add |x, y| x + y;
    add_scalar |x| x + 16777217;
    bitwise_and |x, y| x.bitwise_and(y);
    bitwise_and_scalar |x| x.bitwise_and_scalar(25.elem::<B::IntElem>());
    bitwise_not |x| x.bitwise_not();
    bitwise_or |x, y| x.bitwise_or(y);
    bitwise_or_scalar |x| x.bitwise_or_scalar((-26).elem::<B::IntElem>());
    bitwise_xor |x, y| x.bitwise_xor(y);
    bitwise_xor_scalar |x| x.bitwise_xor_scalar((-1).elem::<B::IntElem>());
    clamp |x| x.clamp(-7, 9);
    clamp_max |x| x.clamp_max(5);
    clamp_min |x| x.clamp_min(-5);
    div_scalar |x| x / 7;
    div_scalar_negative |x| x / -7;
    left_shift_scalar |x| x.bitwise_left_shift_scalar(5.elem::<B::IntElem>());
    mask_fill |x, y| x.mask_fill(y.greater_elem(3), 16777217);
    mask_where |x, y, z| x.mask_where(y.greater_elem(3), z);
    max_pair |x, y| x.max_pair(y);
    min_pair |x, y| x.min_pair(y);
    mul |x, y| x * y;
    mul_scalar |x| x * 1000003;
    neg |x| -x;
    powi_scalar_0 |x| x.powi_scalar(0);
    powi_scalar_1 |x| x.powi_scalar(1);
    powi_scalar_2 |x| x.powi_scalar(2);
    powi_scalar_3 |x| x.powi_scalar(3);
    powi_scalar_31 |x| x.powi_scalar(31);
    powi |x, y| x.powi(y.bitwise_and_scalar(31.elem::<B::IntElem>()));
    remainder_scalar |x| x.remainder_scalar(7);
    remainder_scalar_negative |x| x.remainder_scalar(-7);
    right_shift_scalar |x| x.bitwise_right_shift_scalar(5.elem::<B::IntElem>());
    sign |x| x.sign();
    sub |x, y| x - y;
    sub_scalar |x| x - 16777217;
}

// burn-flex panics where i64 overflows (`i64::MIN / -1`) and takes shift counts modulo 64; the extremes are in
// `integer_edges`.
sweep! { ints, INTS, Layout::PLAIN, Exact;
    div |x, y| x / (y * 2 + 1);
    left_shift |x, y| x.bitwise_left_shift(y.bitwise_and_scalar(31.elem::<B::IntElem>()));
    remainder |x, y| x.remainder(y * 2 + 1);
    right_shift |x, y| x.bitwise_right_shift(y.bitwise_and_scalar(31.elem::<B::IntElem>()));
}
