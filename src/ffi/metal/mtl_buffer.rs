//! `MTLBuffer`: bytes that CPU and GPU share.
//!
//! Contract of every access to the bytes, which the pool that hands buffers out keeps: who reads, reads while no
//! committed and unfinished GPU work writes the buffer and no other thread does; who writes, is alone with it. The
//! software runtime checks both against GPU work.

use std::ffi::c_void;

use crate::ffi::objc::{Retained, objc_methods, objc_protocol};

objc_protocol!(
    /// Bytes that CPU and GPU share.
    MTLBuffer
);

// SAFETY: Metal documents resources as usable from any thread; access to the bytes is under the contract above.
unsafe impl Send for MTLBuffer {}
// SAFETY: as above.
unsafe impl Sync for MTLBuffer {}

/// A buffer, retained.
pub(crate) type Buffer = Retained<MTLBuffer>;

objc_methods! {
    "MTLBuffer.h";
    impl MTLBuffer {
        /// Number of bytes.
        instance fn length() -> usize = "length", since (10, 11);

        instance fn contents_pointer() -> *mut c_void = "contents", since (10, 11);
    }
}

impl MTLBuffer {
    /// Lends the bytes to `read`, under the contract of this file.
    pub(crate) fn with_bytes<R>(&self, read: impl FnOnce(&[u8]) -> R) -> R {
        let (pointer, length) = (self.contents(), self.length());
        // SAFETY: shared storage is readable for length bytes while self lives; by this file's contract nobody
        // writes meanwhile.
        read(unsafe { std::slice::from_raw_parts(pointer, length) })
    }

    /// Lends the bytes to `write`, under the contract of this file.
    pub(crate) fn with_bytes_mut<R>(&self, write: impl FnOnce(&mut [u8]) -> R) -> R {
        let (pointer, length) = (self.contents(), self.length());
        // SAFETY: shared storage is writable for length bytes while self lives; by this file's contract nobody else
        // accesses it meanwhile.
        write(unsafe { std::slice::from_raw_parts_mut(pointer, length) })
    }

    /// Copies bytes out, from `offset` on, under the contract of this file.
    ///
    /// # Panics
    /// If the buffer ends before `into` does.
    pub(crate) fn read(&self, offset: usize, into: &mut [u8]) {
        self.with_bytes(|bytes| into.copy_from_slice(&bytes[offset..offset + into.len()]))
    }

    /// Copies bytes in, from `offset` on, under the contract of this file.
    ///
    /// # Panics
    /// If the buffer ends before `from` does.
    pub(crate) fn write(&self, offset: usize, from: &[u8]) {
        self.with_bytes_mut(|bytes| bytes[offset..offset + from.len()].copy_from_slice(from))
    }

    fn contents(&self) -> *mut u8 {
        let pointer = self.contents_pointer();
        assert!(!pointer.is_null(), "-[MTLBuffer contents] is nil: not a buffer of shared storage");
        pointer.cast()
    }
}
