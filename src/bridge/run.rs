//! One run of a program: binds buffers, encodes the executable, commits the command buffer, and notes which submission
//! uses which buffer.
//!
//! A run that fails has committed nothing; its error goes into the values that it should have made (see `flush`).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use burn_backend::DType;
use smallvec::SmallVec;

use super::compile::{Compiled, compile};
use super::flush::Submitter;
use super::pool::{Allocation, Serial};
use super::program::{Binding, Program};
use super::runtime::Runtime;
use super::submission::Submitted;
use super::value::{State, Value};
use crate::error::Error;
use crate::ffi::{MpsCommandBuffer, TensorData, Work};
use crate::tensor_type::TensorType;

/// Buffers in the order of the program, and the tensor data that shows each to MPSGraph.
#[derive(Default)]
struct Bound {
    allocations: Vec<Arc<Allocation>>,
    data: Vec<TensorData>,
}

impl Bound {
    fn push(&mut self, allocation: Arc<Allocation>, ty: &TensorType) -> Result<(), Error> {
        self.data.push(allocation.tensor_data(ty)?);
        self.allocations.push(allocation);
        Ok(())
    }

    /// The tensor data in the order of the executable.
    fn in_order<'a>(&'a self, order: &[usize]) -> Vec<&'a TensorData> {
        order.iter().map(|&at| &self.data[at]).collect()
    }
}

/// What the fed buffers depend on.
#[derive(Default)]
struct Dependencies {
    /// Submissions in flight that write one of them.
    reads_of: SmallVec<[Serial; 4]>,
    /// A fault in one of them.
    fault: Option<Error>,
}

impl Runtime {
    /// Runs `program` on the buffers of `binding` without waiting for it.
    pub(super) fn run(&self, submitter: &mut Submitter, program: Program, binding: &Binding) -> Result<(), Error> {
        self.queue.wait_for_room(&self.counters);
        let (feeds, dependencies) = self.bind_feeds(&program, binding)?;
        let outputs = self.bind_outputs(binding)?;
        let compiled = self.compiled(submitter, program);
        let work = self.encode(&compiled, &feeds, &outputs);
        self.account(submitter, &feeds, &outputs, dependencies, work);
        for (value, allocation) in binding.outputs.iter().zip(outputs.allocations) {
            value.set_state(State::Ready(allocation));
        }
        Ok(())
    }

    /// The fed values' buffers, and behind them one with the lanes of all scalars, if there are any.
    fn bind_feeds(&self, program: &Program, binding: &Binding) -> Result<(Bound, Dependencies), Error> {
        let completed = self.queue.completed();
        let (mut feeds, mut dependencies) = (Bound::default(), Dependencies::default());
        for (value, ty) in binding.feeds.iter().zip(&program.feeds) {
            let allocation = fed(value)?;
            match allocation.read_dependency(completed) {
                Ok(None) => {}
                Ok(Some(serial)) if dependencies.reads_of.contains(&serial) => {}
                Ok(Some(serial)) => dependencies.reads_of.push(serial),
                Err(error) => dependencies.fault = Some(error),
            }
            feeds.push(allocation, ty)?;
        }
        if !binding.lanes.is_empty() {
            let lanes = self.host_buffer(bytemuck::cast_slice(&binding.lanes), completed)?;
            feeds.push(lanes, &TensorType::new(DType::F32, [binding.lanes.len()].into()))?;
        }
        Ok((feeds, dependencies))
    }

    /// A fresh buffer for each value that leaves the program.
    fn bind_outputs(&self, binding: &Binding) -> Result<Bound, Error> {
        let mut outputs = Bound::default();
        for value in &binding.outputs {
            outputs.push(self.pool.for_device(value.ty.bytes())?, &value.ty)?;
        }
        Ok(outputs)
    }

    /// The program's executable, from the cache or compiled now.
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

    /// Encodes and commits.
    fn encode(&self, compiled: &Compiled, feeds: &Bound, outputs: &Bound) -> Work {
        let mut command_buffer = MpsCommandBuffer::from_queue(&self.queue.queue);
        let (inputs, results) = (feeds.in_order(&compiled.feed_order), outputs.in_order(&compiled.target_order));
        compiled.executable.encode(&mut command_buffer, &inputs, &results);
        let work = command_buffer.commit();
        self.counters.executions.add(1);
        self.counters.commits.add(1);
        work
    }

    /// Notes in the buffers and in the queue which submission uses and writes what.
    fn account(
        &self,
        submitter: &mut Submitter,
        feeds: &Bound,
        outputs: &Bound,
        Dependencies { reads_of, fault }: Dependencies,
        work: Work,
    ) {
        submitter.serial += 1;
        let serial = submitter.serial;
        for allocation in feeds.allocations.iter().chain(&outputs.allocations) {
            allocation.used_by(serial);
        }
        for allocation in &outputs.allocations {
            allocation.written_by.store(serial, Ordering::Release);
        }
        let writes = outputs.allocations.iter().map(Arc::downgrade).collect();
        self.queue.push(Submitted { serial, work, reads_of, fault, writes });
    }
}

/// The buffer of a fed value.
fn fed(value: &Value) -> Result<Arc<Allocation>, Error> {
    match value.state() {
        State::Ready(allocation) => Ok(allocation),
        State::Failed(error) => Err(error),
        State::Recorded { .. } | State::Empty => unreachable!("a fed value is flushed and has elements"),
    }
}
