//! One run of a program: finds or compiles its executable, binds buffers, encodes, commits, and notes which submission
//! uses which buffer.
//!
//! A run that fails has committed nothing.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use smallvec::SmallVec;

use super::cache::{Followed, Seen};
use super::compile::{Compiled, compile, level};
use super::draft::Draft;
use super::kept::{FirstEncode, Found};
use super::moving::{Form, Moving};
use super::patterns;
use super::pool::{Allocation, BufferData};
use super::program::Program;
use super::recording::Segment;
use super::runtime::Runtime;
use super::submission::{Encoder, Execution, Uses};
use super::value::State;
use crate::error::Error;
use crate::ffi::{GraphDevice, MpsCommandBuffer, Work};
use crate::lock::LockAnyway;
use crate::lowering::scalar::{Lanes, Layout, ScalarInput};
use crate::tensor_type::TensorType;

/// Buffers; a few need no memory for the list.
type Allocations = SmallVec<[Arc<Allocation>; 4]>;

/// How a draft's program runs.
pub(super) struct Plan {
    compiled: Arc<Compiled>,
    /// What is fed for its scalars.
    lanes: Lanes,
    /// If the program is kept on disk and was loaded or compiled for this run.
    first: Cell<Option<FirstEncode>>,
}

/// A program that is not compiled.
pub(super) struct Miss {
    /// The draft's, or that of all drafts which will run the same program once it is compiled.
    pub hash: u64,
    pub seen: Seen,
    /// Its form with fed starts, if that is to be compiled.
    pub moving: Option<Arc<Moving>>,
}

