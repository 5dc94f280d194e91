//! The exponential against f64.

use super::*;

#[test]
fn within_two_units() {
    for step in 0..=1_050_000 {
        let x = step as f32 * -1e-4;
        let (ours, exact) = (exp_below_zero(x), f64::from(x).exp() as f32);
        if exact < f32::MIN_POSITIVE * 1.0001 {
            assert!(ours == 0.0 || ours >= f32::MIN_POSITIVE, "exp({x}) = {ours:e}");
        } else {
            let distance = ours.to_bits().abs_diff(exact.to_bits());
            assert!(distance <= 2, "exp({x}) = {ours:e}, not {exact:e}");
        }
    }
}

#[test]
fn special_values() {
    assert_eq!(exp_below_zero(0.0), 1.0);
    assert_eq!(exp_below_zero(-0.0), 1.0);
    assert_eq!(exp_below_zero(f32::NEG_INFINITY), 0.0);
    assert_eq!(exp_below_zero(f32::MIN), 0.0);
    assert_eq!(exp_below_zero(-f32::MIN_POSITIVE), 1.0);
    assert!(exp_below_zero(f32::NAN).is_nan());
}
