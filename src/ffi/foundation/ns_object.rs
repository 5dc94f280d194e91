//! `NSObject`: allocation, and the question whether an object answers a selector.

use crate::ffi::objc::{CallSite, ClassType, Declaration, Kind, Object, Parameter, Return, Selector, objc_class, send};

objc_class!(
    /// An object of which nothing more is known.
    NSObject
);

/// What alloc gives back. The caller of the next init owns it, hence no `Retained`.
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

#[deny(dead_code)] // a file that its folder's `headers!` does not list
pub(super) fn declarations() -> Vec<Declaration> {
    vec![
        Declaration::of::<Allocated>("NSObject.h", "NSObject", Kind::Class, "alloc", &[], (10, 0)),
        // Sent by the check of call sites, to classes that answer by forwarding.
        Declaration::of::<bool>(
            "NSObject.h",
            "NSObject",
            Kind::Instance,
            "respondsToSelector:",
            &[Parameter::of::<Selector>()],
            (10, 0),
        ),
    ]
}

#[cfg(test)]
pub(super) fn exercise() {
    use crate::ffi::foundation::ns_number::NSNumber;
    use crate::ffi::objc::{Message, Retained, autoreleasepool, responds};
    use crate::ffi::symbols;

    // SAFETY: a fresh object whose only reference is ours.
    let object = unsafe { Retained::<NSObject>::from_owned(alloc::<NSObject>()) };
    assert!(object.is_some());
    let number = autoreleasepool(|| NSNumber::number(1));
    let answers = |name: &std::ffi::CStr| {
        // SAFETY: a C string that lives for ever.
        let selector = unsafe { symbols::sel_registerName(name.as_ptr()) };
        responds(number.as_object(), Selector(selector))
    };
    assert!(answers(c"integerValue"));
    assert!(!answers(c"countOfQuaternions"));
}
