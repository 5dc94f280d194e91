//! What one command buffer runs, and its way from `NotEnqueued` to `Completed` or `Error`.
//!
//! A job is shared by the command buffer object, which shows its status, and the worker that runs it. It keeps the
//! command buffer and all that the work uses alive from commit to completion, and releases them *before* it says that
//! it is complete. So after a wait, objects that the waiting thread has released are gone, and counts of live objects
//! are exact.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::command_buffer_error::CommandBufferError;
use super::fault::{self, Fault};
use super::in_use::Access;
use super::mtl_buffer::Buffer;
use super::mtl_command_buffer::CommandBuffer;
use crate::ignore_poison::IgnorePoison;
use crate::objc::{Block, Strong, pool};

/// Something encoded.
pub type Work = Box<dyn FnOnce() + Send>;

/// `MTLCommandBufferStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    /// Made; has no place in the queue yet.
    NotEnqueued = 0,
    /// Has its place in the queue; its work is still being encoded.
    Enqueued = 1,
    /// Given to the queue.
    Committed = 2,
    /// Running.
    Scheduled = 3,
    /// Ended successfully.
    Completed = 4,
    /// Ended in error.
    Error = 5,
}

impl Status {
    fn from_raw(raw: u8) -> Self {
        match raw {
            0 => Status::NotEnqueued,
            1 => Status::Enqueued,
            2 => Status::Committed,
            3 => Status::Scheduled,
            4 => Status::Completed,
            _ => Status::Error,
        }
    }
}

/// A job that is expected to take less time is short: after longer ones, what it costs to wake other threads does not
/// show.
const SHORT: Duration = Duration::from_millis(2);

/// A moment that a job remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// `GPUStartTime`.
    Started,
    /// `GPUEndTime`.
    Ended,
}

/// Work in the order of encoding and the buffers it uses.
#[derive(Default)]
pub struct Recording {
    /// Runs one after the other.
    pub work: Vec<Work>,
    /// `MTLBuffer`s that the work reads.
    pub reads: Vec<Strong>,
    /// `MTLBuffer`s that the work writes.
    pub writes: Vec<Strong>,
    /// How long the work is expected to take; what nobody knows takes for ever.
    pub expected: Duration,
}

impl Recording {
    fn buffers(&self) -> impl Iterator<Item = (&Strong, Access)> {
        let reads = self.reads.iter().map(|buffer| (buffer, Access::Read));
        reads.chain(self.writes.iter().map(|buffer| (buffer, Access::Write)))
    }
}

/// A committed recording.
struct Load {
    recording: Recording,
    handlers: Vec<Handler>,
    /// The command buffer, which must outlive its work whatever its owner does.
    owner: Strong,
    /// What is injected.
    fault: Option<Fault>,
}

/// A completed handler.
pub enum Handler {
    /// One that was added to the command buffer, which it is given.
    Block(Block<1>),
    /// One of the frameworks above Metal. It is not consumed by the call, so that it goes with all that is left.
    Framework(FrameworkHandler),
}

/// What a framework above Metal does with a command buffer that has ended.
pub type FrameworkHandler = Box<dyn Fn(&Strong) + Send>;

/// What is called when a job has ended: the completed handlers, and the command buffer that they are given.
pub struct Handlers {
    handlers: Vec<Handler>,
    owner: Strong,
}

impl Handlers {
    /// Calls them in the order in which they were added.
    pub(super) fn call(&self) {
        for handler in &self.handlers {
            pool(|| match handler {
                Handler::Block(block) => block.call(self.owner.id()),
                Handler::Framework(handler) => handler(&self.owner),
            });
        }
    }
}

/// The work of one command buffer, with its status, its error and its times.
#[derive(Default)]
pub struct Job {
    status: AtomicU8,
    load: Mutex<Option<Load>>,
    error: OnceLock<Strong>,
    /// Bits of the seconds of each [`Stamp`].
    times: [AtomicU64; 2],
    /// Whether handlers are still to be called or running.
    handling: AtomicBool,
    waiting: AtomicUsize,
    gate: Mutex<()>,
    changed: Condvar,
}

impl Job {
    /// The status. A thread that sees `Completed` sees everything that the work wrote.
    pub fn status(&self) -> Status {
        Status::from_raw(self.status.load(Ordering::SeqCst))
    }

    /// Whether it has reached its last status and all handlers have returned.
    pub(super) fn has_ended(&self) -> bool {
        self.status() >= Status::Completed && !self.has_handlers()
    }

    /// Whether handlers are still to be called or running.
    pub(super) fn has_handlers(&self) -> bool {
        self.handling.load(Ordering::SeqCst)
    }

    /// Notes that all handlers have returned.
    pub(super) fn handled(&self) {
        self.handling.store(false, Ordering::SeqCst);
        self.tell();
    }

    /// The `NSError` of a job that failed.
    pub fn error(&self) -> Option<&Strong> {
        self.error.get()
    }

