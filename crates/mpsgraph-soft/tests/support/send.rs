//! Sending messages, and what a refused one says.

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use mpsgraph_soft::objc::{Id, Strong};
use mpsgraph_soft::symbols;

use super::begin::{inside, inside_a_rule};

/// `msg!(receiver, "selector:", argument => Type, …; ReturnType)`. A literal selector is registered once.
macro_rules! msg {
    ($receiver:expr, $selector:literal $(, $argument:expr => $type:ty)*; $ret:ty) => {{
        static SELECTOR: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        let selector = *SELECTOR.get_or_init(|| $crate::support::selector($selector).expose_provenance());
        let selector: *const std::ffi::c_void = std::ptr::with_exposed_provenance(selector);
        $crate::support::msg!(@send $receiver, selector $(, $argument => $type)*; $ret)
    }};
    ($receiver:expr, $selector:expr $(, $argument:expr => $type:ty)*; $ret:ty) => {{
        let selector = $crate::support::selector($selector);
        $crate::support::msg!(@send $receiver, selector $(, $argument => $type)*; $ret)
    }};
    (@send $receiver:expr, $selector:ident $(, $argument:expr => $type:ty)*; $ret:ty) => {{
        type Send = unsafe extern "C-unwind" fn(
            mpsgraph_soft::objc::Id,
            *const std::ffi::c_void
            $(, $type)*
        ) -> $ret;
        $crate::support::inside();
        let receiver: mpsgraph_soft::objc::Id = $receiver;
        // SAFETY: objc_msgSend is to be called with the type of the method that answers; the types written in the
        // tests are those of Apple's declarations.
        let send: Send = unsafe { std::mem::transmute(mpsgraph_soft::symbols::objc_msgSend as *const ()) };
        // SAFETY: as above; the receiver is an object of the runtime and the selector was registered.
        unsafe { send(receiver, $selector $(, $argument as $type)*) }
    }};
}
pub(crate) use msg;

/// The selector with this name.
pub fn selector(name: &str) -> *const c_void {
    let name = CString::new(name).expect("a selector without NUL");
    // SAFETY: a C string.
    unsafe { symbols::sel_registerName(name.as_ptr()) }
}

/// The class with this name.
pub fn class(name: &str) -> Id {
    let name = CString::new(name).expect("a name without NUL");
    // SAFETY: a C string.
    let class = unsafe { symbols::objc_getClass(name.as_ptr()) };
    // SAFETY: `Id` is a transparent pointer to an object or class, and this is a class.
    unsafe { std::mem::transmute::<*mut c_void, Id>(class) }
}

/// The owner of a result that a message or function gives to its caller.
pub fn owned(result: Id) -> Strong {
    // SAFETY: the tests pass what `new…`, `init…` and `…Create…` answer, once.
    unsafe { Strong::from_owned(result) }
}

/// A new object of a class: `+new`.
pub fn new(name: &str) -> Strong {
    owned(msg!(class(name), "new"; Id))
}

/// The device.
pub fn device() -> Strong {
    inside();
    // SAFETY: no precondition.
    let device = unsafe { symbols::MTLCreateSystemDefaultDevice() };
    // SAFETY: `Id` is a transparent pointer to an object, and this is one.
    owned(unsafe { std::mem::transmute::<*mut c_void, Id>(device.cast()) })
}

/// An array of all devices.
pub fn all_devices() -> Strong {
    inside();
    // SAFETY: no precondition.
    let devices = unsafe { symbols::MTLCopyAllDevices() };
    // SAFETY: `Id` is a transparent pointer to an object, and this is one.
    owned(unsafe { std::mem::transmute::<*mut c_void, Id>(devices.cast()) })
}

/// Runs `f` in an autorelease pool of its own.
pub fn pooled<R>(f: impl FnOnce() -> R) -> R {
    inside();
    // SAFETY: no precondition; popped below, or by the pool around it when `f` panics.
    let pool = unsafe { symbols::objc_autoreleasePoolPush() };
    let result = f();
    // SAFETY: the token of the push above.
    unsafe { symbols::objc_autoreleasePoolPop(pool) };
    result
}

/// What a message gives, or what the runtime says of its violation.
#[track_caller]
pub fn outcome<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    inside_a_rule();
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("a panic with text")).to_owned(),
    })
}

/// What the runtime says of a violation.
#[track_caller]
pub fn violation<R>(f: impl FnOnce() -> R) -> String {
    outcome(f).err().unwrap_or_else(|| panic!("this had to be refused"))
}

/// Checks that a message is refused by name, for this reason.
#[track_caller]
pub fn refused<R>(selector: &str, reason: &str, f: impl FnOnce() -> R) {
    let text = violation(f);
    assert!(text.contains(selector) && text.contains(reason), "{text}");
}

/// The text of an `NSString`.
pub fn text(string: Id) -> String {
    let characters = msg!(string, "UTF8String"; *const c_char);
    assert!(!characters.is_null());
    // SAFETY: a C string that lives as long as the autoreleased string.
    let text = unsafe { CStr::from_ptr(characters) };
    text.to_str().expect("UTF-8").to_owned()
}

/// Runs tests of this binary in a process with this environment, and checks that they pass, at least so many.
#[track_caller]
pub fn passes_with(variable: &str, value: &str, tests: &[&str], least: usize) {
    let output = Command::new(std::env::current_exe().expect("the path of the tests"))
        .env(variable, value)
        .args(tests)
        .output()
        .expect("the tests run");
    let text = String::from_utf8_lossy(&output.stdout);
    let passed = text.matches(" ... ok").count();
    assert!(output.status.success() && passed >= least, "{variable}={value}: {passed} passed\n{text}");
}
