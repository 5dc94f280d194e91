//! The steps of a compiled graph and the memory they work in.

use super::Job;
use super::assembly::Parts;
use super::block::Block;
use super::memory::{self, Interval};
use super::scratch::{Need, SHELF, Workspace};
use super::step::{Copy, Packed, Step, Storage};
use super::timing;
use crate::ir::TensorType;
use crate::kernels::call::Input;
use crate::kernels::span::{Span, SpanMut};
use crate::kernels::strided;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Down to this time, runs are measured.
const MEASURED: Duration = Duration::from_micros(100);

/// A compiled graph. It can be shared between threads, which may run it at the same time.
#[derive(Debug)]
pub struct Plan {
    feeds: Vec<TensorType>,
    targets: Vec<TensorType>,
    steps: Vec<Step>,
    constants: Block,
    constant_pieces: Vec<Piece>,
    scratch_pieces: Vec<Piece>,
    scratch: Need,
    /// Of the runs so far; the largest number before the first.
    shortest_nanoseconds: AtomicU64,
}

/// Part of a block.
#[derive(Clone, Copy, Debug)]
struct Piece {
    offset: usize,
    bytes: usize,
}

/// The memory of one run.
#[derive(Clone, Copy)]
pub(super) struct Memory<'a> {
    plan: &'a Plan,
    inputs: &'a [Span],
    outputs: &'a [SpanMut],
    scratch: &'a SpanMut,
}

impl Plan {
    pub(super) fn new(job: &Job, parts: Parts) -> Plan {
        let Parts { steps, constants, scratch } = parts;
        let mut intervals: Vec<Interval> =
            scratch.iter().map(|&bytes| Interval { bytes, first: usize::MAX, last: 0 }).collect();
        for (at, step) in steps.iter().enumerate() {
            for storage in step.writes().into_iter().chain(step.reads()) {
                if let Storage::Scratch(id) = storage {
                    intervals[id].first = intervals[id].first.min(at);
                    intervals[id].last = at;
                }
            }
        }
        let (scratch_offsets, scratch_bytes) = memory::place(&intervals);
        let contents: Vec<&[u8]> = constants.iter().map(Vec::as_slice).collect();
        let (block, constant_offsets) = Block::of(&contents);
        let pieces = |offsets: Vec<usize>, sizes: Vec<usize>| {
            offsets.into_iter().zip(sizes).map(|(offset, bytes)| Piece { offset, bytes }).collect()
        };
        let types = |ids: &[crate::ir::ValueId]| ids.iter().map(|&id| job.nodes.ty(id).clone()).collect();
        Plan {
            feeds: types(&job.feeds),
            targets: types(&job.targets),
            steps,
            constants: block,
            constant_pieces: pieces(constant_offsets, constants.iter().map(Vec::len).collect()),
            scratch_pieces: pieces(scratch_offsets, scratch),
            scratch: SHELF.need(scratch_bytes),
            shortest_nanoseconds: AtomicU64::new(u64::MAX),
        }
    }

    /// Types of the inputs of [`run`](Self::run), in their order.
    pub fn feeds(&self) -> &[TensorType] {
        &self.feeds
    }

