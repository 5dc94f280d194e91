//! Which tile of the arena holds which value.
//!
//! Values live from the instruction that makes them to the last one that reads them; a tile is free again after
//! that. An instruction never writes a tile that it reads. Offsets are in bytes per element of a tile: multiplied by
//! the tile's capacity they become addresses, so the tile length can be chosen when the need is known.

use std::collections::{BTreeMap, BTreeSet};

/// Hands out tiles.
#[derive(Debug, Default)]
pub struct Tiles {
    /// Size of an element.
    sizes: Vec<usize>,
    /// The free tiles for elements of each size.
    free: BTreeMap<usize, BTreeSet<usize>>,
}

impl Tiles {
    /// A free tile for elements of `size` bytes.
    pub fn take(&mut self, size: usize) -> usize {
        let first = self.free.get_mut(&size).and_then(BTreeSet::pop_first);
        first.unwrap_or_else(|| {
            self.sizes.push(size);
            self.sizes.len() - 1
        })
    }

    /// Gives a tile back.
    pub fn free(&mut self, slot: usize) {
        self.free.entry(self.sizes[slot]).or_default().insert(slot);
    }

    /// Bytes per element before each tile, and of all.
    pub fn offsets(&self) -> (Vec<usize>, usize) {
        let mut total = 0;
        let mut offsets = Vec::with_capacity(self.sizes.len());
        for size in &self.sizes {
            offsets.push(total);
            total += size;
        }
        (offsets, total)
    }
}
