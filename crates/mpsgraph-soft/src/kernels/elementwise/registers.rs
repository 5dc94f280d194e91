//! Which tile of the arena holds which value.
//!
//! Values live from the instruction that makes them to the last one that reads them; a tile is free again after
//! that. An instruction never writes a tile that it reads. Offsets are in bytes per element of a tile: multiplied by
//! the tile's capacity they become addresses, so the tile length can be chosen when the need is known.

/// Hands out tiles.
#[derive(Debug, Default)]
pub struct Tiles {
    /// Size of an element and whether the tile is free.
    slots: Vec<(usize, bool)>,
}

impl Tiles {
    /// A free tile for elements of `size` bytes.
    pub fn take(&mut self, size: usize) -> usize {
        let slot = self.slots.iter().position(|&(bytes, free)| free && bytes == size).unwrap_or_else(|| {
            self.slots.push((size, true));
            self.slots.len() - 1
        });
        self.slots[slot].1 = false;
        slot
    }

    /// Gives a tile back.
    pub fn free(&mut self, slot: usize) {
        self.slots[slot].1 = true;
    }

    /// Bytes per element before each tile, and of all.
    pub fn offsets(&self) -> (Vec<usize>, usize) {
        let mut total = 0;
        let mut offsets = Vec::with_capacity(self.slots.len());
        for (size, _) in &self.slots {
            offsets.push(total);
            total += size;
        }
        (offsets, total)
    }
}