    /// When it reached `stamp`, in seconds; 0 until then.
    pub fn time(&self, stamp: Stamp) -> f64 {
        f64::from_bits(self.times[stamp as usize].load(Ordering::Relaxed))
    }

    /// Takes over what will run; the worker is told afterwards. An error, when the use of a buffer is not allowed,
    /// leaves everything as it was. Returns whether the job is short.
    pub(super) fn load(
        &self,
        recording: Recording,
        handlers: Vec<Handler>,
        owner: Strong,
        fault: Option<Fault>,
    ) -> Result<bool, &'static str> {
        let queue = owner.state::<CommandBuffer>().queue().id().as_ptr().addr();
        for (begun, (buffer, access)) in recording.buffers().enumerate() {
            let buffer = buffer.state::<Buffer>();
            if let Err(reason) = buffer.begin_use(access, queue) {
                for (buffer, access) in recording.buffers().take(begun) {
                    // Nothing ran, so it does not matter what the CPU did meanwhile.
                    let _ = buffer.state::<Buffer>().end_use(access);
                }
                return Err(reason);
            }
        }
        self.handling.store(!handlers.is_empty(), Ordering::SeqCst);
        let short = recording.expected < SHORT && !matches!(fault, Some(Fault::Hang { .. }));
        let load = Load { recording, handlers, owner, fault };
        *self.load.lock().ignore_poison() = Some(load);
        Ok(short)
    }

    /// Runs the work and releases everything; returns the status to `advance` to, and what has to be called then. A
    /// panic ends the job, not the thread: a device goes on with the next command buffer.
    pub(super) fn run(&self) -> (Status, Option<Handlers>) {
        let load = self.load.lock().ignore_poison().take();
        let Load { mut recording, handlers, owner, fault: injected } =
            load.expect("a committed job is loaded and runs once");
        self.advance(Status::Scheduled);
        let work = std::mem::take(&mut recording.work);
        self.stamp(Stamp::Started);
        // The thread of a worker has no pool.
        let compute = || guarded(|| pool(|| work.into_iter().for_each(|work| work())));
        let outcome = match injected {
            Some(Fault::Error { code }) => Err(CommandBufferError::of_device(code)),
            Some(Fault::Hang { until }) => {
                fault::hang(until);
                compute()
            }
            None => compute(),
        };
        self.stamp(Stamp::Ended);
        let settled = guarded(|| settle(recording)).and_then(|checked| checked);
        // After the buffers, because it may be the last reference to the command buffer and its queue.
        let (handlers, released) = match handlers.is_empty() {
            true => (None, guarded(|| drop(owner))),
            false => (Some(Handlers { handlers, owner }), Ok(())),
        };
        let Err(error) = outcome.and(settled).and(released) else {
            return (Status::Completed, handlers);
        };
        let error = pool(|| Strong::retain(error.ns_error()));
        assert!(self.error.set(error).is_ok(), "a job runs once");
        (Status::Error, handlers)
    }

    /// Moves on to `status` and wakes the threads that wait.
    pub(super) fn advance(&self, status: Status) {
        self.status.store(status as u8, Ordering::SeqCst);
        self.tell();
    }

    fn tell(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // A waiting thread looks while it holds the gate, so it either sees the change or is asleep now.
            drop(self.gate.lock().ignore_poison());
            self.changed.notify_all();
        }
    }

    /// Sleeps until `reached` holds, but not longer than `limit`; returns whether it does.
    pub(super) fn sleep_until(&self, reached: fn(&Self) -> bool, limit: Duration) -> bool {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let gate = self.gate.lock().ignore_poison();
        let waited = self.changed.wait_timeout_while(gate, limit, |()| !reached(self));
        drop(waited.ignore_poison());
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        reached(self)
    }

    pub(super) fn stamp(&self, stamp: Stamp) {
        self.times[stamp as usize].store(seconds().to_bits(), Ordering::Relaxed);
    }
}

/// Ends the use of every buffer and releases it, also when one of them reports an error.
fn settle(recording: Recording) -> Result<(), CommandBufferError> {
    let mut outcome = Ok(());
    for (buffer, access) in recording.buffers() {
        outcome = outcome.and(buffer.state::<Buffer>().end_use(access));
    }
    outcome.map_err(|text| CommandBufferError::internal(format!("-[MTLBuffer contents]: {text}")))
}

/// Turns a panic into the error that ends a command buffer.
fn guarded<R>(work: impl FnOnce() -> R) -> Result<R, CommandBufferError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| CommandBufferError::internal(text_of(&*panic)))
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        (None, None) => "encoded work panicked".to_owned(),
    }
}

/// Seconds since the first call, plus one: 0 means "not yet".
fn seconds() -> f64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    ORIGIN.get_or_init(Instant::now).elapsed().as_secs_f64() + 1.0
}
