//! A buffer's contents as Burn's `Bytes`, without a copy.
//!
//! Whoever changes the bytes gets a copy of their own first: the buffer may be a tensor's value still.

use std::mem::MaybeUninit;

use burn_std::{AllocationController, AllocationProperty, Bytes};

use super::HostRead;
use crate::burn::allocation_items;

/// The first `length` bytes of `read`. `keep` is dropped when the last of the bytes is gone.
///
/// # Panics
/// If the buffer is shorter.
pub(crate) fn host_bytes(read: HostRead, length: usize, keep: impl Send + Sync + 'static) -> Bytes {
    assert!(length <= read.len(), "{length} bytes of a buffer of {}", read.len());
    let controller = HostBytes { lent: Some(Lent { read, _keep: keep }), own: Vec::new(), length };
    // SAFETY: all bytes of a buffer count as initialised, and there are `length` of them.
    unsafe { Bytes::from_controller(Box::new(controller), length) }
}

/// Bytes in a buffer, and what has to live as long as they are looked at. The view is dropped first: after `keep` the
/// buffer may have its next user.
struct Lent<K> {
    read: HostRead,
    _keep: K,
}

struct HostBytes<K> {
    /// Until somebody wants to change the bytes.
    lent: Option<Lent<K>>,
    /// Then this, as aligned as any element type wants.
    own: Vec<u128>,
    length: usize,
}

impl<K> AllocationController for HostBytes<K> {
    fn alloc_align(&self) -> usize {
        align_of::<u128>()
    }

    fn property(&self) -> AllocationProperty {
        AllocationProperty::Other
    }

    allocation_items!();
}

impl<K> HostBytes<K> {
    /// The bytes, of which nobody else sees a change.
    ///
    /// # Safety
    /// Only initialised bytes are written: the others are read as such.
    unsafe fn bytes_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        if self.lent.is_some() {
            let mut own = vec![0_u128; self.length.div_ceil(size_of::<u128>())];
            // SAFETY: MaybeUninit has no drop, and u128's bytes may be overwritten by any.
            let (_, bytes, _) = unsafe { own.align_to_mut::<MaybeUninit<u8>>() };
            bytes[..self.length].copy_from_slice(self.bytes());
            self.own = own;
            self.lent = None;
        }
        // SAFETY: as above; the caller writes initialised bytes only, as it promises.
        let (_, bytes, _) = unsafe { self.own.align_to_mut::<MaybeUninit<u8>>() };
        &mut bytes[..self.length]
    }

    fn bytes(&self) -> &[MaybeUninit<u8>] {
        match &self.lent {
            Some(lent) => {
                let bytes: &[u8] = &lent.read[..self.length];
                // SAFETY: every byte is one that may be uninitialised.
                unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
            }
            None => {
                // SAFETY: u128 has no padding: all its bytes are initialised.
                let (_, bytes, _) = unsafe { self.own.align_to::<MaybeUninit<u8>>() };
                &bytes[..self.length]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ffi::exercise::device;

    #[test]
    fn bytes_are_lent_until_they_change() {
        let buffer = device().new_buffer(6).unwrap();
        buffer.host_write().copy_from_slice(&[1, 2, 3, 4, 5, 6]);
        let owner = Arc::new(());
        let mut bytes = host_bytes(buffer.host_read(), 5, Arc::clone(&owner));
        assert_eq!(&*bytes, [1, 2, 3, 4, 5]);
        assert_eq!(Arc::strong_count(&owner), 2);

        bytes[0] = 9;
        assert_eq!(&*bytes, [9, 2, 3, 4, 5]);
        assert_eq!(*buffer.host_read(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(Arc::strong_count(&owner), 1);
        buffer.host_write().fill(0);
    }

    #[test]
    fn bytes_keep_the_buffer() {
        let buffer = device().new_buffer(4).unwrap();
        buffer.host_write().copy_from_slice(&[1, 2, 3, 4]);
        let bytes = host_bytes(buffer.host_read(), 4, ());
        drop(buffer);
        assert_eq!(&*bytes, [1, 2, 3, 4]);
        assert_eq!(bytes.try_into_vec::<u8>().map_err(|bytes| bytes.to_vec()), Err(vec![1, 2, 3, 4]));
    }

    #[test]
    #[should_panic(expected = "HostWrite of a buffer while the host reads it")]
    fn lent_bytes_cannot_be_written() {
        let buffer = device().new_buffer(4).unwrap();
        let _bytes = host_bytes(buffer.host_read(), 4, ());
        buffer.host_write().fill(0);
    }
}
