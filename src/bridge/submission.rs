//! Committed work: command buffers in flight, waiting for one of them, and what happens when one fails or never ends.
//!
//! Submissions complete in the order of their serial numbers. Metal raises no exception on a device fault, so the
//! status of its command buffers, and what MPSGraph tells of its execution, are looked at when a submission is done. A
//! fault marks the buffers that the submission wrote, and those of submissions that read them, so that no read gives
//! garbage.

mod ended;
mod execution;
mod fault;
mod hang;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use ended::Ended;
pub(super) use execution::Execution;
use execution::Late;
use fault::Fault;
use smallvec::SmallVec;

use super::blocking::block_on;
use super::pool::{Allocation, Serial};
use super::stats::Counters;
use super::waiting::{Sleeper, Waiting};
use crate::error::Error;
use crate::ffi::{self, CommandQueue, Work};
use crate::lock::LockAnyway;

/// The most submissions in flight, whose scratch memory and buffers the device holds; more would only add latency and
/// memory.
const IN_FLIGHT: usize = 16;

/// The submissions that may be in flight whatever memory they hold.
const ALWAYS_IN_FLIGHT: usize = 2;

/// A committed command buffer and what it reads and writes.
struct Submitted {
    serial: Serial,
    /// The committed work, which holds the buffers that it uses against the host.
    work: Work,
    /// What MPSGraph tells of it.
    execution: Arc<Execution>,
    /// Submissions in flight that wrote what this one reads.
    reads_of: SmallVec<[Serial; 4]>,
    /// A fault in what this one reads, known when it was submitted.
    fault: Option<Error>,
    writes: SmallVec<[Weak<Allocation>; 4]>,
    held_bytes: usize,
}

/// What a submission uses.
pub(super) struct Uses<R, W> {
    pub reads: R,
    pub writes: W,
    /// Bytes that are held until it is done and free then: scratch memory, and operands that nobody else needs.
    pub held_bytes: usize,
}

/// What only the encoding thread touches.
pub(super) struct Encoder {
    /// Of the newest submission.
    serial: Serial,
    queue: CommandQueue,
    /// How often work was given up when the queue was made.
    given_up: u64,
}

impl Encoder {
    pub fn new(queue: CommandQueue) -> Self {
        Self { serial: 0, queue, given_up: 0 }
    }

    /// The queue that takes work now.
    pub fn queue(&self) -> &CommandQueue {
        &self.queue
    }

    /// Of the submission that is encoded now.
    pub fn next_serial(&self) -> Serial {
        self.serial + 1
    }
}

/// How far the device has come, as the pool sees it.
#[derive(Default)]
pub(super) struct Progress {
    /// The newest submission that is not in flight any more.
    pub completed: AtomicU64,
    /// Whether some work that was given up has not ended: then claims tell which buffers the device may still use.
    pub hangs: AtomicBool,
}

/// The submissions of the device.
pub(super) struct Submissions {
    flight: Mutex<Flight>,
    progress: Arc<Progress>,
    /// Lives as long as the process, because handlers know it.
    pub waiting: &'static Waiting,
    /// Bytes that submissions in flight may hold together.
    max_held_bytes: usize,
}

#[derive(Default)]
struct Flight {
    submitted: VecDeque<Submitted>,
    /// What those hold.
    held_bytes: usize,
    /// Faults that work in flight may depend on.
    faults: Vec<(Serial, Error)>,
    /// The first fault that no `sync` has reported.
    unreported: Option<Error>,
    /// How often something could not be submitted, and why the last time.
    refusals: u64,
    refusal: Option<Error>,
    /// Executions that have ended and of which MPSGraph has told nothing.
    late: Late,
    /// Work that was given up and has not ended.
    lost: Vec<Work>,
    /// How often work was given up, and the last reason.
    given_up: u64,
    hang: Option<Error>,
    trust: Trust,
    /// The system takes no more work of the queue: the next goes to a fresh one, behind all that is in flight.
    is_refused: bool,
}

/// Whether the device gets more work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Trust {
    /// Something has ended since work was given up, or none was.
    #[default]
    Works,
    /// Work was given up, and nothing has ended since: it gets work on a fresh queue.
    OnTrial,
    /// Work was given up again on that: it gets none until something ends.
    Refused,
}

