//! Functions of one float.

use crate::agreement::Tolerance::{Exact, Ulps};
use crate::agreement::{FLOATS, Layout};

// What IEEE 754 defines to the last bit.
sweep! { floats, FLOATS, Layout::ALL, Exact;
    abs |x| x.abs();
    ceil |x| x.ceil();
    floor |x| x.floor();
    is_finite |x| x.is_finite();
    is_inf |x| x.is_inf();
    is_nan |x| x.is_nan();
    neg |x| x.neg();
    recip |x| x.recip();
    sign |x| x.sign();
    sqrt |x| x.sqrt();
    square |x| x.square();
    trunc |x| x.trunc();
}

// burn-flex rounds -0.25 to 0 in some layouts and to -0 in others; `unary_edges` has the sign.
sweep! { floats, FLOATS, Layout::ALL, Ulps(0);
    round |x| x.round();
}

// The two sides use different approximations; Metal's specification allows these 4 ulps, and the two below 6 and 5.
// burn-flex's acosh is off near 1, where `unary_edges` has it.
sweep! { floats, FLOATS, Layout::ALL, Ulps(4);
    acos |x| (x / 4.0).acos();
    acosh |x| (x.abs() + 1.125).acosh();
    asin |x| (x / 4.0).asin();
    asinh |x| x.asinh();
    atan |x| x.atan();
    cos |x| x.cos();
    cosh |x| x.cosh();
    deg2rad |x| x.deg2rad();
    erf |x| x.erf();
    exp |x| x.exp();
    log |x| x.log();
    log1p |x| x.log1p();
    rad2deg |x| x.rad2deg();
    sin |x| x.sin();
    sinh |x| x.sinh();
}

sweep! { floats, FLOATS, Layout::ALL, Ulps(6);
    tan |x| x.tan();
    tanh |x| x.tanh();
}

// burn-flex's atanh is off near 1 in f32, so up to 1/2 here; the rest is in `unary_edges`.
sweep! { floats, FLOATS, Layout::PLAIN, Ulps(4);
    atanh |x| (x / 8.0).atanh();
}
