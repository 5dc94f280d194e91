//! Coordinates along an axis, as i32.

use super::Kernel;
use super::call::Call;
use super::threads::{PARALLEL_BYTES, share};
use serde::{Deserialize, Serialize};

/// No input; i32 coordinate along `axis`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Iota {
    pub axis: usize,
}

impl Kernel for Iota {
    fn run(&self, mut call: Call<'_>) {
        iota(&call.ty.shape, self.axis, call.output_elements());
    }
}

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
mod tests;
