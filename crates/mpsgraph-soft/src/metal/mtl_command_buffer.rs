//! `MTLCommandBuffer`: collects work until it is committed, then shows the status of that work.
//!
//! Metal accepts some messages after which the device hangs or crashes: encoding or committing after the commit,
//! encoding from two threads at a time, waiting for work that is not committed. They are refused here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::execution::Execution;
use super::fault::Fault;
use super::job::{Handler, Handlers, Job, Load, SHORT, Stamp, Status};
use super::label::Label;
use super::work::{Piece, Recording};
use super::worker::{Stuck, Worker};
use super::{mtl_command_queue, mtl_device};
use crate::brief_lock::BriefLock;
use crate::objc::{Block, ClassDef, ClassKind, Id, RawBlock, Sel, Strong, This, method0, method1, new_object};
use crate::violation;

/// The class of the command buffers that `MTLCommandQueue` makes.
pub static CLASS: ClassDef = ClassDef {
    name: "MTLCommandBuffer",
    superclass: Some(&crate::foundation::ns_object::CLASS),
    kind: ClassKind::ProtocolInstance,
    min_macos: (10, 11),
    instance: &[
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
    class: &[],
};

/// Payload of a command buffer object.
pub(crate) struct CommandBuffer {
    queue: Strong,
    job: Arc<Job>,
    content: BriefLock<Content>,
    /// Whether an [`Encoder`] is open, or was the last one because it has committed.
    encoding: AtomicBool,
    label: Label,
}

/// What was given to a command buffer, until it runs.
#[derive(Default)]
struct Content {
    recording: Recording,
    handlers: Handlers,
    /// Whether it is too late for more.
    closed: bool,
}

impl CommandBuffer {
    /// The `MTLCommandQueue`.
    pub fn queue(&self) -> &Strong {
        &self.queue
    }

    /// The `NSError` of work that failed.
    pub fn error(&self) -> Option<&Strong> {
        self.job.error()
    }

    pub(super) fn shared_job(&self) -> &Arc<Job> {
        &self.job
    }

    fn worker(&self) -> &Arc<Worker> {
        mtl_command_queue::worker(&self.queue)
    }

    /// What runs, and who is told when it has ended.
    pub(super) fn take_all(&self) -> (Recording, Handlers) {
        let mut content = self.content.lock();
        (std::mem::take(&mut content.recording), std::mem::take(&mut content.handlers))
    }

    /// Whether the queue has it.
    pub fn is_committed(&self) -> bool {
        self.job.status() >= Status::Committed
    }

    /// Takes its place in the queue; an error says why it cannot.
    pub(crate) fn enqueue(&self) -> Result<(), &'static str> {
        if self.job.status() != Status::NotEnqueued {
            return Err("the command buffer has its place in the queue already");
        }
        self.worker().enqueue(&self.job);
        Ok(())
    }

    /// Waits until the work runs; an error says why it will never run.
    pub(crate) fn wait_until_scheduled(&self) -> Result<(), &'static str> {
        self.wait(Worker::wait_until_scheduled)
    }

    /// Waits until the work is done; an error says why it will never be done.
    pub(crate) fn wait_until_completed(&self) -> Result<(), &'static str> {
        self.wait(Worker::wait_until_completed)
    }

    fn wait(&self, wait: fn(&Worker, &Job) -> Result<(), Stuck>) -> Result<(), &'static str> {
        if !self.is_committed() {
            return Err("waits forever: the command buffer is not committed");
        }
        wait(self.worker(), &self.job).map_err(|stuck| match stuck {
            Stuck::NotCommitted => "waits forever: a command buffer enqueued before it is not committed",
            Stuck::InHandler => "waits forever: it waits for completed handlers, and a handler of the queue calls it",
        })
    }
}

impl Drop for CommandBuffer {
    fn drop(&mut self) {
        if !self.is_committed() {
            self.worker().forget(&self.job);
        }
    }
}

/// The right to encode on one command buffer, from the beginning of an encoding message to its end.
pub(crate) struct Encoder {
    buffer: Strong,
    /// Then nobody encodes on it any more.
    has_committed: bool,
}

