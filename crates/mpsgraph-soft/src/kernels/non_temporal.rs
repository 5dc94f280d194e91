//! Stores that go past the caches.
//!
//! Before a line of memory is written its old contents are read into the cache, and the line stays there until others
//! push it out. What is larger than the caches gains nothing from that: it pays for the reading, and what it pushes out
//! is read again. These stores fill whole lines in a buffer of the processor and send them to memory.

#![expect(unsafe_code, reason = "vector instructions")]

/// Whether this target has them.
pub const EXIST: bool = cfg!(target_arch = "x86_64");

/// Copies `bytes` bytes past the caches, except for some at either end if `to` is not aligned to 16 bytes. Call
/// [`fence`] before other threads are told of it.
///
/// # Safety
/// `from` must be initialised and `to` writable for as many bytes, and they must not overlap.
#[cfg(target_arch = "x86_64")]
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};

    const VECTOR: usize = size_of::<__m128i>();
    let head = to.align_offset(VECTOR).min(bytes);
    let vectors = (bytes - head) / VECTOR;
    let tail = head + vectors * VECTOR;
    let (first, last): (*const __m128i, *mut __m128i) = (from.wrapping_add(head).cast(), to.wrapping_add(head).cast());
    // SAFETY: head, vectors and tail are the bytes that the caller vouches for; the destination of the vectors is
    // aligned. Every x86-64 processor has these instructions.
    unsafe {
        to.copy_from_nonoverlapping(from, head);
        for at in 0..vectors {
            _mm_stream_si128(last.add(at), _mm_loadu_si128(first.add(at)));
        }
        to.add(tail).copy_from_nonoverlapping(from.add(tail), bytes - tail);
    }
}

/// Copies `bytes` bytes: this target has only usual stores.
///
/// # Safety
/// `from` must be initialised and `to` writable for as many bytes, and they must not overlap.
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
        for (skipped, start, bytes) in [(0, 0, 200), (0, 3, 150), (1, 0, 64), (5, 7, 15), (2, 16, 16), (0, 1, 0)] {
            let mut to = [255; 220];
            // SAFETY: both are long enough.
            unsafe { copy(from[skipped..].as_ptr(), to[start..].as_mut_ptr(), bytes.min(200 - skipped)) };
            fence();
            let mut expected = [255; 220];
            let bytes = bytes.min(200 - skipped);
            expected[start..start + bytes].copy_from_slice(&from[skipped..skipped + bytes]);
            assert_eq!(to, expected, "{bytes} bytes from {skipped} to {start}");
        }
    }
}
