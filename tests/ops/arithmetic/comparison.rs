//! Comparisons: of floats with NaN, infinities and both zeros; of integers beyond what floats can tell apart.

use test_support::Tolerance::Exact;
use test_support::{FLOATS, INTS, Layout};

modules! { of_floats of_ints }

mod of_floats {
    use super::*;

    cases! {
        sweep(floats, FLOATS, Layout::ALL, Exact) {
            equal = |x, y| x.equal(y);
            equal_itself = |x| x.clone().equal(x);
            equal_elem = |x| x.equal_elem(0.0);
            greater = |x, y| x.greater(y);
            greater_elem = |x| x.greater_elem(0.5);
            greater_equal = |x, y| x.greater_equal(y);
            greater_equal_elem = |x| x.greater_equal_elem(0.5);
            greater_equal_itself = |x| x.clone().greater_equal(x);
            is_close = |x, y| x.is_close(y, None, None);
            lower = |x, y| x.lower(y);
            lower_elem = |x| x.lower_elem(0.5);
            lower_equal = |x, y| x.lower_equal(y);
            lower_equal_elem = |x| x.lower_equal_elem(0.5);
            not_equal = |x, y| x.not_equal(y);
            not_equal_itself = |x| x.clone().not_equal(x);
            not_equal_elem = |x| x.not_equal_elem(0.0);
            with_infinity = |x| x.lower_elem(f32::INFINITY);
            with_nan = |x| x.not_equal_elem(f32::NAN);
        }

        by_hand() {
            equal = |x = [1.0, 2.0, 3.0], y = [2.0, 2.0, 2.0]| x.equal(y) => [false, true, false];
            equal_elem = |x = [1.0, 2.0, 3.0]| x.equal_elem(2.0) => [false, true, false];
            greater = |x = [1.0, 2.0, 3.0], y = [2.0, 2.0, 2.0]| x.greater(y) => [false, false, true];
            greater_elem = |x = [1.0, 2.0, 3.0]| x.greater_elem(2.0) => [false, false, true];
            greater_equal = |x = [1.0, 2.0, 3.0], y = [2.0, 2.0, 2.0]| x.greater_equal(y) => [false, true, true];
            greater_equal_elem = |x = [1.0, 2.0, 3.0]| x.greater_equal_elem(2.0) => [false, true, true];
            lower = |x = [1.0, 2.0, 3.0], y = [2.0, 2.0, 2.0]| x.lower(y) => [true, false, false];
            lower_elem = |x = [1.0, 2.0, 3.0]| x.lower_elem(2.0) => [true, false, false];
            lower_equal = |x = [1.0, 2.0, 3.0], y = [2.0, 2.0, 2.0]| x.lower_equal(y) => [true, true, false];
            lower_equal_elem = |x = [1.0, 2.0, 3.0]| x.lower_equal_elem(2.0) => [true, true, false];
            not_equal = |x = [1.0, 2.0, 3.0], y = [2.0, 2.0, 2.0]| x.not_equal(y) => [true, false, true];
            not_equal_elem = |x = [1.0, 2.0, 3.0]| x.not_equal_elem(2.0) => [true, false, true];
        }
    }
}

mod of_ints {
    use super::*;

    cases! {
        sweep(ints, INTS, Layout::ALL, Exact) {
            equal = |x, y| x.equal(y);
            equal_elem = |x| x.equal_elem(1);
            greater = |x, y| x.greater(y);
            greater_elem = |x| x.greater_elem(16777216);
            greater_equal = |x, y| x.greater_equal(y);
            greater_equal_elem = |x| x.greater_equal_elem(16777217);
            lower = |x, y| x.lower(y);
            lower_elem = |x| x.lower_elem(16777217);
            lower_equal = |x, y| x.lower_equal(y);
            lower_equal_elem = |x| x.lower_equal_elem(16777216);
            neighbours = |x| (x.clone() + 1).greater(x);
            not_equal = |x, y| x.not_equal(y);
            not_equal_elem = |x| x.not_equal_elem(1);
        }

        by_hand() {
            equal = |x = [1, 2, 3], y = [2, 2, 2]| x.equal(y) => [false, true, false];
            equal_elem = |x = [1, 2, 3]| x.equal_elem(2) => [false, true, false];
            greater = |x = [1, 2, 3], y = [2, 2, 2]| x.greater(y) => [false, false, true];
            greater_elem = |x = [1, 2, 3]| x.greater_elem(2) => [false, false, true];
            greater_equal = |x = [1, 2, 3], y = [2, 2, 2]| x.greater_equal(y) => [false, true, true];
            greater_equal_elem = |x = [1, 2, 3]| x.greater_equal_elem(2) => [false, true, true];
            lower = |x = [1, 2, 3], y = [2, 2, 2]| x.lower(y) => [true, false, false];
            lower_elem = |x = [1, 2, 3]| x.lower_elem(2) => [true, false, false];
            lower_equal = |x = [1, 2, 3], y = [2, 2, 2]| x.lower_equal(y) => [true, true, false];
            lower_equal_elem = |x = [1, 2, 3]| x.lower_equal_elem(2) => [true, true, false];
            not_equal = |x = [1, 2, 3], y = [2, 2, 2]| x.not_equal(y) => [true, false, true];
            not_equal_elem = |x = [1, 2, 3]| x.not_equal_elem(2) => [true, false, true];
        }
    }
}