impl Encoder {
    /// Opens the command buffer for encoding; an error says why it cannot.
    pub fn new(buffer: Strong) -> Result<Self, &'static str> {
        let state = buffer.state::<CommandBuffer>();
        if state.encoding.swap(true, Ordering::Acquire) {
            let committed = state.is_committed();
            return Err(if committed { COMMITTED } else { "another thread is encoding on this command buffer" });
        }
        Ok(Self { buffer, has_committed: false })
    }

    /// Appends work, which is expected to take so long, and the completion handler of its execution. The command buffer
    /// retains the buffers at once; they count as in use from its commit on.
    pub fn encode(&self, piece: Piece, expected: Duration, execution: Option<Execution>) {
        let mut content = self.state().content.lock();
        content.recording.push(piece, expected);
        if let Some(execution) = execution {
            content.handlers.push(Handler::Execution(execution));
        }
    }

    /// The work that is encoded, with its status and error.
    pub fn job(&self) -> Arc<Job> {
        Arc::clone(&self.state().job)
    }

    fn state(&self) -> &CommandBuffer {
        self.buffer.state()
    }

    /// Gives all that was encoded to the queue; an error says why it cannot.
    pub(crate) fn commit(mut self) -> Result<(), &'static str> {
        let state = self.buffer.state::<CommandBuffer>();
        // Beginning the use of many buffers takes longer than the lock is meant for. Only a thread that adds a handler
        // at the same time waits for it; to take the recording out and put it back would cost small commits 20 ns each.
        let mut content = state.content.lock();
        content.recording.begin(state.queue.id().as_ptr().addr())?;
        content.closed = true;
        let fault = mtl_command_queue::fault_due(&state.queue);
        let short = content.recording.expected() < SHORT && !matches!(fault, Some(Fault::Hang { .. }));
        state.job.expect_handlers(!content.handlers.is_empty());
        drop(content);
        self.has_committed = true;
        state.worker().commit(&state.job, Load { owner: self.buffer.clone(), fault }, short);
        Ok(())
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        if !self.has_committed {
            self.state().encoding.store(false, Ordering::Release);
        }
    }
}

/// Why nothing can be done with a command buffer any more.
const COMMITTED: &str = "the command buffer is committed already";

/// A new command buffer of `queue`, owned by the caller; message `cmd` to `this` asks for it.
pub(crate) fn new(queue: Strong, this: This<'_>, cmd: Sel) -> Strong {
    let buffer = CommandBuffer {
        job: mtl_command_queue::new_job(&queue, this, cmd),
        queue,
        content: BriefLock::default(),
        encoding: AtomicBool::new(false),
        label: Label::default(),
    };
    new_object(&CLASS, buffer)
}

/// Ends the answer to a message that a command buffer, or its wrapper, may have to refuse.
pub(crate) fn obeyed(this: This<'_>, cmd: Sel, outcome: Result<(), &'static str>) {
    if let Err(reason) = outcome {
        violation!(this, cmd, "{reason}");
    }
}

extern "C-unwind" fn enqueue(this: This<'_>, cmd: Sel) {
    obeyed(this, cmd, this.state::<CommandBuffer>().enqueue());
}

extern "C-unwind" fn commit(this: This<'_>, cmd: Sel) {
    obeyed(this, cmd, Encoder::new(Strong::clone(&this)).and_then(Encoder::commit));
}

extern "C-unwind" fn wait_until_scheduled(this: This<'_>, cmd: Sel) {
    obeyed(this, cmd, this.state::<CommandBuffer>().wait_until_scheduled());
}

extern "C-unwind" fn wait_until_completed(this: This<'_>, cmd: Sel) {
    obeyed(this, cmd, this.state::<CommandBuffer>().wait_until_completed());
}

pub(crate) extern "C-unwind" fn add_completed_handler(this: This<'_>, cmd: Sel, handler: RawBlock) {
    let buffer = this.state::<CommandBuffer>();
    // SAFETY: the sender passes nil or a live block.
    let handler = unsafe { Block::copy(handler) }.unwrap_or_else(|reason| violation!(this, cmd, "{reason}"));
    let mut content = buffer.content.lock();
    if content.closed {
        drop(content);
        violation!(this, cmd, "Completed handler provided after commit call");
    }
    content.handlers.push(Handler::Block(handler));
}

pub(crate) extern "C-unwind" fn status(this: This<'_>, _: Sel) -> usize {
    this.state::<CommandBuffer>().job.status() as usize
}

pub(crate) extern "C-unwind" fn error(this: This<'_>, _: Sel) -> Id {
    this.state::<CommandBuffer>().error().map_or(Id::NIL, |error| error.clone().autorelease())
}

pub(crate) extern "C-unwind" fn gpu_start_time(this: This<'_>, _: Sel) -> f64 {
    this.state::<CommandBuffer>().job.time(Stamp::Started)
}

pub(crate) extern "C-unwind" fn gpu_end_time(this: This<'_>, _: Sel) -> f64 {
    this.state::<CommandBuffer>().job.time(Stamp::Ended)
}

pub(crate) extern "C-unwind" fn retained_references(_: This<'_>, _: Sel) -> bool {
    true
}

pub(crate) extern "C-unwind" fn command_queue(this: This<'_>, _: Sel) -> Id {
    this.state::<CommandBuffer>().queue().id()
}

pub(crate) extern "C-unwind" fn device(_: This<'_>, _: Sel) -> Id {
    mtl_device::shared()
}

pub(crate) extern "C-unwind" fn label(this: This<'_>, _: Sel) -> Id {
    this.state::<CommandBuffer>().label.get()
}

pub(crate) extern "C-unwind" fn set_label(this: This<'_>, cmd: Sel, label: Id) {
    this.state::<CommandBuffer>().label.set(this, cmd, label);
}
