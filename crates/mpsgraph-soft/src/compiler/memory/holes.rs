//! The free parts of a block that grows.

use std::collections::{BTreeMap, BTreeSet};

/// Free parts, none of which touches another.
#[derive(Debug, Default)]
pub struct Holes {
    /// Bytes by address.
    by_address: BTreeMap<usize, usize>,
    /// Bytes and address.
    by_size: BTreeSet<(usize, usize)>,
    end: usize,
}

impl Holes {
    /// The size of the block.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The address of so many bytes: in the smallest hole that has them, else at the end of the block.
    pub fn take(&mut self, bytes: usize) -> usize {
        if bytes == 0 {
            return 0;
        }
        if let Some(&(size, address)) = self.by_size.range((bytes, 0)..).next() {
            self.remove(address, size);
            self.insert(address + bytes, size - bytes);
            return address;
        }
        let address = match self.by_address.last_key_value() {
            Some((&last, &size)) if last + size == self.end => {
                self.remove(last, size);
                last
            }
            Some(_) | None => self.end,
        };
        self.end = address + bytes;
        address
    }

    /// Makes taken bytes free again.
    pub fn give_back(&mut self, mut address: usize, mut bytes: usize) {
        if bytes == 0 {
            return;
        }
        if let Some((&before, &size)) = self.by_address.range(..address).next_back()
            && before + size == address
        {
            self.remove(before, size);
            (address, bytes) = (before, size + bytes);
        }
        if let Some(&size) = self.by_address.get(&(address + bytes)) {
            self.remove(address + bytes, size);
            bytes += size;
        }
        self.insert(address, bytes);
    }

    fn insert(&mut self, address: usize, bytes: usize) {
        if bytes > 0 {
            self.by_address.insert(address, bytes);
            self.by_size.insert((bytes, address));
        }
    }

    fn remove(&mut self, address: usize, bytes: usize) {
        self.by_address.remove(&address);
        self.by_size.remove(&(bytes, address));
    }
}
