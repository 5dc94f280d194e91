//! Heaps for small buffers: a buffer of its own takes a page of memory at least, and an object of the kernel, of which
//! there are not endlessly many.

use crate::ffi::{Buffer, Device, Heap};

/// Bytes up to which a buffer comes from a heap.
pub(super) const SMALL: usize = 4096;
/// Bytes of a heap. Metal makes work that uses one buffer of a heap wait for work that writes another, so heaps are
/// small.
const HEAP_BYTES: usize = 1 << 20;

/// The heaps of a device.
#[derive(Default)]
pub(super) struct Heaps {
    supported: bool,
    /// The one that buffers were last taken from comes last.
    heaps: Vec<Heap>,
}

impl Heaps {
    pub fn of(device: &Device) -> Self {
        Self { supported: device.has_shared_heaps(), heaps: Vec::new() }
    }

    /// A buffer of `class` bytes; `None` if that is not small, or there are no heaps to be had.
    pub fn buffer(&mut self, device: &Device, class: usize) -> Option<Buffer> {
        if !self.supported || class > SMALL {
            return None;
        }
        let needed = device.heap_buffer_size(class);
        if let Some(newest) = self.heaps.last()
            && newest.max_available_size(needed.align) >= needed.size
            && let Some(buffer) = newest.new_buffer(class)
        {
            return Some(buffer);
        }
        // An older heap that is half empty again, or a new one. Free bytes may be scattered, so the largest hole is
        // asked for too.
        let has_room =
            |heap: &Heap| heap.used_size() <= HEAP_BYTES / 2 && heap.max_available_size(needed.align) >= needed.size;
        let heap = match self.heaps.iter().position(has_room) {
            Some(at) => self.heaps.swap_remove(at),
            None => device.new_heap(HEAP_BYTES)?,
        };
        let buffer = heap.new_buffer(class);
        self.heaps.push(heap);
        buffer
    }

    /// Gives back the heaps that no buffer is in.
    pub fn release_unused(&mut self) {
        self.heaps.retain(|heap| heap.used_size() > 0);
    }
}
