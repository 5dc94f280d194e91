//! [`Strong`]: an owned reference to an object, and the way to its payload.

use std::mem::ManuallyDrop;

use super::{Id, This};

/// Owns one reference (+1) to an object, or holds nil. Cloning retains, dropping releases.
///
/// The payload is borrowed from its owner:
/// ```
/// # use mpsgraph_soft::{foundation::ns_object, objc::new_object};
/// let object = new_object(&ns_object::CLASS, vec![7_u64; 1000]);
/// let held: &Vec<u64> = object.state();
/// assert_eq!(held.first(), Some(&7));
/// drop(object);
/// ```
/// and cannot be kept longer:
/// ```compile_fail,E0505
/// # use mpsgraph_soft::{foundation::ns_object, objc::new_object};
/// let object = new_object(&ns_object::CLASS, vec![7_u64; 1000]);
/// let held: &Vec<u64> = object.state();
/// drop(object);
/// assert_eq!(held.first(), Some(&7));
/// ```
/// A reference that something else counts can be taken over by an `unsafe` block only:
/// ```
/// # use mpsgraph_soft::{foundation::ns_object, objc::{Strong, new_object}};
/// let owned = new_object(&ns_object::CLASS, ()).into_owned();
/// // SAFETY: `into_owned` gave us the reference.
/// let object = unsafe { Strong::from_owned(owned) };
/// assert_eq!(object.id().retain_count(), 1);
/// ```
/// ```compile_fail,E0133
/// # use mpsgraph_soft::{foundation::ns_object, objc::{Strong, new_object}};
/// let owned = new_object(&ns_object::CLASS, ()).into_owned();
/// let object = Strong::from_owned(owned);
/// assert_eq!(object.id().retain_count(), 1);
/// ```
#[repr(transparent)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Strong(Id);

/// Nil.
impl Default for Strong {
    fn default() -> Self {
        Self::NIL
    }
}

impl Strong {
    /// No object.
    pub const NIL: Self = Self(Id::NIL);

    /// Retains the object; panics, naming the class, when it is dead.
    #[track_caller]
    pub fn retain(id: Id) -> Self {
        Self(id.retain())
    }

    /// Takes over a reference.
    ///
    /// # Safety
    /// The caller owns the reference, for example as the result of a message whose selector begins with `new`, and
    /// does not give it up elsewhere.
    pub unsafe fn from_owned(id: Id) -> Self {
        Self(id)
    }

    /// The object's address, which something else must keep alive once this owner is gone.
    pub fn id(&self) -> Id {
        self.0
    }

    /// Gives the reference to the caller; a caller who drops the result leaks the object.
    pub fn into_owned(self) -> Id {
        ManuallyDrop::new(self).0
    }

    /// Gives the reference to the innermost autorelease pool.
    #[track_caller]
    pub fn autorelease(self) -> Id {
        // SAFETY: `into_owned` gives us the reference.
        unsafe { self.into_owned().autorelease() }
    }

    /// The object as a receiver, for a method that is called as a function.
    pub(crate) fn as_this(&self) -> This<'_> {
        This::borrowing(self)
    }

    /// The payload. Panics, naming the class, when this is nil or holds another type.
    #[track_caller]
    pub fn state<T: 'static>(&self) -> &T {
        // SAFETY: this owns a reference for as long as it is borrowed.
        unsafe { self.0.borrow_state() }
    }

    /// The payload; `None` when this is nil or holds another type.
    #[track_caller]
    pub fn try_state<T: 'static>(&self) -> Option<&T> {
        // SAFETY: as above.
        unsafe { self.0.try_borrow_state() }
    }

    /// Gives an allocated object its payload; used once, by an `init…` method.
    #[track_caller]
    pub fn set_state<T: Send + Sync + 'static>(&self, state: T) {
        let header = self.0.header().expect("an object to initialise, not nil");
        if !header.set_payload(state) {
            panic!("{} {:p} was initialised before", self.0.class_name(), self.0.as_ptr());
        }
    }
}

impl Clone for Strong {
    fn clone(&self) -> Self {
        if let Some(header) = self.0.header() {
            header.retain_again();
        }
        Self(self.0)
    }
}

impl Drop for Strong {
    fn drop(&mut self) {
        // SAFETY: this owns a reference, and is gone afterwards.
        unsafe { self.0.release() };
    }
}
