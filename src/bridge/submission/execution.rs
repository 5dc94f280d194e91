//! What MPSGraph tells of an execution.
//!
//! The status of a command buffer tells of that one. MPSGraph may commit inside an encode, several times (four times in
//! 400 operations, DrewsChessMachine has measured on macOS 27.2), and no method gives the command buffers between the
//! first and the last. What tells of them is the completion handler of the execution. Apple documents that it is called
//! when the execution has ended, with an error if one occurred, but not on which thread, nor whether before or after
//! the handlers of the last command buffer. DrewsChessMachine has seen it called once per encode, also with commits
//! inside. In the MPSGraph of iOS 18, which is that of macOS 15 (decompiled in
//! EthanArbuckle/iPhone17-1_18.2_22C152_Restore), it is a handler of the last command buffer and gives the error of
//! that one. So there a fault in one between is noticed only if it makes the later ones fail too, as most do: the
//! system ignores what a process submits after it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::Submitted;
use super::fault::Fault;
use crate::error::Error;
use crate::ffi::NsError;

/// How long after the last command buffer has ended the handler may still be called. If it is not called, no later
/// submission waits for it, until it is called again: a system that calls none must not be slow.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many executions are remembered whose handler was not called in time.
const REMEMBERED: usize = 64;

/// What was told of an execution.
#[derive(Default)]
pub(in crate::bridge) struct Execution {
    told: AtomicBool,
    /// Why it failed, if it did.
    error: OnceLock<NsError>,
}

impl Execution {
    /// Notes that it has ended.
    pub fn tell(&self, error: Option<NsError>) {
        if let Some(error) = error {
            let _ = self.error.set(error);
        }
        self.told.store(true, Ordering::Release);
    }

    fn is_told(&self) -> bool {
        self.told.load(Ordering::Acquire)
    }

    /// Why it failed.
    pub(super) fn fault(&self) -> Option<Fault> {
        let error = self.error.get()?;
        Some(Fault::new("an execution failed in one of its command buffers", Some(error)))
    }
}

/// The handlers that are late.
#[derive(Default)]
pub(super) struct Late {
    /// Until when the oldest submission waits for its handler.
    until: Option<Instant>,
    /// Whether a handler was not called in time, and none has been called since.
    silent: bool,
    /// Executions for which nobody waits any more.
    untold: Vec<Arc<Execution>>,
}

impl Late {
    /// Whether nothing more is to be told of the oldest submission, all of whose command buffers have ended.
    pub fn is_settled(&mut self, oldest: &Submitted) -> bool {
        if oldest.execution.is_told() {
            self.silent = false;
        } else if oldest.work.committed_inside() {
            let now = Instant::now();
            if !self.silent && now < *self.until.get_or_insert(now + PATIENCE) {
                return false;
            }
            self.silent = true;
            if self.untold.len() < REMEMBERED {
                self.untold.push(oldest.execution.clone());
            }
        }
        self.until = None;
        true
    }

    /// Until when the oldest submission waits for its handler.
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// The oldest submission was given up.
    pub fn forget_oldest(&mut self) {
        self.until = None;
    }

    /// A fault that was told too late for the reads of what it hit.
    pub fn told(&mut self) -> Option<Error> {
        let told = self.untold.iter().position(|execution| execution.is_told())?;
        self.silent = false;
        self.untold.swap_remove(told).fault().map(|fault| fault.error)
    }
}
