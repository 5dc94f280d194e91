//! A flush: cuts a recording and submits it as programs; `run` runs one of them.
//!
//! Compiling and encoding happen under one lock, so programs reach the queue in the order of their flushes, MPSGraph
//! never runs two compilations at a time, and one thread at a time encodes. Other threads can record and wait for
//! results meanwhile.

use std::sync::Arc;

use super::cache::Cache;
use super::pool::Serial;
use super::program::{Binding, Program, initializers};
use super::recording::{Recording, Segment};
use super::runtime::Runtime;
use super::value::{State, Value};
use crate::error::Error;
use crate::ffi::{self, GraphDevice};

/// Why a recording is flushed; written to the log.
#[derive(Clone, Copy, Debug)]
pub(super) enum FlushReason {
    /// The recording thread reads a value.
    Read,
    /// Another thread reads or uses a value.
    OtherThread,
    /// `sync` was called.
    Sync,
    /// Too many ops or bytes are recorded.
    Bound,
    /// `BURN_MPSGRAPH_EAGER=1`.
    Eager,
}

/// State that only the flushing thread touches.
pub(super) struct Submitter {
    pub graph_device: GraphDevice,
    pub cache: Cache,
    /// Of the newest submission.
    pub serial: Serial,
    epoch: u32,
}

impl Submitter {
    pub fn new(graph_device: GraphDevice, cache: Cache) -> Self {
        Self { graph_device, cache, epoch: 1, serial: 0 }
    }

    /// A number for marking values that no earlier build used; the number before it is free for scratch marks.
    fn next_epoch(&mut self) -> u32 {
        self.epoch = self.epoch.wrapping_add(2);
        self.epoch
    }
}

impl Runtime {
    /// Submits what `recording` holds up to serial number `upto` (everything if `None`) without waiting for it.
    /// A failure to submit is kept in the values that the work should have made.
    pub(super) fn flush(&self, recording: &Recording, upto: Option<u64>, reason: FlushReason) {
        self.adopted().retain(|recording| !recording.forget_unheld());
        let mut submitter = self.submitter();
        let Some(segment) = recording.cut(upto) else {
            return;
        };
        if self.config.log > 0 {
            eprintln!("burn-mpsgraph: flush ({reason:?}): {} ops recorded", segment.nodes.len());
        }
        let Segment { nodes, mut wanted } = segment;
        let (mut program, mut binding) = Program::build(&nodes, &wanted, submitter.next_epoch());
        // A program that was never asked for may begin with the ops that initialise a model. Those run by themselves,
        // so the rest is the program of later steps too, which is then compiled already.
        if submitter.cache.first_seen(&program) {
            let first_part = initializers(&nodes, &wanted, submitter.next_epoch());
            if first_part.contains(&true) {
                let (first, first_binding) = Program::build(&nodes, &first_part, submitter.next_epoch());
                self.submit(&mut submitter, first, &first_binding);
                wanted.iter_mut().zip(&first_part).for_each(|(wanted, done)| *wanted &= !done);
                (program, binding) = Program::build(&nodes, &wanted, submitter.next_epoch());
            }
        }
        self.submit(&mut submitter, program, &binding);
    }

    /// Runs a program; if that fails, the values it should have made keep the reason.
    fn submit(&self, submitter: &mut Submitter, program: Program, binding: &Binding) {
        if program.nodes.is_empty() {
            return;
        }
        // However the submission ends, no reader may wait for these values for ever.
        let unfinished = Unfinished(&binding.outputs);
        let result = ffi::autoreleasepool(|| self.run(submitter, program, binding));
        std::mem::forget(unfinished);
        if let Err(error) = result {
            binding.outputs.iter().for_each(|value| value.set_state(State::Failed(error.clone())));
        }
    }
}

/// Marks values as failed if a flush unwinds before it has submitted them.
struct Unfinished<'a>(&'a [Arc<Value>]);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let error = Error::Device { reason: "the flush that should have made this value panicked".into() };
        self.0.iter().for_each(|value| value.set_state(State::Failed(error.clone())));
    }
}
