//! A flush: from a cut of a recording to a committed command buffer.
//!
//! Compiling and encoding happen under one lock, so programs reach the queue in the order of their flushes, MPSGraph
//! never compiles twice at a time and one thread encodes. Recording goes on meanwhile; so does waiting for results.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use burn_backend::DType;
use smallvec::SmallVec;

use super::cache::Cache;
use super::compile::{Compiled, compile};
use super::pool::{Allocation, Serial};
use super::program::{Binding, Program, initial};
use super::recording::{Recording, Segment};
use super::runtime::Runtime;
use super::submission::Submitted;
use super::value::{State, Value};
use crate::error::Error;
use crate::ffi::{self, GraphDevice, MpsCommandBuffer, TensorData};
use crate::tensor::TensorType;

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

/// What only the flushing thread touches.
pub(super) struct Submitter {
    pub graph_device: GraphDevice,
    pub cache: Cache,
    epoch: u32,
    serial: Serial,
    /// Reused between flushes.
    lane_bytes: Vec<u8>,
}

impl Submitter {
    pub fn new(graph_device: GraphDevice, cache: Cache) -> Self {
        Self { graph_device, cache, epoch: 1, serial: 0, lane_bytes: Vec::new() }
    }

    /// A number for marking values that no earlier build used; the one before it is free for scratch marks.
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
        // A program that was never asked for may begin with what initialises a model. That runs by itself, so that what
        // is left is what later steps run, and need not be compiled again for them.
        if submitter.cache.first_seen(&program) {
            let initial = initial(&nodes, &wanted, submitter.next_epoch());
            if initial.contains(&true) {
                let (first, first_binding) = Program::build(&nodes, &initial, submitter.next_epoch());
                self.submit(&mut submitter, first, &first_binding);
                wanted.iter_mut().zip(&initial).for_each(|(wanted, done)| *wanted &= !done);
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
        // Whatever stops the submission, nobody may wait for these values for ever.
        let unfinished = Unfinished(&binding.outputs);
        let result = ffi::autoreleasepool(|| self.run(submitter, program, binding));
        std::mem::forget(unfinished);
        if let Err(error) = result {
            binding.outputs.iter().for_each(|value| value.set_state(State::Failed(error.clone())));
        }
    }

    fn run(&self, submitter: &mut Submitter, program: Program, binding: &Binding) -> Result<(), Error> {
        let feed_types: &[TensorType] = &program.feeds;
        self.queue.wait_for_room(&self.counters);
        let completed = self.queue.completed();

        let mut feeds: Vec<Arc<Allocation>> = Vec::with_capacity(binding.feeds.len() + 1);
        let mut inputs: Vec<TensorData> = Vec::with_capacity(binding.feeds.len() + 1);
        let mut reads_of: SmallVec<[Serial; 4]> = SmallVec::new();
        let mut fault = None;
        for (value, ty) in binding.feeds.iter().zip(feed_types) {
            let allocation = match value.state() {
                State::Ready(allocation) => allocation,
                State::Failed(error) => return Err(error),
                State::Recorded { .. } | State::Empty => {
                    unreachable!("a fed value is flushed and has elements")
                }
            };
            match allocation.read_dependency(completed) {
                Ok(None) => {}
                Ok(Some(serial)) if reads_of.contains(&serial) => {}
                Ok(Some(serial)) => reads_of.push(serial),
                Err(error) => fault = Some(error),
            }
            inputs.push(allocation.tensor_data(ty)?);
            feeds.push(allocation);
        }
        if !binding.lanes.is_empty() {
            let lanes = self.feed_lanes(submitter, &binding.lanes, completed)?;
            let ty = TensorType::new(DType::F32, [binding.lanes.len()].into());
            inputs.push(lanes.tensor_data(&ty)?);
            feeds.push(lanes);
        }
        let mut outputs: Vec<Arc<Allocation>> = Vec::with_capacity(binding.outputs.len());
        let mut results: Vec<TensorData> = Vec::with_capacity(binding.outputs.len());
        for value in &binding.outputs {
            let allocation = self.pool.for_device(value.ty.bytes())?;
            results.push(allocation.tensor_data(&value.ty)?);
            outputs.push(allocation);
        }

        let compiled = self.compiled(submitter, program);
        let mut command_buffer = MpsCommandBuffer::from_queue(&self.queue.queue);
        let inputs: Vec<&TensorData> = compiled.feed_order.iter().map(|&at| &inputs[at]).collect();
        let results: Vec<&TensorData> = compiled.target_order.iter().map(|&at| &results[at]).collect();
        compiled.executable.encode(&mut command_buffer, &inputs, &results);
        let work = command_buffer.commit();
        self.counters.executions.add(1);
        self.counters.commits.add(1);

        submitter.serial += 1;
        let serial = submitter.serial;
        for allocation in feeds.iter().chain(&outputs) {
            allocation.used_by(serial);
        }
        for allocation in &outputs {
            allocation.written_by.store(serial, Ordering::Release);
        }
        let writes = outputs.iter().map(Arc::downgrade).collect();
        self.queue.push(Submitted { serial, work, reads_of, fault, writes });
        for (value, allocation) in binding.outputs.iter().zip(outputs) {
            value.set_state(State::Ready(allocation));
        }
        Ok(())
    }

    fn feed_lanes(
        &self,
        submitter: &mut Submitter,
        lanes: &[f32],
        completed: Serial,
    ) -> Result<Arc<Allocation>, Error> {
        submitter.lane_bytes.clear();
        submitter.lane_bytes.extend_from_slice(bytemuck::cast_slice(lanes));
        self.host_buffer(&submitter.lane_bytes, completed)
    }

    fn compiled(&self, submitter: &mut Submitter, program: Program) -> Arc<Compiled> {
        if let Some(compiled) = submitter.cache.get(&program) {
            self.counters.cache_hits.add(1);
            return compiled;
        }
        if self.config.log > 1 {
            eprintln!("burn-mpsgraph: compile\n{program}");
        }
        let start = Instant::now();
        let compiled = Arc::new(compile(&program, &submitter.graph_device));
        self.counters.programs_compiled.add(1);
        self.counters.compile_nanoseconds.add(start.elapsed().as_nanos() as u64);
        submitter.cache.insert(program, compiled.clone());
        compiled
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
