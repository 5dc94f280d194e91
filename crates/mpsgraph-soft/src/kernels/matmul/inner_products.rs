//! Products of a row and a column, each of consecutive numbers: one sum for each, as cosine similarities and scores of
//! pairs are. What is around a call of `gemm` takes longer than such a sum.

use crate::kernels::row_sum;
use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Some of them.
pub struct InnerProducts<'a> {
    pub a: &'a [f32],
    pub b: &'a [f32],
    /// Numbers of a row.
    pub length: usize,
    /// First elements of the operands of each product.
    pub batch: &'a [(usize, usize)],
    pub out: &'a mut [f32],
}

impl InnerProducts<'_> {
    /// Multiplies: each result is summed as a row is.
    pub fn run(self) {
        vectorised(self);
    }
}

impl VectorLoop for InnerProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (&(a, b), out) in self.batch.iter().zip(self.out) {
            let (a, b) = (&self.a[a..][..self.length], &self.b[b..][..self.length]);
            *out = row_sum::sum(a, b, |a, b| a * b);
        }
    }
}
