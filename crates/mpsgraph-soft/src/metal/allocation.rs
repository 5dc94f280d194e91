//! A buffer's memory: whole pages, zero until written, and only touched when used.
//!
//! The system allocator clears memory at once when it is asked for an alignment above its own. So this asks for the
//! ordinary alignment and one page more, and uses the memory from the first page boundary on. A large block then
//! consists of zero pages of the kernel, which cost nothing until they are touched. On Linux such a block has large
//! pages where the system gives them to who asks: with pages of 4 KiB, a loop over more memory than the translation
//! buffers cover waits for them as long as for the memory.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use super::counters;
use crate::compiler::give_scratch_back;

/// Page size of Apple silicon: what a buffer's address and size are multiples of.
pub const PAGE: usize = 16 * 1024;

const BASE_ALIGN: usize = 16;

/// A large page of Linux, on every machine on which its base pages have 4 KiB.
const LARGE_PAGE: usize = 2 << 20;

/// Owned zero-initialised pages.
pub struct Allocation {
    base: NonNull<u8>,
    layout: Layout,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: an allocation owns its memory like a `Box<[u8]>`, on no particular thread. It hands out raw pointers only,
// and the code that reads or writes through one is responsible for the ordering.
unsafe impl Send for Allocation {}
// SAFETY: as above; nothing is written through `&Allocation` itself.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Room for `length` bytes; `None` if `length` is 0 or there is not enough memory.
    pub fn new(length: usize) -> Option<Self> {
        if length == 0 {
            return None;
        }
        let bytes = length.checked_next_multiple_of(PAGE)?;
        // What is left before the first large page is cleared too if the allocator has used the memory before.
        let align = if bytes < 8 * LARGE_PAGE { PAGE } else { LARGE_PAGE };
        let layout = Layout::from_size_align(bytes.checked_add(align)?, BASE_ALIGN).ok()?;
        // SAFETY: the layout's size is at least two pages, so not zero.
        let allocate = || NonNull::new(unsafe { alloc_zeroed(layout) });
        let again = || {
            give_scratch_back();
            allocate()
        };
        let base = allocate().or_else(again)?;
        let skip = base.as_ptr().align_offset(align);
        // SAFETY: `skip` is less than `align`, and the block is `bytes + align` long.
        let start = unsafe { base.add(skip) };
        if bytes >= 2 * LARGE_PAGE {
            ask_for_large_pages(start, bytes);
        }
        counters::allocated(bytes);
        Some(Self { base, layout, start, bytes })
    }

    /// First byte, page aligned.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Usable bytes, a multiple of [`PAGE`].
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Asks for large pages in a block. Whether there are any makes no difference but speed.
#[cfg(target_os = "linux")]
fn ask_for_large_pages(start: NonNull<u8>, bytes: usize) {
    // SAFETY: the whole pages of a block of the caller's; the advice changes no byte of them.
    unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_: NonNull<u8>, _: usize) {}

impl Drop for Allocation {
    fn drop(&mut self) {
        counters::freed(self.bytes);
        // SAFETY: `base` came from `alloc_zeroed` with this layout in `new` and is freed nowhere else.
        unsafe { dealloc(self.base.as_ptr(), self.layout) }
    }
}
