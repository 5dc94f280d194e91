//! Untyped memory that a plan reads and writes: a pointer and a length, with typed views.
//!
//! The caller of a span's unsafe constructor promises that the memory outlives every use and that it is not written
//! while others read it. With that promise the typed views are safe, so that kernels can be plain Rust on slices.
//! Lengths are bytes.

#![expect(unsafe_code, reason = "memory that somebody else vouches for, as slices")]

use bytemuck::{AnyBitPattern, NoUninit};

/// Memory to read.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    ptr: *const u8,
    len: usize,
}

/// Memory to write, held by one user at a time.
#[derive(Debug)]
pub struct SpanMut {
    ptr: *mut u8,
    len: usize,
}

// SAFETY: a span is shared, initialised memory that is not written while the span is used (promised to `Span::new`).
unsafe impl Send for Span {}
// SAFETY: as for `Send`.
unsafe impl Sync for Span {}
// SAFETY: the memory belongs to this span alone while it is used (promised to `SpanMut::new`).
unsafe impl Send for SpanMut {}
// SAFETY: a shared `SpanMut` gives out the pointer only; the promise to `SpanMut::new` covers the rest.
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
        assert!(offset <= self.len && len <= self.len - offset, "{offset}+{len} of a span of {} bytes", self.len);
        Span { ptr: self.ptr.wrapping_add(offset), len }
    }
}

impl SpanMut {
    /// The `len` bytes at `ptr`.
    ///
    /// # Safety
    /// They must be initialised, live and touched through this span alone for as long as it is used.
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

    /// The same memory for reading, while this span is borrowed.
    pub const fn as_span(&self) -> Span {
        Span { ptr: self.ptr, len: self.len }
    }

    /// `len` bytes from `offset` on. Panics if they are not inside.
    pub fn part(self, offset: usize, len: usize) -> SpanMut {
        SpanMut { ptr: self.as_span().part(offset, len).as_ptr().cast_mut(), len }
    }

    /// The first `mid` bytes and the rest, as two spans. Panics if there are fewer.
    pub fn split_at(self, mid: usize) -> (SpanMut, SpanMut) {
        assert!(mid <= self.len, "split of {} bytes at {mid}", self.len);
        let rest = SpanMut { ptr: self.ptr.wrapping_add(mid), len: self.len - mid };
        (SpanMut { ptr: self.ptr, len: mid }, rest)
    }
}

fn check<T>(ptr: *const u8, len: usize) {
    assert!(size_of::<T>() != 0 && len.is_multiple_of(size_of::<T>()), "{len} bytes are not whole elements");
    assert!(len == 0 || ptr.cast::<T>().is_aligned(), "span at {ptr:p} is misaligned for {}", size_of::<T>());
}

#[cfg(test)]
mod tests;
