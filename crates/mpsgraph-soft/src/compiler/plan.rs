//! The steps of a compiled graph and the memory they work in.

use super::Job;
use super::assembly::Parts;
use super::memory::{self, Interval};
use super::scratch::{Need, SHELF, Workspace};
use super::step::{Copy, Operand, Step};
use super::timing;
use crate::ir::TensorType;
use crate::kernels::block::Block;
use crate::kernels::call::Input;
use crate::kernels::span::{Span, SpanMut};
use crate::kernels::storage::{Layout, Memory, Piece, Storage};
use crate::kernels::strided::{self, Strided};
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
    layout: Layout,
    scratch: Need,
    /// Of the runs so far; the largest number before the first.
    shortest_nanoseconds: AtomicU64,
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
        let pieces = scratch_offsets.into_iter().zip(scratch).map(|(offset, bytes)| Piece { offset, bytes }).collect();
        let layout = Layout::new(&constants, pieces, steps.iter().flat_map(Step::accesses));
        let types = |ids: &[crate::ir::ValueId]| ids.iter().map(|&id| job.nodes.ty(id).clone()).collect();
        Plan {
            feeds: types(&job.feeds),
            targets: types(&job.targets),
            steps,
            layout,
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

    /// Computes the targets from packed `inputs` into packed `outputs`, which must not overlap them or each other.
    ///
    /// Panics if number, sizes or alignment of the operands are not those of the types.
    pub fn run(&self, inputs: impl Iterator<Item = Span>, outputs: impl Iterator<Item = SpanMut>) {
        let mut workspace = self.scratch.take();
        let Workspace { block, inputs: given, outputs: taken, read, write } = &mut *workspace;
        given.clear();
        given.extend(inputs);
        taken.clear();
        taken.extend(outputs);
        self.run_in((given, taken), block, (read, write));
    }

    fn run_in(
        &self,
        (inputs, outputs): (&[Span], &mut [SpanMut]),
        block: &mut Block,
        (read, write): (&mut Vec<Span>, &mut Vec<SpanMut>),
    ) {
        assert_eq!((inputs.len(), outputs.len()), (self.feeds.len(), self.targets.len()), "number of operands");
        for (at, (span, ty)) in inputs.iter().zip(&self.feeds).enumerate() {
            check("input", at, span.as_ptr(), span.len(), ty);
        }
        for (at, (span, ty)) in outputs.iter().zip(&self.targets).enumerate() {
            check("output", at, span.as_ptr(), span.len(), ty);
        }
        // What is known to be short need not be measured again.
        let start = (self.expected_time() > MEASURED).then(Instant::now);
        let memory = Memory::new(&self.layout, inputs, outputs, block);
        if timing::is_on() {
            self.steps.iter().for_each(|step| timing::measure(step, || step.run(&memory, read, write)));
        } else {
            self.steps.iter().for_each(|step| step.run(&memory, read, write));
        }
        if let Some(start) = start {
            self.shortest_nanoseconds.fetch_min(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// [`run`](Self::run) on spans that others keep.
    #[cfg(test)]
    pub(super) fn run_on(&self, inputs: &[Span], outputs: &mut [SpanMut]) {
        let mut workspace = self.scratch.take();
        let Workspace { block, read, write, .. } = &mut *workspace;
        self.run_in((inputs, outputs), block, (read, write));
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

/// The operand in the memory of a run.
fn input<'p>(operand: &'p Operand, memory: &Memory<'_>) -> Input<'p> {
    let span = memory.read(operand.storage).part(operand.offset, operand.bytes());
    Input { span, ty: &operand.ty, strides: operand.strides.as_deref() }
}

impl Step {
    fn run(&self, memory: &Memory<'_>, read: &mut Vec<Span>, write: &mut Vec<SpanMut>) {
        match self {
            Step::Loop { run, operands, outputs, .. } => {
                read.clear();
                read.extend(operands.iter().map(|&operand| memory.read(operand)));
                write.clear();
                write.extend(outputs.iter().map(|&output| memory.write(output)));
                run.run(read, write);
            }
            Step::MatMul { product, lhs, rhs, tables, to } => {
                let tables = tables.map(|tables| tables.map(|table| memory.read(table)));
                product.run(memory.read(*lhs), memory.read(*rhs), tables, &mut memory.write(*to));
            }
            Step::Rows(rows) => rows.run(memory),
            Step::Copy(Copy { size, shape, from, offset, strides, to, to_offset, to_strides }) => {
                let from = (memory.read(*from), Strided { offset: *offset, strides });
                let to = (memory.write(*to), Strided { offset: *to_offset, strides: to_strides });
                strided::copy(*size, shape, from, to);
            }
            Step::Kernel { op, method, inputs, to, ty, scratch } => {
                let (to, scratch) = ((memory.write(*to), ty), scratch.map(|scratch| memory.write(scratch)));
                let of = |operand| input(operand, memory);
                // Only concatenations have more than four inputs; no other step allocates.
                match &inputs[..] {
                    [] => op.execute(method, &[], to, scratch),
                    [a] => op.execute(method, &[of(a)], to, scratch),
                    [a, b] => op.execute(method, &[of(a), of(b)], to, scratch),
                    [a, b, c] => op.execute(method, &[of(a), of(b), of(c)], to, scratch),
                    [a, b, c, d] => op.execute(method, &[of(a), of(b), of(c), of(d)], to, scratch),
                    many => op.execute(method, &many.iter().map(of).collect::<Vec<_>>(), to, scratch),
                }
            }
        }
    }
}
