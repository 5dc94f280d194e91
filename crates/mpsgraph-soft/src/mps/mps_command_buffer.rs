//! `MPSCommandBuffer`: a command buffer that can commit what it has and continue with a new one.
//!
//! It is a wrapper that conforms to `MTLCommandBuffer`: it passes messages on to its root, the `MTLCommandBuffer` that
//! is being encoded. `-commitAndContinue` puts a new root in its place. To wait for the committed work, keep what
//! `-rootCommandBuffer` answered before; a wait on the wrapper would be for work that is not committed, and is refused.
//! Scratch memory of encoded work belongs to the wrapper until the wrapper is released, whatever is committed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use crate::brief_lock::{BriefLock, Held};
use crate::metal::allocation::PAGE;
use crate::metal::execution::Execution;
use crate::metal::job::Job;
use crate::metal::mtl_command_buffer::{CommandBuffer, Encoder as RootEncoder};
use crate::metal::mtl_command_queue::CommandQueue;
use crate::metal::work::{Function, Piece, Work};
use crate::metal::{counters, fault, mtl_command_buffer};
use crate::objc::{ClassDef, ClassKind, Id, RawBlock, Sel, Strong, This, method0, method1, new_object};
use crate::violation;

/// The class of the wrappers.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSCommandBuffer",
    superclass: Some(&crate::foundation::ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (10, 15),
    instance: &[
        method1("initWithCommandBuffer:", init_with_command_buffer),
        // The newest too, whatever the header says.
        method0("commandBuffer", root_command_buffer),
        method0("rootCommandBuffer", root_command_buffer),
        method0("commitAndContinue", commit_and_continue),
        method0("enqueue", enqueue),
        method0("commit", commit),
        method1("addCompletedHandler:", add_completed_handler),
        method0("waitUntilScheduled", wait_until_scheduled),
        method0("waitUntilCompleted", wait_until_completed),
        method0("status", status),
        method0("error", error),
        method0("GPUStartTime", gpu_start_time),
        method0("GPUEndTime", gpu_end_time),
        method0("retainedReferences", retained_references),
        method0("commandQueue", command_queue),
        method0("device", device),
        method0("label", label),
        method1("setLabel:", set_label),
    ],
    class: &[
        method1("commandBufferFromCommandQueue:", command_buffer_from_command_queue),
        method1("commandBufferWithCommandBuffer:", command_buffer_with_command_buffer),
    ],
};

/// Payload of an `MPSCommandBuffer`.
struct MpsCommandBuffer {
    root: BriefLock<Strong>,
    /// Bytes held for all work that was encoded on it.
    scratch: AtomicUsize,
}

impl MpsCommandBuffer {
    fn new(first: Strong) -> Self {
        Self { root: BriefLock::new(first), scratch: AtomicUsize::new(0) }
    }

    fn root(&self) -> Held<'_, Strong> {
        self.root.lock()
    }
}

impl Drop for MpsCommandBuffer {
    fn drop(&mut self) {
        counters::scratch_let_go(*self.scratch.get_mut());
    }
}

/// The right to encode on an `MPSCommandBuffer`. Hold it from the beginning of an encoding message to its end, so that
/// a second thread that does the same is refused.
pub struct Encoder<'a> {
    wrapper: &'a Strong,
    root: RootEncoder,
    /// How long what is encoded next is expected to take.
    expected: Duration,
}