impl Runtime {
    /// How the program of a segment with this key runs, if it is recorded like an earlier one and its executable is
    /// there; then `draft` becomes its draft.
    pub(super) fn follow<'a>(&self, segment: &'a Segment, key: u64, draft: &mut Draft<'a>) -> Option<Plan> {
        let Followed { compiled, moving } = self.cache.lock_anyway().follow(segment, key, draft)?;
        let plan = match moving {
            Some(moving) => self.plan(compiled, &moving.scalars(draft)),
            None => self.plan(compiled, &draft.scalars),
        }?;
        self.log.hit(draft.ops());
        Some(plan)
    }

    /// The program's executable if it is compiled. If the draft is of a whole segment, whose key is given, later ones
    /// that are recorded like it can [follow](Self::follow) it.
    pub(super) fn look_up(&self, draft: &Draft<'_>, key: Option<u64>) -> Result<Plan, Miss> {
        let found = self.find(draft, key);
        if found.is_ok() {
            self.log.hit(draft.ops());
        }
        found
    }

    /// The same without a line in the log, which is not written while the cache is locked.
    fn find(&self, draft: &Draft<'_>, key: Option<u64>) -> Result<Plan, Miss> {
        let mut cache = self.cache.lock_anyway();
        let hash = draft.hash();
        if let Some(compiled) = cache.get(draft, hash) {
            key.into_iter().for_each(|key| cache.note_track(key, draft, hash, None));
            let plan = self.plan(compiled, &draft.scalars);
            return plan.ok_or(Miss { hash, seen: Seen::Compiled, moving: None });
        }
        let moving = match cache.form(draft, hash) {
            Form::Moving(moving) => moving,
            Form::Plain { hash: of_form } => {
                let seen = cache.miss(hash);
                return Err(Miss { hash: of_form, seen, moving: None });
            }
        };
        let found = cache.get_moving(&moving);
        match found.and_then(|compiled| self.plan(compiled, &moving.scalars(draft))) {
            Some(plan) => {
                key.into_iter().for_each(|key| cache.note_track(key, draft, moving.hash, Some(&moving)));
                Ok(plan)
            }
            None => {
                cache.miss(moving.hash);
                Err(Miss { hash, seen: Seen::Compiled, moving: Some(moving) })
            }
        }
    }

    /// A run of a compiled program; `None` if scalars differ that share lanes in it.
    fn plan(&self, compiled: Arc<Compiled>, scalars: &[ScalarInput]) -> Option<Plan> {
        let lanes = compiled.layout.lanes(scalars)?;
        self.counters.cache_hits.add(1);
        Some(Plan { compiled, lanes, first: Cell::default() })
    }

    /// Compiles a program, unless another thread has done so meanwhile. MPSGraph never runs two compilations at a time.
    pub(super) fn compile(&self, draft: &Draft<'_>, moving: Option<Arc<Moving>>) -> Plan {
        let hash = moving.as_ref().map_or_else(|| draft.hash(), |moving| moving.hash);
        let graph_device = self.graph_device.lock_anyway();
        let known = {
            let mut cache = self.cache.lock_anyway();
            match &moving {
                Some(moving) => cache.get_moving(moving),
                None => cache.get(draft, hash),
            }
        };
        let scalars = moving.as_ref().map_or_else(|| draft.scalars.clone(), |moving| moving.scalars(draft));
        if let Some(plan) = known.clone().and_then(|compiled| self.plan(compiled, &scalars)) {
            drop(graph_device);
            self.log.hit(draft.ops());
            return plan;
        }
        let program = moving.as_ref().map_or_else(|| Arc::new(draft.program()), |moving| moving.program.clone());
        let layout = Layout::new(&scalars, known.as_ref().map(|known| &known.layout));
        let Some(lanes) = layout.lanes(&scalars) else { unreachable!("the layout is that of the scalars") };
        let (compiled, first) = self.load_or_compile(&program, layout, &graph_device);
        let compiled = Arc::new(compiled);
        let mut cache = self.cache.lock_anyway();
        if moving.is_none() {
            cache.note_places(draft, &program);
        }
        cache.insert(hash, program, compiled.clone());
        Plan { compiled, lanes, first: Cell::new(first) }
    }

    /// The executable of a program, which another process may have kept.
    fn load_or_compile(
        &self,
        program: &Program,
        layout: Layout,
        graph_device: &GraphDevice,
    ) -> (Compiled, Option<FirstEncode>) {
        let start = Instant::now();
        let mut rewritten = program.clone();
        if self.config.patterns {
            patterns::apply(&mut rewritten, &layout);
        }
        let level = level(&rewritten, &layout, self.config.level_1);
        let kept = self.kept.as_ref().map(|kept| (kept, kept.key(&rewritten, &layout, level)));
        let found = kept.as_ref().map(|(kept, key)| kept.load(key, &rewritten, &layout, graph_device));
        let keeps = matches!(found, Some(Found::Nothing));
        if let Some(Found::Loaded(compiled, first)) = found {
            self.counters.programs_loaded.add(1);
            self.log.loaded(program, start.elapsed());
            return (compiled, Some(first));
        }
        self.log.compiling(program, &rewritten, &self.cache);
        let start = Instant::now();
        let compiled = compile(&rewritten, layout, level, graph_device);
        let elapsed = start.elapsed();
        self.counters.programs_compiled.add(1);
        self.counters.nodes_compiled.add(rewritten.schedule.len() as u64);
        self.counters.compile_nanoseconds.add(elapsed.as_nanos() as u64);
        self.counters.longest_compile_nanoseconds.raise_to(elapsed.as_nanos() as u64);
        self.log.compiled(elapsed);
        let kept = kept.filter(|_| keeps);
        let first = kept.and_then(|(kept, key)| kept.keep(&key, &compiled, elapsed));
        self.counters.programs_kept.add(u64::from(first.is_some()));
        (compiled, first)
    }

    /// Runs a program on the buffers of its feeds without waiting for it.
    ///
    /// # Errors
    /// If there is no memory for what it makes, also when nothing else runs and no free buffer is kept; if the device
    /// hangs, or what a feed holds was lost in a hang.
    pub(super) fn run(&self, plan: &Plan, draft: &Draft<'_>, feeds: &[Arc<Allocation>]) -> Result<(), Error> {
        self.with_memory(|| self.try_run(plan, draft, feeds))
    }

    /// Does something that needs memory; if there is none, again when nothing is in flight and nothing kept for reuse.
    pub(super) fn with_memory<R>(&self, work: impl Fn() -> Result<R, Error>) -> Result<R, Error> {
        let outcome = work();
        if !matches!(outcome, Err(Error::OutOfMemory { .. })) {
            return outcome;
        }
        self.submissions.wait_for_all(&self.counters);
        self.pool.purge();
        work()
    }

    fn try_run(&self, plan: &Plan, draft: &Draft<'_>, feeds: &[Arc<Allocation>]) -> Result<(), Error> {
        let Plan { compiled, lanes, .. } = plan;
        // What the program reads and nobody can ask for any more is held until it has run.
        let held_bytes = compiled.scratch_bytes + draft.own_bytes();
        let mut encoder = loop {
            let mut encoder = self.encoder.lock_anyway();
            if self.submissions.open(&mut encoder, held_bytes, &self.device)? {
                break encoder;
            }
            drop(encoder);
            self.submissions.wait_for_room(held_bytes, &self.counters);
        };
        // What was fed may have been given up while this waited; then the hung work may write it at any time.
        if let Some(fault) = feeds.iter().find_map(|feed| feed.fault.get()) {
            return Err((**fault).clone());
        }
        let lanes = self.lanes(lanes, &compiled.fed[feeds.len()..])?;
        let fed = || feeds.iter().chain(&lanes);
        let results = self.results(compiled, draft)?;
        let mut inputs = SmallVec::<[BufferData<'_>; 4]>::with_capacity(compiled.fed.len());
        for (allocation, ty) in fed().zip(&compiled.fed) {
            inputs.push(allocation.tensor_data(ty)?);
        }
        let mut shown = SmallVec::<[BufferData<'_>; 4]>::with_capacity(results.len());
        for (value, &result) in draft.output_values().zip(&compiled.results) {
            if result == shown.len() {
                shown.push(results[result].tensor_data(&value.ty)?);
            }
        }
        let work = self.encode(&encoder, plan, &inputs, &shown);
        self.submissions.push(&mut encoder, work, Uses { reads: fed(), writes: results.iter(), held_bytes });
        for (value, &result) in draft.output_values().zip(&compiled.results) {
            value.set_state(State::Ready(results[result].clone()));
        }
        Ok(())
    }

    /// The buffers of lanes, which have these types.
    fn lanes(&self, lanes: &Lanes, types: &[TensorType]) -> Result<SmallVec<[Arc<Allocation>; 2]>, Error> {
        let buffer = |(bytes, ty)| self.host_buffer(bytes, ty, self.submissions.completed());
        lanes.bytes().zip(types).map(buffer).collect()
    }

    /// A fresh buffer for each result.
    fn results(&self, compiled: &Compiled, draft: &Draft<'_>) -> Result<Allocations, Error> {
        let mut results = SmallVec::with_capacity(compiled.target_order.len());
        for (value, &result) in draft.output_values().zip(&compiled.results) {
            if result == results.len() {
                results.push(self.pool.for_device(&value.ty)?);
            }
        }
        Ok(results)
    }

    /// Encodes and commits.
    fn encode(
        &self,
        encoder: &Encoder,
        plan: &Plan,
        inputs: &[BufferData<'_>],
        results: &[BufferData<'_>],
    ) -> (Work, Arc<Execution>) {
        let compiled = &plan.compiled;
        let mut command_buffer = MpsCommandBuffer::from_queue(encoder.queue());
        let inputs = compiled.feed_order.iter().map(|&at| &*inputs[at]);
        let results = compiled.target_order.iter().map(|&at| &*results[at]);
        let (execution, serial) = (Arc::new(Execution::default()), encoder.next_serial());
        let (told, waiting) = (execution.clone(), self.submissions.waiting);
        let mut begun = None;
        let begin = || begun = plan.first.take().map(FirstEncode::begin);
        let time = compiled.executable.encode(&mut command_buffer, inputs, results, begin, move |error| {
            told.tell(error);
            waiting.ended(serial);
        });
        if let (Some(begun), Some(time)) = (begun, time) {
            begun.end(time);
        }
        command_buffer.on_completed(move |_| waiting.ended(serial));
        let work = command_buffer.commit();
        // The encoder is locked.
        self.counters.executions.add_locked(1);
        self.counters.commits.add_locked(1);
        (work, execution)
    }
}
