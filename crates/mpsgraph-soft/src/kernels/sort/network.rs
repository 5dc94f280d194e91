//! Short rows by a sorting network, a lane of a vector register for each row.
//!
//! The network is Batcher's odd-even merge sort: the pairs of places that are exchanged do not depend on the keys, so
//! all rows do the same at the same time. It makes some `log(n)^2 / 4` comparisons for each key.

use super::row::Key;
use crate::kernels::vectorised::VectorLoop;

/// The longest row that is sorted so: of 32 bits, as many rows as there are lanes take half of the first cache.
pub const LONGEST: usize = 256;
/// Rows that are sorted at the same time.
const LANES: usize = 16;
/// As few rows are sorted one by one.
pub const FEW: usize = 4;

/// Rows of `extent` keys, at most [`LONGEST`].
pub struct Network<'a, K> {
    pub keys: &'a mut [K],
    pub extent: usize,
}

impl<K: Key> VectorLoop for Network<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let extent = self.extent;
        let mut columns = [[K::ZERO; LANES]; LONGEST];
        let columns = &mut columns[..extent];
        for tile in self.keys.chunks_mut(extent * LANES) {
            let last = tile.len() / extent - 1;
            if last < FEW {
                tile.chunks_exact_mut(extent).for_each(|row| row.sort_unstable());
                continue;
            }
            if tile.chunks_exact(extent).all(|row| row.is_sorted()) {
                continue;
            }
            for (at, column) in columns.iter_mut().enumerate() {
                // Lanes without a row repeat the last one.
                *column = std::array::from_fn(|row| tile[row.min(last) * extent + at]);
            }
            sort(columns);
            for (row, keys) in tile.chunks_exact_mut(extent).enumerate() {
                for (key, column) in keys.iter_mut().zip(&*columns) {
                    *key = column[row];
                }
            }
        }
    }
}

/// Sorts each lane of the columns.
#[inline(always)]
fn sort<K: Key>(columns: &mut [[K; LANES]]) {
    let count = columns.len();
    // Runs of `sorted` become runs of twice as many.
    let mut sorted = 1;
    while sorted < count {
        let run = |place: usize| place / (2 * sorted);
        let mut distance = sorted;
        while distance > 0 {
            for start in (distance % sorted..count - distance.min(count)).step_by(2 * distance) {
                for low in start..(start + distance).min(count - distance) {
                    if run(low) == run(low + distance) {
                        exchange(columns, low, low + distance);
                    }
                }
            }
            distance /= 2;
        }
        sorted *= 2;
    }
}

/// Brings two columns in order.
#[inline(always)]
fn exchange<K: Key>(columns: &mut [[K; LANES]], low: usize, high: usize) {
    let (a, b) = (columns[low], columns[high]);
    columns[low] = std::array::from_fn(|lane| a[lane].min(b[lane]));
    columns[high] = std::array::from_fn(|lane| a[lane].max(b[lane]));
}
