//! Committed work: command buffers in flight, waiting for one of them, and what happens when one fails.
//!
//! Submissions complete in the order of their serial numbers. Metal raises no exception on a device fault, so the
//! status of every command buffer is checked when it is done. A fault marks the buffers that the submission wrote, and
//! those of submissions that read them, so that no read gives garbage.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use smallvec::SmallVec;

use super::pool::{Allocation, Serial};
use super::stats::Counters;
use crate::error::Error;
use crate::ffi::{CommandBuffer, CommandBufferStatus, CommandQueue, Work};
use crate::lock::LockAnyway;

/// The most submissions in flight, whose scratch memory and buffers the device holds; more would only add latency and
/// memory.
const IN_FLIGHT: usize = 16;

/// A committed command buffer and what it reads and writes.
pub(super) struct Submitted {
    pub serial: Serial,
    /// The committed work, which holds the buffers that it uses against the host.
    pub work: Work,
    /// Submissions in flight that wrote what this one reads.
    pub reads_of: SmallVec<[Serial; 4]>,
    /// A fault in what this one reads, known when it was submitted.
    pub fault: Option<Error>,
    pub writes: SmallVec<[Weak<Allocation>; 4]>,
}

/// The device's one queue.
pub(super) struct Queue {
    pub queue: CommandQueue,
    flight: Mutex<Flight>,
    completed: AtomicU64,
}

#[derive(Default)]
struct Flight {
    submitted: VecDeque<Submitted>,
    /// Faults that work in flight may depend on.
    faults: Vec<(Serial, Error)>,
    /// The first fault that no `sync` has reported.
    unreported: Option<Error>,
}

impl Queue {
    pub fn new(queue: CommandQueue) -> Self {
        Self { queue, flight: Mutex::default(), completed: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock_anyway()
    }

    /// The newest submission known to be done, after looking at those in flight.
    pub fn completed(&self) -> Serial {
        self.reap(&mut self.lock());
        self.completed.load(Ordering::Acquire)
    }

    /// Takes note of committed work.
    pub fn push(&self, submitted: Submitted) {
        self.lock().submitted.push_back(submitted);
    }

    /// Waits until there is room for one more submission.
    pub fn wait_for_room(&self, counters: &Counters) {
        let oldest = {
            let mut flight = self.lock();
            self.reap(&mut flight);
            let excess = (flight.submitted.len() + 1).checked_sub(IN_FLIGHT + 1);
            excess.and_then(|at| flight.submitted.get(at)).map(|oldest| oldest.serial)
        };
        if let Some(serial) = oldest {
            self.wait(serial, counters);
        }
    }

    /// Waits until submission `serial` and all before it are done, with or without a fault.
    pub fn wait(&self, serial: Serial, counters: &Counters) {
        let mut counted = false;
        while self.completed.load(Ordering::Acquire) < serial {
            let root = {
                let mut flight = self.lock();
                self.reap(&mut flight);
                let ahead = flight.submitted.iter().find(|submitted| submitted.serial >= serial);
                ahead.and_then(|submitted| submitted.work.roots().last().cloned())
            };
            // Not in flight any more, so it is done.
            let Some(root) = root else { continue };
            if !counted {
                counters.waits.add(1);
                counted = true;
            }
            root.wait_until_completed();
        }
    }

    /// Waits for everything submitted so far; reports the first fault since the last call.
    pub fn sync(&self, counters: &Counters) -> Result<(), Error> {
        let newest = self.lock().submitted.back().map(|submitted| submitted.serial);
        if let Some(serial) = newest {
            self.wait(serial, counters);
        }
        match self.lock().unreported.take() {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    /// Removes done work from the front of the queue and passes its faults on.
    fn reap(&self, flight: &mut Flight) {
        while let Some(front) = flight.submitted.front() {
            if !front.work.roots().iter().all(|root| root.status().is_final()) {
                return;
            }
            let Some(done) = flight.submitted.pop_front() else {
                return;
            };
            let own = done.work.roots().iter().find(|root| root.status() == CommandBufferStatus::Error).map(fault_of);
            if let Some(fault) = &own {
                flight.unreported.get_or_insert_with(|| fault.clone());
            }
            let inherited = || {
                let cause = flight.faults.iter().find(|(serial, _)| done.reads_of.contains(serial));
                cause.map(|(_, fault)| fault.clone())
            };
            if let Some(fault) = own.or_else(|| done.fault.clone()).or_else(inherited) {
                for written in done.writes.iter().filter_map(Weak::upgrade) {
                    let _ = written.fault.set(fault.clone());
                }
                flight.faults.push((done.serial, fault));
            }
            if flight.submitted.is_empty() {
                flight.faults.clear();
            }
            // First drop the work's claims on its buffers, then publish that the host may have them.
            drop(done.work);
            self.completed.store(done.serial, Ordering::Release);
        }
    }
}

/// The error of a command buffer that ended in one.
fn fault_of(root: &CommandBuffer) -> Error {
    let reason = match root.error() {
        Some(error) => format!("a command buffer failed: {error}"),
        None => "a command buffer failed and gave no reason".to_string(),
    };
    Error::Device { reason }
}

impl Allocation {
    /// What a submission must know of a buffer that it reads: a fault as `Err`, else the submission in flight that
    /// writes it.
    pub fn read_dependency(self: &Arc<Self>, completed: Serial) -> Result<Option<Serial>, Error> {
        let written_by = self.written_by.load(Ordering::Acquire);
        if let Some(fault) = self.fault.get() {
            return Err(fault.clone());
        }
        Ok((written_by > completed).then_some(written_by))
    }
}