    /// Types of the outputs of [`run`](Self::run), in their order.
    pub fn targets(&self) -> &[TensorType] {
        &self.targets
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Bytes of scratch memory that a run works in.
    pub fn scratch_bytes(&self) -> usize {
        self.scratch.bytes()
    }

    /// The steps as text, one per line.
    pub fn describe(&self) -> String {
        self.steps.iter().enumerate().fold(String::new(), |mut text, (at, step)| {
            writeln!(text, "{at}: {}", step.describe()).expect("a string takes everything");
            text
        })
    }

    /// Computes the targets from packed `given` operands into the packed `taken` ones, which must not overlap them or
    /// each other.
    ///
    /// Panics if number, sizes or alignment of the operands are not those of the types.
    pub fn run(&self, given: impl Iterator<Item = Span>, taken: impl Iterator<Item = SpanMut>) {
        let mut workspace = self.scratch.take();
        let Workspace { block, inputs, outputs, read, write } = &mut *workspace;
        inputs.clear();
        inputs.extend(given);
        outputs.clear();
        outputs.extend(taken);
        assert_eq!((inputs.len(), outputs.len()), (self.feeds.len(), self.targets.len()), "number of operands");
        for (at, (span, ty)) in inputs.iter().zip(&self.feeds).enumerate() {
            check("input", at, span.as_ptr(), span.len(), ty);
        }
        for (at, (span, ty)) in outputs.iter().zip(&self.targets).enumerate() {
            check("output", at, span.as_ptr(), span.len(), ty);
        }
        let scratch = block.span_mut();
        let memory = Memory { plan: self, inputs, outputs, scratch: &scratch };
        self.run_in(memory, read, write);
    }

    fn run_in(&self, memory: Memory<'_>, read: &mut Vec<Span>, write: &mut Vec<SpanMut>) {
        // What is known to be short need not be measured again.
        let start = (self.expected_time() > MEASURED).then(Instant::now);
        if timing::is_on() {
            self.steps.iter().for_each(|step| timing::measure(step, || memory.run(step, read, write)));
        } else {
            self.steps.iter().for_each(|step| memory.run(step, read, write));
        }
        if let Some(start) = start {
            self.shortest_nanoseconds.fetch_min(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// How long a run takes, as far as runs have shown; for ever before the first.
    pub fn expected_time(&self) -> Duration {
        match self.shortest_nanoseconds.load(Ordering::Relaxed) {
            u64::MAX => Duration::MAX,
            shortest => Duration::from_nanos(shortest),
        }
    }
}

fn check(what: &str, at: usize, ptr: *const u8, len: usize, ty: &TensorType) {
    assert_eq!(len, ty.bytes(), "bytes of {what} {at}, {ty:?}");
    assert!(ptr.addr().is_multiple_of(ty.dtype.size()), "{what} {at} is misaligned for {ty:?}");
}

impl Memory<'_> {
    pub(super) fn read(&self, storage: Storage) -> Span {
        let part = |block: Span, piece: Piece| block.part(piece.offset, piece.bytes);
        match storage {
            Storage::Input(at) => self.inputs[at],
            Storage::Output(at) => self.outputs[at].as_span(),
            Storage::Constant(at) => part(self.plan.constants.span(), self.plan.constant_pieces[at]),
            Storage::Scratch(at) => part(self.scratch.as_span(), self.plan.scratch_pieces[at]),
        }
    }

    pub(super) fn write(&self, storage: Storage) -> SpanMut {
        assert!(matches!(storage, Storage::Output(_) | Storage::Scratch(_)), "{storage:?} is read only");
        let span = self.read(storage);
        // SAFETY: the memory comes from a `SpanMut` (asserted above). Nothing else touches it while the step that asked
        // for it runs: steps run one after the other, `memory::place` gives results that live at the same time
        // different memory, and a step never reads what it writes. Steps that are joined (`Rows`) ask for each task,
        // which touches the part for its own rows only.
        unsafe { SpanMut::new(span.as_ptr().cast_mut(), span.len()) }
    }

    fn input<'p>(&self, packed: &'p Packed) -> Input<'p> {
        let span = self.read(packed.storage).part(packed.offset, packed.ty.bytes());
        Input { span, ty: &packed.ty }
    }

    fn run(&self, step: &Step, read: &mut Vec<Span>, write: &mut Vec<SpanMut>) {
        match step {
            Step::Loop { run, operands, outputs, .. } => {
                read.clear();
                read.extend(operands.iter().map(|&operand| self.read(operand)));
                write.clear();
                write.extend(outputs.iter().map(|&output| self.write(output)));
                run.run(read, write);
            }
            Step::MatMul { product, lhs, rhs, tables, to } => {
                let tables = tables.map(|tables| tables.map(|table| self.read(table)));
                product.run(self.read(*lhs), self.read(*rhs), tables, &self.write(*to));
            }
            Step::Rows(rows) => rows.run(self),
            Step::Copy(Copy { size, from, offset, shape, strides, to, to_offset, to_strides }) => {
                let to = self.write(*to);
                strided::copy(*size, self.read(*from), *offset, shape, strides, to, *to_offset, to_strides);
            }
            Step::Kernel { op, method, inputs, to, ty, scratch } => {
                let (to, scratch) = ((self.write(*to), ty), scratch.map(|scratch| self.write(scratch)));
                // Only concatenations have more than three inputs; no other step allocates.
                match &inputs[..] {
                    [] => op.execute(method, &[], to, scratch),
                    [a] => op.execute(method, &[self.input(a)], to, scratch),
                    [a, b] => op.execute(method, &[self.input(a), self.input(b)], to, scratch),
                    [a, b, c] => op.execute(method, &[self.input(a), self.input(b), self.input(c)], to, scratch),
                    many => {
                        op.execute(method, &many.iter().map(|input| self.input(input)).collect::<Vec<_>>(), to, scratch)
                    }
                }
            }
        }
    }
}
