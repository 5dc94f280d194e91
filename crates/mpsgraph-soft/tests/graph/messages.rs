//! Sending messages from tests, and what every test begins with.

use std::ffi::{CStr, CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpsgraph_soft::objc::{Id, Strong};
use mpsgraph_soft::symbols;

/// `msg!(receiver, "selector:", argument => Type, …; ReturnType)`.
macro_rules! msg {
    ($receiver:expr, $selector:expr $(, $argument:expr => $type:ty)*; $ret:ty) => {{
        type Send = unsafe extern "C-unwind" fn(Id, *const std::ffi::c_void $(, $type)*) -> $ret;
        let receiver: Id = $receiver;
        let selector = $crate::graph::messages::selector($selector);
        // SAFETY: objc_msgSend is to be called with the type of the method that answers; the types written in the
        // tests are those of Apple's declarations.
        let send: Send = unsafe { std::mem::transmute(mpsgraph_soft::symbols::objc_msgSend as *const ()) };
        // SAFETY: as above; the receiver is an object of the runtime and the selector was registered.
        unsafe { send(receiver, selector $(, $argument as $type)*) }
    }};
}
pub(crate) use msg;

pub fn selector(name: &str) -> *const c_void {
    let name = CString::new(name).expect("a selector without NUL");
    // SAFETY: a C string.
    unsafe { symbols::sel_registerName(name.as_ptr()) }
}

pub fn class(name: &str) -> Id {
    let name = CString::new(name).expect("a name without NUL");
    // SAFETY: a C string.
    let class = unsafe { symbols::objc_getClass(name.as_ptr()) };
    // SAFETY: `Id` is a transparent pointer to an object or class, and this is a class.
    unsafe { std::mem::transmute::<*mut c_void, Id>(class) }
}

/// The owner of a result that a message or function gives to its caller.
pub fn owned(result: Id) -> Strong {
    // SAFETY: the tests pass what `new`, `init` and `…Create…` answer, once.
    unsafe { Strong::from_owned(result) }
}

/// A new object of a class: `+new`.
pub fn new(name: &str) -> Strong {
    owned(msg!(class(name), "new"; Id))
}

static SERIAL: Mutex<()> = Mutex::new(());

/// The surroundings of a test: alone, in an autorelease pool.
pub struct Alone {
    pool: *mut c_void,
    _serial: MutexGuard<'static, ()>,
}

pub fn alone() -> Alone {
    let serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: no precondition; popped in `drop` on the same thread (raw pointers keep this from being sent).
    let pool = unsafe { symbols::objc_autoreleasePoolPush() };
    Alone { pool, _serial: serial }
}

impl Drop for Alone {
    fn drop(&mut self) {
        // SAFETY: the token of the push in `alone`.
        unsafe { symbols::objc_autoreleasePoolPop(self.pool) }
    }
}

/// Runs `f` in a pool of its own.
pub fn pooled<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: no precondition; popped below, or by the pool around it when `f` panics.
    let pool = unsafe { symbols::objc_autoreleasePoolPush() };
    let result = f();
    // SAFETY: the token of the push above.
    unsafe { symbols::objc_autoreleasePoolPop(pool) };
    result
}

/// What a violation says.
#[track_caller]
pub fn violation<R>(f: impl FnOnce() -> R) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("this had to be refused") };
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("a panic with text")).to_owned(),
    }
}

/// Checks that a message is refused by name, for this reason.
#[track_caller]
pub fn refused<R>(selector: &str, reason: &str, f: impl FnOnce() -> R) {
    let text = violation(f);
    assert!(text.contains(selector) && text.contains(reason), "{text}");
}

pub fn array(objects: &[Id]) -> Id {
    msg!(class("NSArray"), "arrayWithObjects:count:", objects.as_ptr() => *const Id, objects.len() => usize; Id)
}

pub fn numbers(numbers: &[i64]) -> Id {
    let number = |&number: &i64| msg!(class("NSNumber"), "numberWithLongLong:", number => i64; Id);
    array(&numbers.iter().map(number).collect::<Vec<_>>())
}

pub fn dictionary(entries: &[(Id, Id)]) -> Id {
    let (keys, values): (Vec<Id>, Vec<Id>) = entries.iter().copied().unzip();
    msg!(
        class("NSDictionary"), "dictionaryWithObjects:forKeys:count:",
        values.as_ptr() => *const Id, keys.as_ptr() => *const Id, keys.len() => usize; Id
    )
}

pub fn objects(array: Id) -> Vec<Id> {
    let count = msg!(array, "count"; usize);
    (0..count).map(|at| msg!(array, "objectAtIndex:", at => usize; Id)).collect()
}

/// The extents of something that has a shape.
pub fn shape(object: Id) -> Vec<usize> {
    let extents = objects(msg!(object, "shape"; Id));
    extents.into_iter().map(|number| msg!(number, "unsignedIntegerValue"; usize)).collect()
}

/// The text of an `NSString`.
pub fn text(string: Id) -> String {
    let characters = msg!(string, "UTF8String"; *const std::ffi::c_char);
    assert!(!characters.is_null());
    // SAFETY: a C string that lives as long as the autorelease pool.
    let text = unsafe { CStr::from_ptr(characters) };
    text.to_str().expect("UTF-8").to_owned()
}

pub fn data_type(object: Id) -> u32 {
    msg!(object, "dataType"; u32)
}

pub fn device() -> Strong {
    // SAFETY: no precondition.
    let device = unsafe { symbols::MTLCreateSystemDefaultDevice() };
    // SAFETY: `Id` is a transparent pointer to an object, and this is one.
    owned(unsafe { std::mem::transmute::<*mut c_void, Id>(device.cast()) })
}

pub fn buffer(bytes: &[u8]) -> Strong {
    let buffer = msg!(
        device().id(), "newBufferWithBytes:length:options:",
        bytes.as_ptr().cast() => *const c_void, bytes.len() => usize, 0 => usize; Id
    );
    assert!(!buffer.is_nil());
    owned(buffer)
}

/// A copy of the first bytes of a buffer.
pub fn contents(buffer: Id, length: usize) -> Vec<u8> {
    assert!(length <= msg!(buffer, "length"; usize));
    let start = msg!(buffer, "contents"; *mut c_void);
    // SAFETY: the buffer is at least as long, and `-contents` is refused while something writes it.
    unsafe { std::slice::from_raw_parts(start.cast(), length) }.to_vec()
}
