//! Classes and protocols as opaque Rust types, and the look-up of class objects by name.

use std::ffi::CStr;

use super::Object;
use crate::ffi::symbols;

/// Which kind of method a declaration names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `-method`, sent to an object.
    Instance,
    /// `+method`, sent to a class.
    Class,
}

impl Kind {
    /// The sign Objective-C writes before the method's name.
    pub fn sign(self) -> char {
        match self {
            Kind::Instance => '-',
            Kind::Class => '+',
        }
    }
}

/// An Objective-C class or protocol whose objects Rust refers to as `&Self`.
///
/// # Safety
/// `Self` has size 0 and every `&Self` comes from a pointer to a live object that answers what `NAME` declares.
pub(crate) unsafe trait Message {
    /// Apple's name of the class or protocol.
    const NAME: &'static str;

    /// The receiver pointer of a message to `self`.
    fn as_object(&self) -> *mut Object
    where
        Self: Sized,
    {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

/// A [`Message`] type that is a class: the class object can be found by name.
pub(crate) trait ClassType: Message {
    fn class() -> *mut Object;
}

/// The class object called `name`.
///
/// # Panics
/// If the class is not there: on a supported system that means its framework was not linked.
#[cold]
pub(crate) fn find_class(name: &'static CStr) -> *mut Object {
    // SAFETY: name is a C string that lives for ever.
    let class = unsafe { symbols::objc_getClass(name.as_ptr()) };
    assert!(!class.is_null(), "the Objective-C class {name:?} is missing: its framework is not linked or too old");
    class.cast()
}

/// Declares an opaque type for objects that answer an Objective-C protocol: `objc_protocol!(/** … */ MTLBuffer);`
macro_rules! objc_protocol {
    ($(#[$attr:meta])* $name:ident) => {
        $(#[$attr])*
        // The cell keeps rustc from telling LLVM that nothing writes through a `&Self` (retain counts do); the
        // pointer keeps the type off other threads unless its file says otherwise.
        #[repr(C)]
        pub(crate) struct $name {
            _opaque: std::cell::UnsafeCell<[u8; 0]>,
            _local: std::marker::PhantomData<*mut ()>,
        }

        // SAFETY: a zero-sized type without a constructor; references are only made by `Retained`, from objects
        // whose declared type is this one.
        unsafe impl $crate::ffi::objc::Message for $name {
            const NAME: &'static str = stringify!($name);
        }
    };
}
pub(crate) use objc_protocol;

/// Declares an opaque type for the objects of an Objective-C class: `objc_class!(/** … */ NSArray);`
macro_rules! objc_class {
    ($(#[$attr:meta])* $name:ident) => {
        $crate::ffi::objc::objc_protocol!($(#[$attr])* $name);

        impl $crate::ffi::objc::ClassType for $name {
            fn class() -> *mut $crate::ffi::objc::Object {
                use std::sync::OnceLock;
                // An address: class objects are never freed and belong to every thread.
                static CLASS: OnceLock<usize> = OnceLock::new();
                let address = CLASS.get_or_init(|| {
                    const NAME: &std::ffi::CStr =
                        match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                            Ok(name) => name,
                            Err(_) => panic!("an identifier has no NUL"),
                        };
                    $crate::ffi::objc::find_class(NAME).expose_provenance()
                });
                std::ptr::with_exposed_provenance_mut(*address)
            }
        }
    };
}
pub(crate) use objc_class;
