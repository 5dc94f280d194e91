//! Coordinates along an axis, as i32.

use super::threads::{PARALLEL_BYTES, share};

/// Fills the packed tensor of `shape` with each element's position along `axis`.
pub fn iota(shape: &[usize], axis: usize, out: &mut [i32]) {
    let inner: usize = shape[axis + 1..].iter().product();
    let extent = shape[axis];
    if inner == 1 {
        // Rows of one element: the whole axis at once.
        let count = |out: &mut [i32]| out.iter_mut().enumerate().for_each(|(at, x)| *x = at as i32);
        return out.chunks_mut(extent).for_each(count);
    }
    let parallel = size_of_val(out) > PARALLEL_BYTES;
    share(parallel, inner, out, |row, out| out.fill((row % extent) as i32));
}

#[cfg(test)]
mod tests {
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
}
