//! Asking for memory before it is read.

#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "an instruction"))]

/// Bytes of a line of every processor's caches, or of half a line.
pub const LINE: usize = 64;

/// Has the processor bring these bytes nearer, if the target has such an instruction; it may ignore that. They need not
/// be there.
#[inline]
pub fn prefetch(from: *const u8, bytes: usize) {
    for at in (0..bytes).step_by(LINE) {
        line(from.wrapping_add(at));
    }
}

#[cfg(target_arch = "x86_64")]
fn line(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has the instruction, which does not fail, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
fn line(_at: *const u8) {}