impl<'a> Encoder<'a> {
    /// Opens `wrapper` for encoding; an error says why it cannot.
    pub fn new(wrapper: &'a Strong) -> Result<Self, &'static str> {
        let Some(state) = wrapper.try_state::<MpsCommandBuffer>() else {
            return Err("the command buffer is not an initialised MPSCommandBuffer");
        };
        let root = RootEncoder::new(state.root().clone())?;
        Ok(Self { wrapper, root, expected: Duration::MAX })
    }

    /// Notes how long the work is expected to take.
    pub fn expect(&mut self, time: Duration) {
        self.expected = time;
    }

    /// Notes that the work needs scratch memory: at least a page, which the wrapper keeps while it lives.
    pub fn hold_scratch(&self, bytes: usize) {
        let bytes = bytes.max(1).next_multiple_of(PAGE);
        let held = &self.wrapper.state::<MpsCommandBuffer>().scratch;
        // Who holds the right to encode is the only one.
        held.store(held.load(Relaxed) + bytes, Relaxed);
        counters::scratch_held(bytes);
    }

    /// Appends work, and closes. When a test has asked for commits inside ([`fault::commit_inside_encode`]), the work
    /// begins in this root and ends in another; when one of the roots failed, the rest of the work would compute
    /// garbage and does not run.
    ///
    /// When the last of the roots has ended, `execution` is told the error of the first that failed.
    pub(crate) fn encode(self, piece: Piece, execution: Option<Execution>) {
        let (last, earlier, piece) = match fault::commits_inside_encode() {
            0 => (self, Vec::new(), piece),
            commits => self.commit_inside(commits, piece),
        };
        let execution = execution.map(|mut execution| {
            execution.after(earlier);
            execution
        });
        last.root.encode(piece, last.expected, execution);
    }

    /// Appends a function that reads and writes these `MTLBuffer`s, and closes.
    pub fn encode_function(self, function: Function, reads: Vec<Strong>, writes: Vec<Strong>) {
        let (reads, writes) = (reads.into_iter().collect(), writes.into_iter().collect());
        self.encode(Piece::new(Work::Function(function), reads, writes), None);
    }

    /// Begins work and commits so many times; what has been committed, and what is left to do.
    fn commit_inside(mut self, commits: usize, piece: Piece) -> (Self, Vec<Arc<Job>>, Piece) {
        let (mut committed, done) = (Vec::new(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..commits {
            let done = Arc::clone(&done);
            let part = piece.with(Box::new(move || _ = done.fetch_add(1, Relaxed)));
            self.root.encode(part, Duration::ZERO, None);
            committed.push(self.root.job());
            self.root = next_root(self.wrapper.as_this(), Sel::named("commitAndContinue"), self.root);
        }
        let mut rest = piece;
        let part = rest.with(Box::new(|| ()));
        let run = move || {
            if done.load(Relaxed) == commits {
                rest.run();
            }
        };
        (self, committed, part.with(Box::new(run)))
    }
}

/// Appends work to an `MPSCommandBuffer`; panics where MPSGraph would abort.
pub fn encode(this: Id, work: Function, reads: Vec<Strong>, writes: Vec<Strong>) {
    match Encoder::new(&Strong::retain(this)) {
        Ok(encoder) => encoder.encode_function(work, reads, writes),
        Err(reason) => panic!("encoding on an MPSCommandBuffer: {reason}"),
    }
}

/// The command buffer that is encoded now.
fn root(this: This<'_>) -> Strong {
    this.state::<MpsCommandBuffer>().root().clone()
}

/// Wraps `buffer` for `cmd`.
fn wrap(this: This<'_>, cmd: Sel, buffer: Id) -> MpsCommandBuffer {
    let buffer = Strong::retain(buffer);
    match buffer.try_state::<CommandBuffer>() {
        Some(state) if state.is_committed() => {
            violation!(this, cmd, "the command buffer is committed already")
        }
        Some(_) => MpsCommandBuffer::new(buffer),
        None => violation!(this, cmd, "the argument is not an MTLCommandBuffer"),
    }
}

extern "C-unwind" fn command_buffer_from_command_queue(this: This<'_>, cmd: Sel, queue: Id) -> Id {
    let queue = Strong::retain(queue);
    if queue.try_state::<CommandQueue>().is_none() {
        violation!(this, cmd, "the argument is not an MTLCommandQueue");
    }
    let first = mtl_command_buffer::new(queue, this, cmd);
    new_object(&CLASS, MpsCommandBuffer::new(first)).autorelease()
}

extern "C-unwind" fn command_buffer_with_command_buffer(this: This<'_>, cmd: Sel, buffer: Id) -> Id {
    new_object(&CLASS, wrap(this, cmd, buffer)).autorelease()
}

extern "C-unwind" fn init_with_command_buffer(this: This<'_>, cmd: Sel, buffer: Id) -> Id {
    this.set_state(wrap(this, cmd, buffer));
    this.id()
}

extern "C-unwind" fn root_command_buffer(this: This<'_>, _: Sel) -> Id {
    // The wrapper releases it at the next `commitAndContinue`, just when the caller wants to wait for it.
    root(this).autorelease()
}

extern "C-unwind" fn commit_and_continue(this: This<'_>, cmd: Sel) {
    let opened = RootEncoder::new(root(this));
    let continued = opened.map(|encoder| drop(next_root(this, cmd, encoder)));
    mtl_command_buffer::obeyed(this, cmd, continued);
}

/// Commits the root of `this`, which `encoder` holds, and opens the one that takes its place.
fn next_root(this: This<'_>, cmd: Sel, encoder: RootEncoder) -> RootEncoder {
    let old = root(this);
    let opened = encoder.commit().and_then(|()| {
        let queue = old.state::<CommandBuffer>().queue().clone();
        let next = mtl_command_buffer::new(queue, this, cmd);
        let encoder = RootEncoder::new(next.clone());
        *this.state::<MpsCommandBuffer>().root() = next;
        encoder
    });
    opened.unwrap_or_else(|reason| violation!(this, cmd, "{reason}"))
}

macro_rules! passed_on_if_allowed {
    ($($name:ident = $action:expr;)*) => {$(
        extern "C-unwind" fn $name(this: This<'_>, cmd: Sel) {
            let action: fn(Strong) -> Result<(), &'static str> = $action;
            mtl_command_buffer::obeyed(this, cmd, action(root(this)));
        }
    )*};
}

passed_on_if_allowed! {
    enqueue = |root| root.state::<CommandBuffer>().enqueue();
    commit = |root| RootEncoder::new(root).and_then(RootEncoder::commit);
    wait_until_scheduled = |root| root.state::<CommandBuffer>().wait_until_scheduled();
    wait_until_completed = |root| root.state::<CommandBuffer>().wait_until_completed();
}

macro_rules! passed_on {
    ($($name:ident($($arg:ident: $type:ty)?) $(-> $ret:ty)?;)*) => {$(
        extern "C-unwind" fn $name(this: This<'_>, cmd: Sel $(, $arg: $type)?) $(-> $ret)? {
            mtl_command_buffer::$name(root(this).as_this(), cmd $(, $arg)?)
        }
    )*};
}

passed_on! {
    status() -> usize;
    error() -> Id;
    gpu_start_time() -> f64;
    gpu_end_time() -> f64;
    retained_references() -> bool;
    command_queue() -> Id;
    device() -> Id;
    label() -> Id;
    set_label(text: Id);
    add_completed_handler(handler: RawBlock);
}
