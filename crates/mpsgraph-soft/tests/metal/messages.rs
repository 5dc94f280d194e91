//! Sending messages from tests, and what every test begins with.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

use mpsgraph_soft::kernels::span::{Span, SpanMut};
use mpsgraph_soft::metal::mtl_buffer::Buffer;
use mpsgraph_soft::mps::mps_command_buffer;
use mpsgraph_soft::objc::{Id, Strong};
use mpsgraph_soft::{metal::fault, symbols};

/// `msg!(receiver, "selector:", argument => Type, …; ReturnType)`.
macro_rules! msg {
    ($receiver:expr, $selector:literal $(, $argument:expr => $type:ty)*; $ret:ty) => {{
        type Send = unsafe extern "C-unwind" fn(Id, *const std::ffi::c_void $(, $type)*) -> $ret;
        static SELECTOR: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        let receiver = $receiver;
        let selector = *SELECTOR.get_or_init(|| selector(concat!($selector, "\0")));
        // SAFETY: objc_msgSend is to be called with the type of the method that answers; the types written in the
        // tests are those of Apple's declarations.
        let send: Send = unsafe { std::mem::transmute(mpsgraph_soft::symbols::objc_msgSend as *const ()) };
        // SAFETY: as above; the receiver is an object of the runtime and the selector was registered.
        unsafe { send(receiver, std::ptr::with_exposed_provenance(selector) $(, $argument as $type)*) }
    }};
}
pub(crate) use msg;

/// The exposed address of a selector, whose name must end with a NUL.
pub fn selector(name: &'static str) -> usize {
    assert!(name.ends_with('\0'));
    // SAFETY: as checked.
    unsafe { symbols::sel_registerName(name.as_ptr().cast()) }.expose_provenance()
}

static SERIAL: Mutex<()> = Mutex::new(());

/// The surroundings of a test: alone, in an autorelease pool, without faults left over.
pub struct Alone {
    pool: *mut std::ffi::c_void,
    _serial: MutexGuard<'static, ()>,
}

pub fn alone() -> Alone {
    let serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    fault::clear();
    fault::commit_inside_encode(0);
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
pub fn violation<R>(f: impl FnOnce() -> R) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("this had to be refused") };
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("a panic with text")).to_owned(),
    }
}

/// The owner of a result that a message or function gives to its caller.
pub fn owned(result: Id) -> Strong {
    // SAFETY: the tests pass what `new…`, `init…` and `…Create…` answer, once.
    unsafe { Strong::from_owned(result) }
}

pub fn device() -> Strong {
    // SAFETY: no precondition.
    let device = unsafe { symbols::MTLCreateSystemDefaultDevice() };
    // SAFETY: `Id` is a transparent pointer to an object, and this is one.
    owned(unsafe { std::mem::transmute::<*mut std::ffi::c_void, Id>(device.cast()) })
}

pub fn queue() -> Strong {
    owned(msg!(device().id(), "newCommandQueue"; Id))
}

pub fn buffer(length: usize) -> Strong {
    let buffer = msg!(device().id(), "newBufferWithLength:options:", length => usize, 0 => usize; Id);
    assert!(!buffer.is_nil());
    owned(buffer)
}

/// The bytes as elements; the caller sees to it that nobody else is at them and that the buffer lives on.
pub fn contents<T>(buffer: &Strong) -> &'static mut [T] {
    let length = msg!(buffer.id(), "length"; usize);
    let start = msg!(buffer.id(), "contents"; *mut std::ffi::c_void);
    // SAFETY: the buffer is `length` bytes, page aligned and zeroed, and the tests let only one user at it.
    unsafe { std::slice::from_raw_parts_mut(start.cast(), length / size_of::<T>()) }
}

/// The bytes that work encoded with this buffer in `reads` or `writes` reads.
pub fn span(buffer: &Strong) -> Span {
    // SAFETY: the tests use it in such work only.
    unsafe { buffer.state::<Buffer>().span() }
}

/// The bytes that work encoded with this buffer in `writes` writes.
pub fn span_mut(buffer: &Strong) -> SpanMut {
    // SAFETY: the tests use it in such work only.
    unsafe { buffer.state::<Buffer>().span_mut() }
}

/// A fresh `MPSCommandBuffer` of `queue`.
pub fn mps(queue: &Strong) -> Strong {
    // SAFETY: a C string.
    let class = unsafe { symbols::objc_getClass(c"MPSCommandBuffer".as_ptr()) };
    // SAFETY: `Id` is a transparent pointer to an object or class, and this is a class.
    let class = unsafe { std::mem::transmute::<*mut std::ffi::c_void, Id>(class) };
    Strong::retain(msg!(class, "commandBufferFromCommandQueue:", queue.id() => Id; Id))
}

pub fn encode(buffer: &Strong, work: impl FnOnce() + Send + 'static) {
    mps_command_buffer::encode(buffer.id(), Box::new(work), vec![], vec![]);
}

/// The text of an NSString.
pub fn text(string: Id) -> String {
    let bytes = msg!(string, "UTF8String"; *const std::ffi::c_char);
    // SAFETY: UTF8String ends with a NUL and lives as long as the autoreleased string.
    unsafe { std::ffi::CStr::from_ptr(bytes) }.to_str().expect("UTF-8").to_owned()
}

/// Work that reports that it runs, and then waits to be let go.
pub fn held() -> (impl FnOnce() + Send + 'static, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (running, runs) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let work = move || {
        running.send(()).unwrap();
        gone.recv().unwrap();
    };
    (work, runs, go)
}

pub fn commit(buffer: &Strong) {
    msg!(buffer.id(), "commit"; ());
}

pub fn wait(buffer: &Strong) {
    msg!(buffer.id(), "waitUntilCompleted"; ());
}

/// `MTLCommandBufferStatus`.
pub const COMMITTED: usize = 2;
pub const SCHEDULED: usize = 3;
pub const COMPLETED: usize = 4;
pub const ERROR: usize = 5;

pub fn status(buffer: &Strong) -> usize {
    msg!(buffer.id(), "status"; usize)
}

/// Runs an ignored test of this binary by itself, in a process with this environment.
#[track_caller]
pub fn passes_with(variable: &str, value: &str, test: &str) {
    let output = Command::new(std::env::current_exe().expect("the path of the tests"))
        .env(variable, value)
        .args(["--ignored", "--exact", test])
        .output()
        .expect("the tests run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{variable}={value}: {text}");
}
