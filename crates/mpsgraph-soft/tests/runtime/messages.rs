//! How the tests speak to the runtime.

use std::ffi::{CStr, CString, c_void};

use mpsgraph_soft::foundation::ns_object;
use mpsgraph_soft::objc::{ClassDef, ClassKind, register};
use mpsgraph_soft::symbols;

use crate::support::inside;

/// `id` and `Class`.
pub type Object = *mut c_void;
/// `SEL`.
pub type Selector = *const c_void;

/// The entry point for a result of this size, as a function of type `F`. For `send!` alone.
pub fn entry<F: Copy>(result_size: usize) -> F {
    let stret = if cfg!(windows) { !matches!(result_size, 0 | 1 | 2 | 4 | 8) } else { result_size > 16 };
    #[cfg(target_arch = "x86_64")]
    let entry = if stret { symbols::objc_msgSend_stret as *const () } else { symbols::objc_msgSend as *const () };
    #[cfg(not(target_arch = "x86_64"))]
    let entry = {
        let _ = stret;
        symbols::objc_msgSend as *const ()
    };
    assert_eq!(size_of::<F>(), size_of_val(&entry));
    // SAFETY: `send!` asks for a function pointer type, of the size just checked; that it is the method's own type is
    // what each test takes care of.
    unsafe { std::mem::transmute_copy(&entry) }
}

/// Sends a message: `send!(Ret; receiver, "sel:with:", value => Type, value => Type)`.
macro_rules! send {
    ($ret:ty; $receiver:expr, $selector:literal $(, $value:expr => $ty:ty)*) => {{
        let send: extern "C-unwind" fn(
            $crate::runtime::messages::Object,
            $crate::runtime::messages::Selector
            $(, $ty)*
        ) -> $ret = $crate::runtime::messages::entry(size_of::<$ret>());
        send($receiver, $crate::runtime::messages::selector($selector) $(, $value)*)
    }};
}
pub(crate) use send;

/// The selector with this name.
pub fn selector(name: &str) -> Selector {
    inside();
    let name = CString::new(name).unwrap();
    // SAFETY: a C string.
    unsafe { symbols::sel_registerName(name.as_ptr()) }
}

/// The class with this name; nil when the runtime does not offer it.
pub fn class(name: &str) -> Object {
    let name = CString::new(name).unwrap();
    // SAFETY: a C string.
    unsafe { symbols::objc_getClass(name.as_ptr()) }
}

/// A subclass of NSObject without methods of its own.
pub const fn plain_class(name: &'static str) -> ClassDef {
    ClassDef {
        name,
        superclass: Some(&ns_object::CLASS),
        kind: ClassKind::Class,
        min_macos: (11, 0),
        instance: &[],
        class: &[],
    }
}

/// Registers a test class and returns it.
pub fn test_class(def: &'static ClassDef) -> Object {
    register(def).as_ptr()
}

/// `[[class alloc] init]`, owned.
pub fn new(class: Object) -> Object {
    send!(Object; send!(Object; class, "alloc"), "init")
}

/// Releases one reference.
pub fn release(object: Object) {
    // SAFETY: an object of the runtime, possibly dead; the runtime checks.
    unsafe { symbols::objc_release(object) }
}

/// Adds one reference.
pub fn retain(object: Object) -> Object {
    // SAFETY: an object of the runtime, possibly dead; the runtime checks.
    unsafe { symbols::objc_retain(object) }
}

/// The text of an NSString.
pub fn text(string: Object) -> String {
    let text = send!(*const std::ffi::c_char; string, "UTF8String");
    // SAFETY: the string is alive and its text ends with a NUL.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}
