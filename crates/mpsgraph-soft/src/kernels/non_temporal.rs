//! Stores that go past the caches.
//!
//! Before a line of memory is written its old contents are read into the cache, and the line stays there until others
//! push it out. What is larger than the caches gains nothing from that: it pays for the reading, and what it pushes out
//! is read again. These stores fill whole lines in a buffer of the processor and send them to memory.

#![expect(unsafe_code, reason = "vector instructions")]

#[cfg(target_arch = "x86_64")]
use super::vectorised::avx512_is_here;

/// Whether this target has them.
pub const EXIST: bool = cfg!(target_arch = "x86_64");

/// Copies `bytes` bytes past the caches, except for some at either end if `to` is not aligned to a vector.
///
/// # Safety
/// `from` must be initialised and `to` writable for as many bytes, and they must not overlap. This thread calls
/// [`fence`] before anybody, itself too, accesses the bytes at `to`: Rust's memory has no order for such stores.
#[cfg(target_arch = "x86_64")]
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise; every x86-64 processor has the small vectors, and this one the large ones where
    // they are chosen.
    unsafe { if avx512_is_here() { large_vectors(from, to, bytes) } else { small_vectors(from, to, bytes) } }
}

/// Defines a copy by vectors of one width.
#[cfg(target_arch = "x86_64")]
macro_rules! by_vectors {
    ($(#[$attribute:meta])* $name:ident: $vector:ident, $load:ident, $store:ident) => {
        /// # Safety
        /// As for [`copy`].
        $(#[$attribute])*
        unsafe fn $name(from: *const u8, to: *mut u8, bytes: usize) {
            use std::arch::x86_64::{$load, $store, $vector};

            const VECTOR: usize = size_of::<$vector>();
            let head = to.align_offset(VECTOR).min(bytes);
            let vectors = (bytes - head) / VECTOR;
            let tail = head + vectors * VECTOR;
            let (first, last): (*const $vector, *mut $vector) =
                (from.wrapping_add(head).cast(), to.wrapping_add(head).cast());
            // SAFETY: head, vectors and tail are the bytes that the caller vouches for; the destination of the vectors
            // is aligned.
            unsafe {
                to.copy_from_nonoverlapping(from, head);
                for at in 0..vectors {
                    $store(last.add(at), $load(first.add(at)));
                }
                to.add(tail).copy_from_nonoverlapping(from.add(tail), bytes - tail);
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
by_vectors!(small_vectors: __m128i, _mm_loadu_si128, _mm_stream_si128);
// A line is one store: fewer of them wait for memory, so the processor goes on sooner.
#[cfg(target_arch = "x86_64")]
by_vectors!(#[target_feature(enable = "avx512f")] large_vectors: __m512i, _mm512_loadu_si512, _mm512_stream_si512);

/// Copies `bytes` bytes: this target has only usual stores.
///
/// # Safety
/// As on targets that have them.
#[cfg(not(target_arch = "x86_64"))]
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { to.copy_from_nonoverlapping(from, bytes) }
}

/// Makes what this thread has copied visible to the threads that it tells of it.
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::{copy, fence};

    #[test]
    fn copies_whatever_the_alignment() {
        let from: Vec<u8> = (0..200).collect();
        for (skipped, start, bytes) in
            [(0, 0, 200), (0, 3, 150), (1, 0, 64), (5, 7, 15), (2, 16, 16), (0, 1, 0), (3, 5, 190)]
        {
            let mut to = [255; 220];
            // SAFETY: both are long enough, and the fence follows.
            unsafe { copy(from[skipped..].as_ptr(), to[start..].as_mut_ptr(), bytes.min(200 - skipped)) };
            fence();
            let mut expected = [255; 220];
            let bytes = bytes.min(200 - skipped);
            expected[start..start + bytes].copy_from_slice(&from[skipped..skipped + bytes]);
            assert_eq!(to, expected, "{bytes} bytes from {skipped} to {start}");
        }
    }
}