impl Flight {
    /// Notes how the oldest submission has ended, which is taken out: passes a fault of its own, or of what it read, on
    /// to what it wrote.
    fn note_end(&mut self, done: &Submitted, own: Option<Error>) {
        if let Some(fault) = &own {
            self.unreported.get_or_insert_with(|| fault.clone());
        }
        let of_read = || self.faults.iter().find(|(serial, _)| done.reads_of.contains(serial));
        let inherited = || done.fault.clone().or_else(|| of_read().map(|(_, fault)| fault.clone()));
        if let Some(fault) = own.or_else(inherited) {
            for written in done.writes.iter().filter_map(Weak::upgrade) {
                let _ = written.fault.set(Box::new(fault.clone()));
            }
            self.faults.push((done.serial, fault));
        }
        self.held_bytes -= done.held_bytes;
        let Flight { submitted, faults, .. } = self;
        faults.retain(|(serial, _)| submitted.iter().any(|later| later.reads_of.contains(serial)));
    }
}

impl Submissions {
    /// The device may end nothing for `limit` while somebody waits.
    pub fn new(progress: Arc<Progress>, max_held_bytes: usize, limit: Duration) -> Self {
        Self { flight: Mutex::default(), progress, waiting: Box::leak(Box::new(Waiting::new(limit))), max_held_bytes }
    }

    fn lock(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock_anyway()
    }

    /// The newest submission known to be done, after looking at those in flight.
    pub fn completed(&self) -> Serial {
        self.reap(&mut self.lock());
        self.progress.completed.load(Ordering::Acquire)
    }

