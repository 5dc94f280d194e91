//! How the tests of Metal begin, and Metal's objects as they need them.

use std::sync::mpsc;

use mpsgraph_soft::kernels::span::{Span, SpanMut};
use mpsgraph_soft::metal::fault;
use mpsgraph_soft::metal::mtl_buffer::Buffer;
use mpsgraph_soft::mps::mps_command_buffer;
use mpsgraph_soft::objc::{Id, Strong};

pub(crate) use crate::support::msg;
use crate::support::{self, Source, class};
pub use crate::support::{all_devices, device, owned, passes_with, pooled, text, violation};

/// The surroundings of a test of Metal: encodes commit inside only where the test orders it.
#[must_use = "as `support::Test`"]
pub struct Test {
    commits_inside: usize,
    _test: support::Test,
}

fn with_own_commits_only(test: support::Test) -> Test {
    Test { commits_inside: fault::commit_inside_encode(0), _test: test }
}

impl Drop for Test {
    fn drop(&mut self) {
        fault::commit_inside_encode(self.commits_inside);
    }
}

/// [`support::rule`] for Metal.
#[track_caller]
pub fn rule(source: Source) -> Test {
    with_own_commits_only(support::rule(source))
}

/// [`support::plain`] for Metal.
#[track_caller]
pub fn plain() -> Test {
    with_own_commits_only(support::plain())
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
    Strong::retain(msg!(class("MPSCommandBuffer"), "commandBufferFromCommandQueue:", queue.id() => Id; Id))
}

pub fn encode(buffer: &Strong, work: impl FnOnce() + Send + 'static) {
    mps_command_buffer::encode(buffer.id(), Box::new(work), vec![], vec![]);
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
