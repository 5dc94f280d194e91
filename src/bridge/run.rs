//! One run of a program: finds or compiles its executable, binds buffers, encodes, commits, and notes which submission
//! uses which buffer.
//!
//! A run that fails has committed nothing.

use std::sync::Arc;
use std::time::Instant;

use burn_backend::DType;

use super::compile::{Compiled, compile};
use super::draft::Draft;
use super::moving::Moving;
use super::patterns;
use super::pool::Allocation;
use super::program::Program;
use super::runtime::Runtime;
use super::submission::Uses;
use super::value::State;
use crate::error::Error;
use crate::ffi::{MpsCommandBuffer, TensorData, Work};
use crate::lock::LockAnyway;
use crate::tensor_type::TensorType;

/// How a draft's program runs.
pub(super) struct Plan {
    compiled: Arc<Compiled>,
    /// The lanes to feed, if they are not the draft's.
    lanes: Option<Vec<f32>>,
}

/// A program that is not compiled.
pub(super) struct Miss {
    /// Whether it is asked for for the first time.
    pub first_seen: bool,
    /// Its form with fed starts, if that is to be compiled.
    pub moving: Option<Arc<Moving>>,
}

impl Runtime {
    /// The program's executable if it is compiled.
    pub(super) fn look_up(&self, draft: &Draft<'_>) -> Result<Plan, Miss> {
        let mut cache = self.cache.lock_anyway();
        if let Some(compiled) = cache.get(draft) {
            self.counters.cache_hits.add(1);
            self.log.hit(draft.ops());
            return Ok(Plan { compiled, lanes: None });
        }
        let Some(moving) = cache.moving(draft) else {
            let first_seen = cache.miss(draft.hash);
            return Err(Miss { first_seen, moving: None });
        };
        match cache.get_moving(&moving) {
            Some(compiled) => {
                self.counters.cache_hits.add(1);
                self.log.hit(draft.ops());
                Ok(Plan { compiled, lanes: Some(moving.lanes(draft)) })
            }
            None => {
                cache.miss(moving.hash);
                Err(Miss { first_seen: false, moving: Some(moving) })
            }
        }
    }

    /// Compiles a program, unless another thread has done so meanwhile. MPSGraph never runs two compilations at a time.
    pub(super) fn compile(&self, draft: &Draft<'_>, moving: Option<Arc<Moving>>) -> Plan {
        let graph_device = self.graph_device.lock_anyway();
        let lanes = moving.as_ref().map(|moving| moving.lanes(draft));
        let known = {
            let mut cache = self.cache.lock_anyway();
            match &moving {
                Some(moving) => cache.get_moving(moving),
                None => cache.get(draft),
            }
        };
        if let Some(compiled) = known {
            self.counters.cache_hits.add(1);
            return Plan { compiled, lanes };
        }
        let (hash, program) = match &moving {
            Some(moving) => (moving.hash, moving.program.clone()),
            None => (draft.hash, Arc::new(draft.program())),
        };
        self.log.compiling(&program, &self.cache.lock_anyway());
        let start = Instant::now();
        let mut rewritten = Program::clone(&program);
        if self.config.patterns {
            patterns::apply(&mut rewritten);
        }
        let compiled = Arc::new(compile(&rewritten, &graph_device));
        let elapsed = start.elapsed();
        self.counters.programs_compiled.add(1);
        self.counters.nodes_compiled.add(rewritten.schedule.len() as u64);
        self.counters.compile_nanoseconds.add(elapsed.as_nanos() as u64);
        self.counters.longest_compile_nanoseconds.raise_to(elapsed.as_nanos() as u64);
        self.log.compiled(elapsed);
        let mut cache = self.cache.lock_anyway();
        if moving.is_none() {
            cache.note_places(draft, &program);
        }
        cache.insert(hash, program, compiled.clone());
        Plan { compiled, lanes }
    }

    /// Runs a program on the buffers of its feeds without waiting for it.
    ///
    /// # Errors
    /// If there is no memory for what it makes, also when nothing else runs and no free buffer is kept.
    pub(super) fn run(&self, plan: &Plan, draft: &Draft<'_>, feeds: &[Arc<Allocation>]) -> Result<(), Error> {
        self.with_memory(|| self.try_run(plan, draft, feeds))
    }

    /// Does something that needs memory; if there is none, again when nothing is in flight and nothing kept for reuse.
    pub(super) fn with_memory<R>(&self, work: impl Fn() -> Result<R, Error>) -> Result<R, Error> {
        work().or_else(|_| {
            self.queue.wait_for_all(&self.counters);
            self.pool.purge();
            work()
        })
    }

    fn try_run(&self, plan: &Plan, draft: &Draft<'_>, feeds: &[Arc<Allocation>]) -> Result<(), Error> {
        let Plan { compiled, lanes } = plan;
        let lanes_fed = lanes.as_ref().unwrap_or(&draft.lanes);
        // What the program reads and nobody can ask for any more is held until it has run.
        let freed = draft.feeds.iter().filter(|value| !value.wanted()).map(|value| value.ty.bytes()).sum::<usize>();
        let held_bytes = compiled.scratch_bytes + freed;
        let mut encoder = loop {
            self.queue.wait_for_room(held_bytes, &self.counters);
            let encoder = self.encoder.lock_anyway();
            if self.queue.has_room(held_bytes) {
                break encoder;
            }
        };
        let lanes = self.lanes(lanes_fed)?;
        let (results, shown) = self.results(compiled, draft)?;
        let mut inputs = Vec::with_capacity(feeds.len() + 1);
        for (allocation, value) in feeds.iter().zip(&draft.feeds) {
            inputs.push(allocation.tensor_data(&value.ty)?);
        }
        if let Some(lanes) = &lanes {
            inputs.push(lanes.tensor_data(&TensorType::new(DType::F32, [lanes_fed.len()].into()))?);
        }
        let work = self.encode(compiled, &inputs, &shown);
        let reads = feeds.iter().chain(&lanes);
        self.queue.push(&mut encoder, work, Uses { reads, writes: results.iter(), held_bytes });
        for (value, &result) in draft.output_values().zip(&compiled.results) {
            value.set_state(State::Ready(results[result].clone()));
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

    /// A fresh buffer for each result, and as tensor data of the first output that it is.
    fn results(
        &self,
        compiled: &Compiled,
        draft: &Draft<'_>,
    ) -> Result<(Vec<Arc<Allocation>>, Vec<TensorData>), Error> {
        let count = compiled.target_order.len();
        let (mut results, mut shown) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (value, &result) in draft.output_values().zip(&compiled.results) {
            if result == results.len() {
                let allocation = self.pool.for_device(value.ty.bytes())?;
                shown.push(allocation.tensor_data(&value.ty)?);
                results.push(allocation);
            }
        }
        Ok((results, shown))
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
