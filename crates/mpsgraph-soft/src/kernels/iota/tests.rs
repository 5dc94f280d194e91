//! Coordinates along every axis.

use super::*;

#[test]
fn every_axis_of_a_shape() {
    let shape = [3, 4, 5];
    for axis in 0..3 {
        let mut out = vec![-1; 60];
        iota(&shape, axis, &mut out);
        for (flat, &x) in out.iter().enumerate() {
            assert_eq!(x as usize, [flat / 20, flat / 5 % 4, flat % 5][axis]);
        }
    }
}

#[test]
fn large() {
    let mut out = vec![-1; 300 * 2000];
    iota(&[300, 2000], 0, &mut out);
    assert!(out.iter().enumerate().all(|(flat, &x)| x as usize == flat / 2000));
}
