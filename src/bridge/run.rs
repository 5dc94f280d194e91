//! One run of a program: finds or compiles its executable, binds buffers, encodes, commits, and notes which submission
//! uses which buffer.
//!
//! A run that fails has committed nothing.

use std::sync::Arc;
use std::time::Instant;

use burn_backend::DType;

use super::compile::{Compiled, compile};
use super::draft::Draft;
use super::pool::Allocation;
use super::runtime::Runtime;
use super::submission::Uses;
use super::value::State;
use crate::error::Error;
use crate::ffi::{MpsCommandBuffer, TensorData, Work};
use crate::lock::LockAnyway;
use crate::tensor_type::TensorType;

impl Runtime {
    /// The program's executable if it is compiled; else whether the program is asked for for the first time.
    pub(super) fn look_up(&self, draft: &Draft<'_>) -> Result<Arc<Compiled>, bool> {
        let mut cache = self.cache.lock_anyway();
        match cache.get(draft) {
            Some(compiled) => {
                self.counters.cache_hits.add(1);
                Ok(compiled)
            }
            None => Err(cache.miss(draft.hash)),
        }
    }

    /// Compiles a program, unless another thread has done so meanwhile. MPSGraph never runs two compilations at a time.
    pub(super) fn compile(&self, draft: &Draft<'_>) -> Arc<Compiled> {
        let graph_device = self.graph_device.lock_anyway();
        if let Some(compiled) = self.cache.lock_anyway().get(draft) {
            self.counters.cache_hits.add(1);
            return compiled;
        }
        let program = draft.program();
        if self.config.log > 1 {
            eprintln!("burn-mpsgraph: compile\n{program}");
        }
        let start = Instant::now();
        let compiled = Arc::new(compile(&program, &graph_device));
        self.counters.programs_compiled.add(1);
        self.counters.compile_nanoseconds.add(start.elapsed().as_nanos() as u64);
        self.cache.lock_anyway().insert(draft.hash, program, compiled.clone());
        compiled
    }

    /// Runs a program on the buffers of its feeds without waiting for it.
    ///
    /// # Errors
    /// If there is no memory for what it makes, also when nothing else runs and no free buffer is kept.
    pub(super) fn run(&self, compiled: &Compiled, draft: &Draft<'_>, feeds: &[Arc<Allocation>]) -> Result<(), Error> {
        self.try_run(compiled, draft, feeds).or_else(|_| {
            self.queue.wait_for_all(&self.counters);
            self.pool.purge();
            self.try_run(compiled, draft, feeds)
        })
    }

    fn try_run(&self, compiled: &Compiled, draft: &Draft<'_>, feeds: &[Arc<Allocation>]) -> Result<(), Error> {
        let mut encoder = loop {
            self.queue.wait_for_room(compiled.scratch_bytes, &self.counters);
            let encoder = self.encoder.lock_anyway();
            if self.queue.has_room(compiled.scratch_bytes) {
                break encoder;
            }
        };
        let lanes = self.lanes(&draft.lanes)?;
        let results = self.results(compiled, draft)?;
        let mut inputs = Vec::with_capacity(feeds.len() + 1);
        for (allocation, value) in feeds.iter().zip(&draft.feeds) {
            inputs.push(allocation.tensor_data(&value.ty)?);
        }
        if let Some(lanes) = &lanes {
            inputs.push(lanes.tensor_data(&TensorType::new(DType::F32, [draft.lanes.len()].into()))?);
        }
        let shown: Vec<TensorData> = results.iter().map(|(_, data)| data.clone()).collect();
        let work = self.encode(compiled, &inputs, &shown);
        let reads = feeds.iter().chain(&lanes);
        let writes = results.iter().map(|(allocation, _)| allocation);
        self.queue.push(&mut encoder, work, Uses { reads, writes, scratch_bytes: compiled.scratch_bytes });
        for (value, &result) in draft.output_values().zip(&compiled.results) {
            value.set_state(State::Ready(results[result].0.clone()));
        }
        Ok(())
    }

    /// A buffer with the lanes of all scalars, if there are any.
    fn lanes(&self, lanes: &[f32]) -> Result<Option<Arc<Allocation>>, Error> {
        if lanes.is_empty() {
            return Ok(None);
        }
        self.host_buffer(bytemuck::cast_slice(lanes), self.queue.completed()).map(Some)
    }

    /// A fresh buffer for each result, as tensor data of the first output that it is.
    fn results(&self, compiled: &Compiled, draft: &Draft<'_>) -> Result<Vec<(Arc<Allocation>, TensorData)>, Error> {
        let mut results = Vec::with_capacity(compiled.target_order.len());
        for (value, &result) in draft.output_values().zip(&compiled.results) {
            if result == results.len() {
                let allocation = self.pool.for_device(value.ty.bytes())?;
                let data = allocation.tensor_data(&value.ty)?;
                results.push((allocation, data));
            }
        }
        Ok(results)
    }

    /// Encodes and commits.
    fn encode(&self, compiled: &Compiled, inputs: &[TensorData], results: &[TensorData]) -> Work {
        let mut command_buffer = MpsCommandBuffer::from_queue(&self.queue.queue);
        let inputs: Vec<&TensorData> = compiled.feed_order.iter().map(|&at| &inputs[at]).collect();
        let results: Vec<&TensorData> = compiled.target_order.iter().map(|&at| &results[at]).collect();
        compiled.executable.encode(&mut command_buffer, &inputs, &results);
        let work = command_buffer.commit();
        self.counters.executions.add(1);
        self.counters.commits.add(1);
        work
    }
}
