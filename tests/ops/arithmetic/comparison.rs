//! Comparisons: of floats with NaN, infinities and both zeros; of integers beyond what floats can tell apart.

use crate::agreement::Tolerance::Exact;
use crate::agreement::{FLOATS, INTS, Layout};

mod of_floats {
    use super::*;
    sweep! { floats, FLOATS, Layout::ALL, Exact;
        equal |x, y| x.equal(y);
        equal_itself |x| x.clone().equal(x);
        equal_elem |x| x.equal_elem(0.0);
        greater |x, y| x.greater(y);
        greater_elem |x| x.greater_elem(0.5);
        greater_equal |x, y| x.greater_equal(y);
        greater_equal_elem |x| x.greater_equal_elem(0.5);
        greater_equal_itself |x| x.clone().greater_equal(x);
        is_close |x, y| x.is_close(y, None, None);
        lower |x, y| x.lower(y);
        lower_elem |x| x.lower_elem(0.5);
        lower_equal |x, y| x.lower_equal(y);
        lower_equal_elem |x| x.lower_equal_elem(0.5);
        not_equal |x, y| x.not_equal(y);
        not_equal_itself |x| x.clone().not_equal(x);
        not_equal_elem |x| x.not_equal_elem(0.0);
        with_infinity |x| x.lower_elem(f32::INFINITY);
        with_nan |x| x.not_equal_elem(f32::NAN);
    }
}

mod of_ints {
    use super::*;
    sweep! { ints, INTS, Layout::ALL, Exact;
        equal |x, y| x.equal(y);
        equal_elem |x| x.equal_elem(1);
        greater |x, y| x.greater(y);
        greater_elem |x| x.greater_elem(16777216);
        greater_equal |x, y| x.greater_equal(y);
        greater_equal_elem |x| x.greater_equal_elem(16777217);
        lower |x, y| x.lower(y);
        lower_elem |x| x.lower_elem(16777217);
        lower_equal |x, y| x.lower_equal(y);
        lower_equal_elem |x| x.lower_equal_elem(16777216);
        neighbours |x| (x.clone() + 1).greater(x);
        not_equal |x, y| x.not_equal(y);
        not_equal_elem |x| x.not_equal_elem(1);
    }
}
