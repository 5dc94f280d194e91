//! How products are shared between threads. How one is cut depends on its extents alone, because the order of summation
//! may depend on that.

use std::ops::Range;

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

/// Part number `at` of so many of an extent, as long as the others but for a unit: four parts of 100 rows have 24, 24,
/// 24 and 28. One of two threads would be late with 32 and 32 of 32, 32, 32 and 4.
pub fn even_part(extent: usize, unit: usize, (at, parts): (usize, usize)) -> Range<usize> {
    let units = extent.div_ceil(unit);
    let edge = |at: usize| (at * units / parts * unit).min(extent);
    edge(at)..edge(at + 1)
}

#[cfg(test)]
mod tests {
    use super::{Sharing, even_part};

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

    #[test]
    fn pieces_are_as_long_as_each_other() {
        let lengths = |extent: usize, unit: usize, parts: usize| -> Vec<usize> {
            (0..parts).map(|at| even_part(extent, unit, (at, parts)).len()).collect()
        };
        assert_eq!(lengths(100, 8, 4), [24, 24, 24, 28]);
        assert_eq!(lengths(300, 16, 4), [64, 80, 80, 76]);
        assert_eq!(lengths(64, 8, 4), [16; 4]);
        assert_eq!(lengths(10, 16, 1), [10]);
    }
}
