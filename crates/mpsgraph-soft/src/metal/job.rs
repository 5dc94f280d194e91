//! What one command buffer runs, and its way from `NotEnqueued` to `Completed` or `Error`.
//!
//! A job is shared by the command buffer object, which shows its status, and the worker that runs it. It keeps the
//! command buffer and all that the work uses alive from commit to completion, and releases them *before* it says that
//! it is complete. So after a wait, objects that the waiting thread has released are gone, and counts of live objects
//! are exact.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::command_buffer_error::CommandBufferError;
use super::execution::Execution;
use super::fault::{self, Fault};
use super::mtl_command_buffer::CommandBuffer;
use crate::brief_lock::BriefLock;
use crate::ignore_poison::IgnorePoison;
use crate::objc::autorelease::in_some_pool;
use crate::objc::{Block, Strong, pool};

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
pub(super) const SHORT: Duration = Duration::from_millis(2);

/// A moment that a job remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// `GPUStartTime`.
    Started,
    /// `GPUEndTime`.
    Ended,
}

/// A committed command buffer, which must outlive its work whatever its owner does.
pub(super) struct Load {
    pub owner: Strong,
    /// What is injected.
    pub fault: Option<Fault>,
}

/// A completed handler.
pub(crate) enum Handler {
    /// One that was added to the command buffer, which it is given.
    Block(Block<1>),
    /// That of an execution.
    Execution(Execution),
}

/// Completed handlers in the order in which they were added.
pub(crate) type Handlers = SmallVec<[Handler; 2]>;

/// A command buffer whose work has ended, and the handlers that are to be called then.
pub(super) struct Ended {
    pub owner: Strong,
    pub handlers: Handlers,
}

impl Ended {
    /// Calls the handlers.
    pub fn call(&self) {
        for handler in &self.handlers {
            pool(|| match handler {
                Handler::Block(block) => block.call(self.owner.id()),
                Handler::Execution(execution) => execution.tell(&self.owner),
            });
        }
    }

    /// The job.
    pub fn job(&self) -> &Arc<Job> {
        self.owner.state::<CommandBuffer>().shared_job()
    }
}

/// The work of one command buffer, with its status, its error and its times.
#[derive(Default)]
pub struct Job {
    status: AtomicU8,
    load: BriefLock<Option<Load>>,
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

    /// Tells that all handlers have returned.
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

    /// Whether handlers are to be called when it has ended: before the status says that it is committed, which
    /// publishes it.
    pub(super) fn expect_handlers(&self, any: bool) {
        self.handling.store(any, Ordering::Relaxed);
    }

    /// Keeps what will run until its turn comes; the worker is told afterwards.
    pub(super) fn put(&self, load: Load) {
        *self.load.lock() = Some(load);
    }

    /// What will run; the caller runs it.
    pub(super) fn take(&self) -> Load {
        self.load.lock().take().expect("a committed job is loaded and runs once")
    }

    /// Runs the work and releases everything; returns the status to `advance` to, and what has to be called then. A
    /// panic ends the job, not the thread: a device goes on with the next command buffer.
    pub(super) fn run(&self, load: Load) -> (Status, Option<Ended>) {
        let Load { owner, fault: injected } = load;
        let (mut recording, handlers) = owner.state::<CommandBuffer>().take_all();
        self.stamp(Stamp::Started);
        // The thread of a worker has no pool.
        let mut compute = || guarded(|| in_some_pool(|| recording.run()));
        let outcome = match injected {
            Some(Fault::Error { code }) => Err(CommandBufferError::of_device(code)),
            Some(Fault::Hang { until }) => {
                fault::hang(until);
                compute()
            }
            None => compute(),
        };
        self.stamp(Stamp::Ended);
        let settled = guarded(|| recording.settle()).and_then(|checked| checked);
        // After the buffers, because it may be the last reference to the command buffer and its queue.
        let (ended, released) = match handlers.is_empty() {
            true => (None, guarded(|| drop(owner))),
            false => (Some(Ended { owner, handlers }), Ok(())),
        };
        let Err(error) = outcome.and(settled).and(released) else {
            return (Status::Completed, ended);
        };
        let error = pool(|| Strong::retain(error.ns_error()));
        assert!(self.error.set(error).is_ok(), "a job runs once");
        (Status::Error, ended)
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
