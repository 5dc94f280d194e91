//! `Retained<T>`: one reference count of an Objective-C object, as an owner in Rust's sense.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::ptr::NonNull;

use super::{Message, Object};
use crate::ffi::symbols;

/// Owns one reference (+1) to an object; `Clone` retains, `Drop` releases, `&T` borrows.
#[repr(transparent)]
pub(crate) struct Retained<T: Message>(NonNull<T>);

// SAFETY: reference counts are atomic. Sharing the object itself is what `T: Send + Sync` promises, in T's file.
unsafe impl<T: Message + Send + Sync> Send for Retained<T> {}
// SAFETY: as above.
unsafe impl<T: Message + Send + Sync> Sync for Retained<T> {}

impl<T: Message> Retained<T> {
    /// Takes over the reference that the caller owns; `None` for nil.
    ///
    /// # Safety
    /// `object` is nil or a live object of type `T`, and one of its references belongs to the caller.
    #[inline]
    pub(in crate::ffi) unsafe fn from_owned(object: *mut Object) -> Option<Self> {
        NonNull::new(object.cast()).map(Self)
    }

    /// Retains what a message has just returned at +0; `None` for nil.
    ///
    /// # Safety
    /// `object` is nil or a live object of type `T`.
    #[inline]
    pub(super) unsafe fn from_autoreleased(object: *mut Object) -> Option<Self> {
        // SAFETY: the caller passes nil or a live object.
        let object = unsafe { symbols::objc_retainAutoreleasedReturnValue(object.cast()) };
        // SAFETY: the reference that was just made is ours.
        unsafe { Self::from_owned(object.cast()) }
    }

    /// Retains an object that somebody else keeps alive.
    pub(crate) fn of(object: &T) -> Self {
        // SAFETY: a `&T` is a live object.
        unsafe { symbols::objc_retain(object.as_object().cast()) };
        // The reference that was just made is ours.
        Self(NonNull::from(object))
    }

    /// The same reference, as one to a `U`.
    ///
    /// # Safety
    /// The object is a `U`.
    pub(in crate::ffi) unsafe fn cast_object<U: Message>(self) -> Retained<U> {
        let object = Retained(self.0.cast());
        // Its reference now belongs to `object`.
        std::mem::forget(self);
        object
    }

    pub(super) fn as_pointer(&self) -> *mut Object {
        self.0.as_ptr().cast()
    }
}

impl<T: Message> Deref for Retained<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the object is alive while self owns a reference to it, and T is zero-sized.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Message> Clone for Retained<T> {
    fn clone(&self) -> Self {
        Self::of(self)
    }
}

impl<T: Message> Drop for Retained<T> {
    fn drop(&mut self) {
        // SAFETY: self owns the reference that is given up here.
        unsafe { symbols::objc_release(self.as_pointer().cast()) }
    }
}

/// Identity: two references are equal if they are to the same object.
impl<T: Message> PartialEq for Retained<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Message> Eq for Retained<T> {}

impl<T: Message> Hash for Retained<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<T: Message> fmt::Debug for Retained<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} {:p}>", T::NAME, self.0)
    }
}
