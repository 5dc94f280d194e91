//! How products are shared between threads. How one is cut depends on its extents alone, because the order of summation
//! may depend on that.

use crate::kernels::threads::{self, Worth};

/// Multiplications of products that threads share (some 20 µs of one core).
pub const PARALLEL_PRODUCT: usize = 1 << 20;

/// Multiplications.
pub const MULTIPLIED: Worth = Worth { awake: PARALLEL_PRODUCT / 4, woken: PARALLEL_PRODUCT };

/// Least multiplications of a piece of many products.
pub const PIECE: usize = MULTIPLIED.awake / 2;

/// Elements of a matrix from which on threads share its product with a row: what fits into the second cache of one core
/// is read sooner than another is awake.
const PARALLEL_MATRIX: usize = 1 << 18;

/// How threads share one product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// One multiplies.
    Whole,
    /// It is cut, and another helps if it waits awake.
    Small,
    /// It is cut, and all multiply.
    Large,
}

impl Sharing {
    /// That of each of `batch` products.
    pub fn of((m, n, k): (usize, usize, usize), batch: usize) -> Self {
        let multiplications = m * n * k;
        if multiplications >= MULTIPLIED.woken || m.min(n) == 1 && multiplications >= PARALLEL_MATRIX {
            Self::Large
        } else if multiplications >= MULTIPLIED.awake && batch == 1 {
            Self::Small
        } else {
            Self::Whole
        }
    }

    /// Runs `piece` on the numbers below `pieces`, on other threads too if that is worth it now.
    pub fn run(self, pieces: usize, piece: &(dyn Fn(usize) + Sync)) {
        let is_shared = match self {
            Self::Whole => false,
            Self::Small => MULTIPLIED.is_met(MULTIPLIED.awake),
            Self::Large => true,
        };
        if is_shared { threads::for_each(pieces, 1, piece) } else { (0..pieces).for_each(piece) }
    }
}

#[cfg(test)]
mod tests {
    use super::Sharing;

    #[test]
    fn how_products_are_shared() {
        assert!(Sharing::of((64, 64, 63), 1) == Sharing::Whole);
        assert!(Sharing::of((64, 64, 64), 1) == Sharing::Small);
        // Threads take whole ones of several.
        assert!(Sharing::of((64, 64, 64), 2) == Sharing::Whole);
        assert!(Sharing::of((512, 256, 8), 1) == Sharing::Large);
        // A row reads its matrix once.
        assert!(Sharing::of((1, 512, 512), 3) == Sharing::Large);
        assert!(Sharing::of((2, 500, 512), 3) == Sharing::Whole);
    }
}
