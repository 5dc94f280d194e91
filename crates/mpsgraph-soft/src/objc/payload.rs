//! The Rust value inside an object: a box of any type, checked on every access.

use std::any::{TypeId, type_name};
use std::ptr;

/// The beginning of every payload, whatever its type.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Payload {
    type_id: TypeId,
    type_name: &'static str,
    drop: unsafe fn(*mut Payload),
}

/// A payload with its value. `header` comes first, so that the address of the whole is the address of the header.
#[repr(C)]
struct Typed<T> {
    header: Payload,
    value: T,
}

impl Payload {
    /// A box that holds the value. [`Payload::drop_boxed`] frees it.
    pub(crate) fn boxed<T: Send + Sync + 'static>(value: T) -> *mut Payload {
        let header = Self { type_id: TypeId::of::<T>(), type_name: type_name::<T>(), drop: drop_typed::<T> };
        Box::into_raw(Box::new(Typed { header, value })).cast()
    }

    /// The Rust type of the value.
    pub(crate) fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Drops the value and frees the box.
    ///
    /// # Safety
    /// `payload` comes from [`Payload::boxed`], nothing borrows its value, and nothing uses it afterwards.
    pub(crate) unsafe fn drop_boxed(payload: *mut Payload) {
        // SAFETY: it is a live box, and `drop` is the function for its type.
        unsafe { ((*payload).drop)(payload) }
    }

    /// The value; `None` when it has another type.
    ///
    /// # Safety
    /// `payload` comes from [`Payload::boxed`] and is not dropped during `'a`.
    pub(crate) unsafe fn value<'a, T: 'static>(payload: *mut Payload) -> Option<&'a T> {
        // SAFETY: a live box, so its header can be read.
        let type_id = unsafe { (*payload).type_id };
        // SAFETY: the types are the same, so it is the box of a `Typed<T>`; it lives during `'a`.
        (type_id == TypeId::of::<T>()).then(|| unsafe { &*ptr::addr_of!((*payload.cast::<Typed<T>>()).value) })
    }
}

/// # Safety
/// As for [`Payload::drop_boxed`]; `T` is the type of the value.
unsafe fn drop_typed<T>(payload: *mut Payload) {
    // SAFETY: by this function's contract it is the box that `boxed` turned into a pointer.
    drop(unsafe { Box::from_raw(payload.cast::<Typed<T>>()) });
}
