//! A buffer's contents as Burn's `Bytes`, without a copy.
//!
//! Whoever changes the bytes gets a copy of their own first: the buffer may be a tensor's value still.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use burn_std::{AllocationController, AllocationProperty, Bytes};

use super::Buffer;

/// The first `length` bytes of `buffer`. The caller promises that nobody writes them before `keep` is dropped, which
/// happens when the last of the bytes is gone.
///
/// # Panics
/// If the buffer is shorter.
pub(crate) fn host_bytes(buffer: Buffer, length: usize, keep: impl Send + Sync + 'static) -> Bytes {
    let start = buffer.with_bytes(|bytes| NonNull::from(&bytes[..length]).cast());
    let lent = Some(Lent { start, _owners: (buffer, keep) });
    let controller = HostBytes { lent, own: Vec::new(), length };
    // SAFETY: all bytes of a buffer count as initialised, and there are `length` of them.
    unsafe { Bytes::from_controller(Box::new(controller), length) }
}

/// Bytes in a buffer, and what has to live as long as they are looked at.
struct Lent<K> {
    start: NonNull<u8>,
    _owners: (Buffer, K),
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

    unsafe fn memory_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        if self.lent.is_some() {
            let mut own = vec![0_u128; self.length.div_ceil(size_of::<u128>())];
            // SAFETY: MaybeUninit has no drop, and u128's bytes may be overwritten by any.
            let (_, bytes, _) = unsafe { own.align_to_mut::<MaybeUninit<u8>>() };
            bytes[..self.length].copy_from_slice(self.memory());
            self.own = own;
            self.lent = None;
        }
        // SAFETY: as above; the caller writes initialised bytes only.
        let (_, bytes, _) = unsafe { self.own.align_to_mut::<MaybeUninit<u8>>() };
        &mut bytes[..self.length]
    }

    fn memory(&self) -> &[MaybeUninit<u8>] {
        match &self.lent {
            // SAFETY: shared storage stays where it is while the buffer lives, has at least this length (checked when
            // it was lent), and by the contract of host_bytes nobody writes it.
            Some(lent) => unsafe { std::slice::from_raw_parts(lent.start.as_ptr().cast(), self.length) },
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
        buffer.write(0, &[1, 2, 3, 4, 5, 6]);
        let owner = Arc::new(());
        let mut bytes = host_bytes(buffer.clone(), 5, Arc::clone(&owner));
        assert_eq!(&*bytes, [1, 2, 3, 4, 5]);
        assert_eq!(Arc::strong_count(&owner), 2);

        bytes[0] = 9;
        assert_eq!(&*bytes, [9, 2, 3, 4, 5]);
        assert_eq!(buffer.with_bytes(|own| own.to_vec()), [1, 2, 3, 4, 5, 6]);
        assert_eq!(Arc::strong_count(&owner), 1);
    }

    #[test]
    fn bytes_keep_the_buffer() {
        let buffer = device().new_buffer(4).unwrap();
        buffer.write(0, &[1, 2, 3, 4]);
        let bytes = host_bytes(buffer, 4, ());
        assert_eq!(&*bytes, [1, 2, 3, 4]);
        assert_eq!(bytes.try_into_vec::<u8>().map_err(|bytes| bytes.to_vec()), Err(vec![1, 2, 3, 4]));
    }
}
