//! The C functions behind everything in `ffi`, and the only place that knows which implementation answers: libobjc and
//! Metal on Apple's systems, `mpsgraph-soft` (`cfg(soft_runtime)`, see `build.rs`) elsewhere.
//!
//! Objects, classes and methods are `*mut c_void` here, selectors and blocks `*const c_void`. All functions are
//! `"C-unwind"`: an Objective-C exception, or a panic of the software runtime, may pass through. References:
//! <https://developer.apple.com/documentation/objectivec/objective-c-runtime> and clang's "Automatic Reference
//! Counting" for the functions that compilers call.

use std::ffi::{c_char, c_void};

/// Gets an exception when it is raised, and gives back the one to raise in its place.
pub(crate) type ExceptionPreprocessor = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// Declares each function as an extern of Apple's runtime, or takes its namesake of the software runtime and checks
/// that it has the same type.
macro_rules! functions {
    ($(fn $name:ident($($arg:ident : $ty:ty),*) $(-> $ret:ty)?;)*) => {
        #[cfg(not(soft_runtime))]
        unsafe extern "C-unwind" {
            $(pub(crate) fn $name($($arg: $ty),*) $(-> $ret)?;)*
        }

        #[cfg(soft_runtime)]
        pub(crate) use mpsgraph_soft::symbols::{$($name),*};

        $(const _: unsafe extern "C-unwind" fn($($ty),*) $(-> $ret)? = $name;)*

        /// Names of the functions above.
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

functions! {
    fn objc_getClass(name: *const c_char) -> *mut c_void;
    fn sel_registerName(name: *const c_char) -> *const c_void;
    fn object_getClass(object: *mut c_void) -> *mut c_void;
    fn class_getName(class: *mut c_void) -> *const c_char;
    fn class_getInstanceMethod(class: *mut c_void, selector: *const c_void) -> *mut c_void;
    fn method_getTypeEncoding(method: *mut c_void) -> *const c_char;
    fn objc_retain(object: *mut c_void) -> *mut c_void;
    fn objc_release(object: *mut c_void);
    fn objc_retainAutoreleasedReturnValue(object: *mut c_void) -> *mut c_void;
    fn objc_autoreleasePoolPush() -> *mut c_void;
    fn objc_autoreleasePoolPop(pool: *mut c_void);
    fn objc_setExceptionPreprocessor(function: Option<ExceptionPreprocessor>) -> Option<ExceptionPreprocessor>;
    fn _Block_copy(block: *const c_void) -> *mut c_void;
    fn _Block_release(block: *const c_void);
    fn MTLCreateSystemDefaultDevice() -> *mut c_void;
    fn MTLCopyAllDevices() -> *mut c_void;
}

#[cfg(not(soft_runtime))]
unsafe extern "C" {
    /// What blocks on the stack begin with the address of. Only its address is used.
    pub(crate) static _NSConcreteStackBlock: [*const c_void; 32];
}
#[cfg(soft_runtime)]
pub(crate) use mpsgraph_soft::symbols::_NSConcreteStackBlock;

#[cfg(not(soft_runtime))]
unsafe extern "C-unwind" {
    // Declared without a type, to be cast to that of the method that will run.
    fn objc_msgSend();
    #[cfg(target_arch = "x86_64")]
    fn objc_msgSend_stret();
}

#[cfg(soft_runtime)]
use mpsgraph_soft::symbols::objc_msgSend;
#[cfg(all(soft_runtime, target_arch = "x86_64"))]
use mpsgraph_soft::symbols::objc_msgSend_stret;

/// The entry point for messages whose result has `result_size` bytes, to be cast to the method's own type.
///
/// On x86-64 a result that registers cannot hold is written where a hidden first argument says, which moves receiver
/// and selector one register on; AArch64 has a register of its own for that address.
#[inline(always)]
pub(crate) fn message_send(result_size: usize) -> *const () {
    #[cfg(target_arch = "x86_64")]
    if in_memory(result_size) {
        return objc_msgSend_stret as *const ();
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = result_size;
    objc_msgSend as *const ()
}

/// Whether a result of this size is too large for registers: System V's calling convention returns up to 16 bytes in
/// them, Microsoft's (the software runtime on Windows) 1, 2, 4 and 8.
#[cfg(target_arch = "x86_64")]
const fn in_memory(result_size: usize) -> bool {
    if cfg!(windows) { !matches!(result_size, 0 | 1 | 2 | 4 | 8) } else { result_size > 16 }
}

/// The C symbols this crate uses, for the contract test.
pub fn names() -> Vec<&'static str> {
    let mut names = vec!["objc_msgSend", "_NSConcreteStackBlock"];
    if cfg!(target_arch = "x86_64") {
        names.push("objc_msgSend_stret");
    }
    names.extend(NAMES);
    names
}
