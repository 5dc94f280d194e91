//! Functions of one float.

use test_support::Tolerance::{Exact, Ulps};
use test_support::{FLOATS, Layout};

cases! {
    // What IEEE 754 defines to the last bit.
    sweep(floats, FLOATS, Layout::ALL, Exact) {
        abs = |x| x.abs();
        ceil = |x| x.ceil();
        floor = |x| x.floor();
        is_finite = |x| x.is_finite();
        is_inf = |x| x.is_inf();
        is_nan = |x| x.is_nan();
        neg = |x| x.neg();
        recip = |x| x.recip();
        sign = |x| x.sign();
        sqrt = |x| x.sqrt();
        square = |x| x.square();
        trunc = |x| x.trunc();
    }

    // burn-flex rounds -0.25 to 0 in some layouts and to -0 in others; `unary_edges` has the sign.
    sweep(floats, FLOATS, Layout::ALL, Ulps(0)) {
        round = |x| x.round();
    }

    // The two sides use different approximations; Metal's specification allows these 4 ulps, and the two below 6 and 5.
    // burn-flex's acosh is off near 1, where `unary_edges` has it.
    sweep(floats, FLOATS, Layout::ALL, Ulps(4)) {
        acos = |x| (x / 4.0).acos();
        acosh = |x| (x.abs() + 1.125).acosh();
        asin = |x| (x / 4.0).asin();
        asinh = |x| x.asinh();
        atan = |x| x.atan();
        cos = |x| x.cos();
        cosh = |x| x.cosh();
        deg2rad = |x| x.deg2rad();
        erf = |x| x.erf();
        exp = |x| x.exp();
        log = |x| x.log();
        log1p = |x| x.log1p();
        rad2deg = |x| x.rad2deg();
        sin = |x| x.sin();
        sinh = |x| x.sinh();
    }

    sweep(floats, FLOATS, Layout::ALL, Ulps(6)) {
        tan = |x| x.tan();
        tanh = |x| x.tanh();
    }

    // burn-flex's atanh is off near 1 in f32, so up to 1/2 here; the rest is in `unary_edges`.
    sweep(floats, FLOATS, Layout::PLAIN, Ulps(4)) {
        atanh = |x| (x / 8.0).atanh();
    }

    by_hand() {
        abs = |x = [-1.5, 0.0, 2.0]| x.abs() => [1.5, 0.0, 2.0];
        acos = |x = [1.0, 0.0, -1.0]| x.acos() => [0.0, 1.570796, 3.141593];
        acosh = |x = [1.0, 1.25]| x.acosh() => [0.0, 0.693147];
        asin = |x = [0.0, 1.0, -1.0]| x.asin() => [0.0, 1.570796, -1.570796];
        asinh = |x = [0.0, 0.75]| x.asinh() => [0.0, 0.693147];
        atan = |x = [0.0, 1.0, -1.0]| x.atan() => [0.0, 0.785398, -0.785398];
        atanh = |x = [0.0, 0.5]| x.atanh() => [0.0, 0.549306];
        ceil = |x = [-1.5, 0.25, 2.0]| x.ceil() => [-1.0, 1.0, 2.0];
        cos = |x = [0.0, 1.0]| x.cos() => [1.0, 0.540302];
        cosh = |x = [0.0, 1.0]| x.cosh() => [1.0, 1.543081];
        erf = |x = [0.0, 1.0]| x.erf() => [0.0, 0.842701];
        exp = |x = [0.0, 1.0, -1.0]| x.exp() => [1.0, 2.718282, 0.367879];
        floor = |x = [-1.5, 0.25, 2.0]| x.floor() => [-2.0, 0.0, 2.0];
        is_inf = |x = [0.0, 1.0]| (1.0f32 / x).is_inf() => [true, false];
        is_nan = |x = [0.0, 1.0]| (x.clone() / x).is_nan() => [true, false];
        log = |x = [1.0, 2.0, 0.5]| x.log() => [0.0, 0.693147, -0.693147];
        log1p = |x = [0.0, 1.0]| x.log1p() => [0.0, 0.693147];
        neg = |x = [-1.5, 2.0]| -x => [1.5, -2.0];
        recip = |x = [2.0, -0.25]| x.recip() => [0.5, -4.0];
        round = |x = [-1.5, 0.5, 2.25]| x.round() => [-2.0, 0.0, 2.0];
        sign = |x = [-1.5, 0.0, 2.0]| x.sign() => [-1.0, 0.0, 1.0];
        sin = |x = [0.0, 1.0]| x.sin() => [0.0, 0.841471];
        sinh = |x = [0.0, 1.0]| x.sinh() => [0.0, 1.175201];
        sqrt = |x = [0.0, 4.0, 2.25]| x.sqrt() => [0.0, 2.0, 1.5];
        tan = |x = [0.0, 1.0]| x.tan() => [0.0, 1.557408];
        tanh = |x = [0.0, 1.0]| x.tanh() => [0.0, 0.761594];
        trunc = |x = [-1.5, 0.75, 2.0]| x.trunc() => [-1.0, 0.0, 2.0];
    }
}
