//! Untyped memory that a plan reads and writes: a pointer and a length, with typed views.
//!
//! Spans have no lifetime: whoever makes one promises that the memory outlives every use of it, its parts and its
//! copies, and that nobody writes meanwhile what they touch. For the steps of a plan that is
//! [`Memory`](super::storage::Memory), for buffers the work that holds them. With that promise the typed views are
//! safe, so that kernels can be plain Rust on slices. Lengths are bytes.

#![expect(unsafe_code, reason = "memory that somebody else vouches for, as slices")]

use bytemuck::{AnyBitPattern, NoUninit};

/// Memory to read.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    ptr: *const u8,
    len: usize,
}

/// Memory to write. To write through it takes the span itself or an exclusive borrow; where its pointer is used
/// instead, such as by threads that share it, the `unsafe` there says who touches which part.
#[derive(Debug)]
pub struct SpanMut {
    ptr: *mut u8,
    len: usize,
}

// SAFETY: it gives out shared slices only, of memory that nobody writes while the span is used, on whichever thread
// (promised to the constructor by whoever made it).
unsafe impl Send for Span {}
// SAFETY: as for `Send`.
unsafe impl Sync for Span {}
// SAFETY: nobody else touches what is touched through it while it is used, on whichever thread (promised to the
// constructor by whoever made it).
unsafe impl Send for SpanMut {}
// SAFETY: a shared `SpanMut` gives out its pointer and length only, no slice.
unsafe impl Sync for SpanMut {}

impl Span {
    /// The `len` bytes at `ptr`.
    ///
    /// # Safety
    /// They must be initialised, live and not written to for as long as this span or a copy of it is used.
    pub const unsafe fn new(ptr: *const u8, len: usize) -> Self {
        Self { ptr, len }
    }

    /// The bytes of `items`.
    ///
    /// # Safety
    /// `items` must stay borrowed for as long as this span or a copy of it is used.
    pub const unsafe fn of<T: NoUninit>(items: &[T]) -> Self {
        Self { ptr: items.as_ptr().cast(), len: size_of_val(items) }
    }

    /// First byte.
    pub const fn as_ptr(&self) -> *const u8 {
        self.ptr
    }

    /// Length in bytes.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds nothing.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory as elements. Panics if it is misaligned or not a whole number of them.
    pub fn slice<T: AnyBitPattern>(&self) -> &[T] {
        check::<T>(self.ptr, self.len);
        if self.len == 0 {
            return &[];
        }
        // SAFETY: aligned and whole (checked); live, initialised and unwritten (promised to the constructor).
        unsafe { std::slice::from_raw_parts(self.ptr.cast(), self.len / size_of::<T>()) }
    }

    /// `len` bytes from `offset` on. Panics if they are not inside.
    pub fn part(&self, offset: usize, len: usize) -> Span {
        check_part(self.len, offset, len);
        Span { ptr: self.ptr.wrapping_add(offset), len }
    }
}

impl SpanMut {
    /// The `len` bytes at `ptr`.
    ///
    /// # Safety
    /// They must be initialised and live for as long as this span or a part of it is used, and nobody may touch in
    /// another way meanwhile what is touched through it.
    pub const unsafe fn new(ptr: *mut u8, len: usize) -> Self {
        Self { ptr, len }
    }

    /// The bytes of `items`.
    ///
    /// # Safety
    /// `items` must stay borrowed for as long as this span is used.
    pub const unsafe fn of<T: NoUninit + AnyBitPattern>(items: &mut [T]) -> Self {
        Self { len: size_of_val(items), ptr: items.as_mut_ptr().cast() }
    }

    /// First byte.
    pub const fn as_ptr(&self) -> *mut u8 {
        self.ptr
    }

    /// Length in bytes.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds nothing.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory as elements. Panics if it is misaligned or not a whole number of them.
    pub fn slice<T: NoUninit + AnyBitPattern>(&mut self) -> &mut [T] {
        check::<T>(self.ptr, self.len);
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: aligned and whole (checked); live, initialised and ours alone (promised to the constructor).
        unsafe { std::slice::from_raw_parts_mut(self.ptr.cast(), self.len / size_of::<T>()) }
    }

    /// `len` bytes from `offset` on. Panics if they are not inside.
    pub fn part(self, offset: usize, len: usize) -> SpanMut {
        check_part(self.len, offset, len);
        SpanMut { ptr: self.ptr.wrapping_add(offset), len }
    }

    /// The first `mid` bytes and the rest, as two spans. Panics if there are fewer.
    pub fn split_at(self, mid: usize) -> (SpanMut, SpanMut) {
        assert!(mid <= self.len, "split of {} bytes at {mid}", self.len);
        let rest = SpanMut { ptr: self.ptr.wrapping_add(mid), len: self.len - mid };
        (SpanMut { ptr: self.ptr, len: mid }, rest)
    }
}

fn check_part(all: usize, offset: usize, len: usize) {
    assert!(offset <= all && len <= all - offset, "{offset}+{len} of a span of {all} bytes");
}

fn check<T>(ptr: *const u8, len: usize) {
    assert!(size_of::<T>() != 0 && len.is_multiple_of(size_of::<T>()), "{len} bytes are not whole elements");
    assert!(len == 0 || ptr.cast::<T>().is_aligned(), "span at {ptr:p} is misaligned for {}", size_of::<T>());
}

#[cfg(test)]
mod tests;