    /// Takes note of committed work.
    ///
    /// Faults of what it reads are looked up under the lock that also guards passing faults on, so none is missed.
    pub fn push<'a>(
        &self,
        encoder: &mut Encoder,
        (work, execution): (Work, Arc<Execution>),
        uses: Uses<impl Iterator<Item = &'a Arc<Allocation>>, impl Iterator<Item = &'a Arc<Allocation>>>,
    ) {
        encoder.serial += 1;
        let serial = encoder.serial;
        let mut flight = self.lock();
        let completed = self.progress.completed.load(Ordering::Acquire);
        let (mut reads_of, mut fault) = (SmallVec::<[Serial; 4]>::new(), None);
        for read in uses.reads {
            read.used_by(serial);
            let written_by = read.written_by.load(Ordering::Acquire);
            if let Some(found) = read.fault.get() {
                fault.get_or_insert_with(|| (**found).clone());
            } else if written_by > completed && !reads_of.contains(&written_by) {
                reads_of.push(written_by);
            }
        }
        let mut writes = SmallVec::new();
        for written in uses.writes {
            written.used_by(serial);
            written.written_by.store(serial, Ordering::Release);
            writes.push(Arc::downgrade(written));
        }
        let held_bytes = uses.held_bytes;
        flight.held_bytes += held_bytes;
        flight.submitted.push_back(Submitted { serial, work, execution, reads_of, fault, writes, held_bytes });
        if let Some(hang) = flight.hang.clone().filter(|_| encoder.given_up != flight.given_up) {
            // While it was encoded, the work before it on its queue was given up. Nobody waits for it yet.
            self.lose(&mut flight, &hang);
        }
    }

    /// Notes that something could not be submitted, which `sync` has to report.
    pub fn note(&self, error: &Error) {
        let mut flight = self.lock();
        flight.unreported.get_or_insert_with(|| error.clone());
        flight.refusals += 1;
        flight.refusal = Some(error.clone());
    }

    /// How often something could not be submitted.
    pub fn refusals(&self) -> u64 {
        self.lock().refusals
    }

    /// Why something could not be submitted since there were so many [refusals](Self::refusals).
    pub fn refusal_since(&self, before: u64) -> Option<Error> {
        let flight = self.lock();
        flight.refusal.clone().filter(|_| flight.refusals > before)
    }

    /// Waits until there is room for a submission that holds so many bytes.
    pub fn wait_for_room(&self, held_bytes: usize, counters: &Counters) {
        loop {
            let in_the_way = self.must_wait_for(&mut self.lock(), held_bytes);
            let Some(serial) = in_the_way else { return };
            self.wait(serial, counters);
        }
    }

    /// The submission in flight to wait for, if there is no room for another.
    fn must_wait_for(&self, flight: &mut Flight, held_bytes: usize) -> Option<Serial> {
        self.reap(flight);
        self.in_the_way(flight, held_bytes)
    }

    /// The same without looking at those in flight.
    fn in_the_way(&self, flight: &Flight, held_bytes: usize) -> Option<Serial> {
        if flight.is_refused {
            // Queues do not wait for each other.
            return flight.submitted.back().map(|newest| newest.serial);
        }
        let many = flight.submitted.len() >= IN_FLIGHT;
        let large = flight.submitted.len() >= ALWAYS_IN_FLIGHT
            && flight.held_bytes.saturating_add(held_bytes) > self.max_held_bytes;
        flight.submitted.front().filter(|_| many || large).map(|oldest| oldest.serial)
    }

    /// Waits until submission `serial` and all before it are done, with or without a fault, or given up.
    pub fn wait(&self, serial: Serial, counters: &Counters) {
        if self.is_over(serial) {
            return;
        }
        block_on(Ended::new(self, (serial, Sleeper::Thread), counters));
    }

    /// Submission `serial` and all before it are done, with or without a fault, or given up; for a task that waits.
    pub fn ended<'a>(&'a self, serial: Serial, counters: &'a Counters) -> Ended<'a> {
        Ended::new(self, (serial, Sleeper::Task), counters)
    }

    /// Whether submission `serial` is not in flight any more.
    fn is_over(&self, serial: Serial) -> bool {
        self.progress.completed.load(Ordering::Acquire) >= serial || self.completed() >= serial
    }

    /// Waits for everything submitted so far.
    pub fn wait_for_all(&self, counters: &Counters) {
        let newest = self.lock().submitted.back().map(|submitted| submitted.serial);
        if let Some(serial) = newest {
            self.wait(serial, counters);
        }
    }

    /// Submissions in flight.
    pub fn in_flight(&self) -> usize {
        let mut flight = self.lock();
        self.reap(&mut flight);
        flight.submitted.len()
    }

    /// Waits for everything submitted so far; reports the first fault since the last call.
    pub fn sync(&self, counters: &Counters) -> Result<(), Error> {
        let newest = {
            let flight = &mut *self.lock();
            self.reap(flight);
            flight.submitted.back().map(|newest| newest.serial)
        };
        if let Some(newest) = newest {
            self.wait(newest, counters);
        }
        let flight = &mut *self.lock();
        self.reap(flight);
        flight.unreported.take().map_or(Ok(()), Err)
    }

    /// Until when what has ended waits to be told of its execution.
    fn told_until(&self) -> Option<Instant> {
        self.lock().late.until()
    }

    /// Removes done work from the front of the queue and passes its faults on.
    fn reap(&self, flight: &mut Flight) {
        if !flight.submitted.is_empty() || flight.given_up > 0 {
            // Work is released here, on whichever thread asks.
            ffi::autoreleasepool(|| self.reap_ended(flight));
        }
        if let Some(fault) = flight.late.told() {
            flight.unreported.get_or_insert(fault);
        }
    }

    fn reap_ended(&self, flight: &mut Flight) {
        while let Some(front) = flight.submitted.front() {
            let Some(failed) = front.work.end() else {
                break;
            };
            let own = failed.map(|root| Fault::new("a command buffer failed", root.error().as_ref()));
            if !flight.late.is_settled(front) {
                break;
            }
            let Some(done) = flight.submitted.pop_front() else {
                break;
            };
            if flight.trust == Trust::OnTrial {
                flight.trust = Trust::Works;
            }
            let own = own.or_else(|| done.execution.fault());
            flight.is_refused |= own.as_ref().is_some_and(|fault| fault.refuses_queue);
            flight.note_end(&done, own.map(|fault| fault.error));
            // First drop the work's claims on its buffers, then publish that the host may have them.
            drop(done.work);
            self.progress.completed.store(done.serial, Ordering::Release);
        }
        if flight.given_up > 0 {
            self.reap_lost(flight);
        }
    }
}
