//! Sums of parts of a product, added up.

use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Adds `sums` to `to`.
pub fn add(to: &mut [f32], sums: &[f32]) {
    vectorised(Add { to, sums });
}

struct Add<'a> {
    to: &'a mut [f32],
    sums: &'a [f32],
}

impl VectorLoop for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.to.iter_mut().zip(self.sums).for_each(|(to, sum)| *to += sum);
    }
}
