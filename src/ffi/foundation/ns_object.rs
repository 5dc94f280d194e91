//! `NSObject`: allocation, and the question whether an object answers a selector.

use crate::ffi::objc::{CallSite, ClassType, Declaration, Kind, Object, Return, objc_class, send};

objc_class!(
    /// An object of which nothing more is known.
    NSObject
);

/// What alloc gives back: owned by whoever sends init next, hence no `Retained`.
struct Allocated(*mut Object);

impl Return for Allocated {
    type Raw = *mut Object;

    unsafe fn receive(raw: *mut Object, _: &'static CallSite) -> Self {
        Self(raw)
    }
}

/// A fresh instance of `T`, to be taken over by an `init…` message.
pub(in crate::ffi) fn alloc<T: ClassType>() -> *mut Object {
    static SITE: CallSite = CallSite::new("NSObject", Kind::Class, "alloc\0");
    // SAFETY: every class inherits alloc from NSObject, and class objects live for ever.
    let Allocated(object) = unsafe { send(&SITE, T::class(), ()) };
    assert!(!object.is_null(), "+[{} alloc] returned nil: out of memory", T::NAME);
    object
}

pub(super) fn declarations() -> Vec<Declaration> {
    vec![
        Declaration::new("NSObject.h", "NSObject", Kind::Class, "alloc", "@", vec![], (10, 0)),
        // Sent by the check of call sites, to classes that answer by forwarding.
        Declaration::new("NSObject.h", "NSObject", Kind::Instance, "respondsToSelector:", "B", vec![":"], (10, 0)),
    ]
}
