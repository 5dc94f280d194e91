//! `MTLBuffer`: bytes that CPU and GPU share.
//!
//! The bytes are reached through [`HostRead`] and [`HostWrite`] alone, which panic if the access could meet another one
//! (see `claim`). So both are safe: the pool, which hands buffers out, has to know that work has ended, and a mistake
//! in that is a panic.

use std::ffi::c_void;
use std::fmt;
use std::ops::{Deref, DerefMut};

use super::claim::{Access, Claim, Claims};
use crate::ffi::objc::{Retained, objc_methods, objc_protocol};

objc_protocol!(
    /// Bytes that CPU and GPU share.
    MTLBuffer
);

// SAFETY: Metal documents resources as usable from any thread; the bytes are accessed under claims.
unsafe impl Send for MTLBuffer {}
// SAFETY: as above.
unsafe impl Sync for MTLBuffer {}

objc_methods! {
    "MTLBuffer.h";
    impl MTLBuffer {
        /// Number of bytes.
        instance fn length() -> usize = "length", since (10, 11);

        instance fn contents_pointer() -> *mut c_void = "contents", since (10, 11);
    }
}

impl MTLBuffer {
    fn contents(&self) -> *mut u8 {
        let pointer = self.contents_pointer();
        assert!(!pointer.is_null(), "-[MTLBuffer contents] is nil: not a buffer of shared storage");
        pointer.cast()
    }
}

/// A buffer, retained, with the claims on its bytes.
#[derive(Clone)]
pub(crate) struct Buffer {
    object: Retained<MTLBuffer>,
    claims: Claims,
}

impl Buffer {
    /// `object` has just been made: nobody else has a claim on its bytes.
    pub(super) fn new(object: Retained<MTLBuffer>) -> Self {
        Self { object, claims: Claims::default() }
    }

    /// Number of bytes.
    pub(crate) fn length(&self) -> usize {
        self.object.length()
    }

    /// Whether GPU work that was not seen to finish uses the bytes.
    pub(crate) fn is_used_by_gpu(&self) -> bool {
        self.claims.are_of_gpu()
    }

    /// The bytes, for reading.
    ///
    /// # Panics
    /// If the host writes them, or GPU work that writes them was not seen to finish.
    #[track_caller]
    pub(crate) fn host_read(&self) -> HostRead {
        let claim = self.claims.claim(Access::HostRead);
        HostRead { start: self.object.contents(), length: self.object.length(), _claim: claim, _buffer: self.clone() }
    }

    /// The bytes, for writing.
    ///
    /// # Panics
    /// If the host accesses them, or GPU work that does was not seen to finish.
    #[track_caller]
    pub(crate) fn host_write(&self) -> HostWrite<'_> {
        let claim = self.claims.claim(Access::HostWrite);
        HostWrite { start: self.object.contents(), length: self.object.length(), _claim: claim, _buffer: self }
    }

    pub(in crate::ffi) fn object(&self) -> &MTLBuffer {
        &self.object
    }

    pub(in crate::ffi) fn claims(&self) -> &Claims {
        &self.claims
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object.fmt(f)
    }
}

/// The host's view of a buffer's bytes, which nobody changes while it exists. Keeps the buffer alive.
pub(crate) struct HostRead {
    start: *const u8,
    length: usize,
    _claim: Claim,
    _buffer: Buffer,
}

// SAFETY: the pointer is to the bytes of a buffer, which any thread may read while the claim is held.
unsafe impl Send for HostRead {}
// SAFETY: as above.
unsafe impl Sync for HostRead {}

impl Deref for HostRead {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: shared storage stays where it is and is readable for `length` bytes while the buffer lives, which
        // `_buffer` keeps; while the claim is held neither host nor GPU writes it.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// The host's view of a buffer's bytes, which nobody else sees or changes while it exists.
pub(crate) struct HostWrite<'a> {
    start: *mut u8,
    length: usize,
    _claim: Claim,
    _buffer: &'a Buffer,
}

impl Deref for HostWrite<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: as for HostRead; only this view's owner, whom `&self` keeps from writing, could write.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

impl DerefMut for HostWrite<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: shared storage is writable for `length` bytes while the buffer lives; while the claim is held neither
        // host nor GPU accesses it but through this view, which `&mut self` borrows alone.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    let buffer = crate::ffi::exercise::device().new_buffer(6).expect("there is memory");
    assert_eq!(buffer.length(), 6);
    buffer.host_write()[1..].copy_from_slice(&[1, 2, 3, 4, 5]);
    assert_eq!(buffer.host_read()[1..], [1, 2, 3, 4, 5]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::exercise::device;

    /// Ambiguous, so that it does not compile, for a type that is `Clone`.
    trait NotClone<Marker> {
        fn check() {}
    }
    impl<T> NotClone<()> for T {}
    impl<T: Clone> NotClone<bool> for T {}

    #[test]
    fn views_and_claims_are_not_clone() {
        // Compiling is the test.
        <HostRead as NotClone<_>>::check();
        <HostWrite as NotClone<_>>::check();
        <Claim as NotClone<_>>::check();
        <crate::ffi::metal::Work as NotClone<_>>::check();
    }

    #[test]
    #[should_panic(expected = "HostWrite of a buffer while the host reads it")]
    fn a_write_inside_a_read_panics() {
        let buffer = device().new_buffer(4).unwrap();
        let _reading = buffer.host_read();
        let again = buffer.clone();
        let _writing = again.host_write();
    }

    #[test]
    #[should_panic(expected = "HostWrite of a buffer while the host writes it")]
    fn two_writes_panic() {
        let buffer = device().new_buffer(4).unwrap();
        let _writing = buffer.host_write();
        let _again = buffer.host_write();
    }

    #[test]
    fn reads_go_together() {
        let buffer = device().new_buffer(2).unwrap();
        buffer.host_write().copy_from_slice(&[7, 8]);
        let (one, other) = (buffer.host_read(), buffer.host_read());
        assert_eq!(*one, *other);
    }
}
