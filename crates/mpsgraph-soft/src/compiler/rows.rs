//! Makes one step of steps that work on the same rows one after the other, such as those of a normalization: sums of
//! rows, and loops between them.
//!
//! The step takes some rows at a time through all of them, so that what one makes is in the cache when the next reads
//! it. What nothing else reads has memory for those rows only. No bit changes: a row is computed as before.

use super::assembly::Parts;
use super::step::{Operand, Step};
use crate::ir::TensorType;
use crate::kernels::KernelOp;
use crate::kernels::elementwise::run::Part;
use crate::kernels::reduce;
use crate::kernels::span::Span;
use crate::kernels::storage::{Access, Memory, Storage};
use crate::kernels::threads::{self, PARALLEL_BYTES};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Bytes of one value that a block has: those of several values stay in the second cache.
const BLOCK_BYTES: usize = 64 * 1024;

/// Steps that take some rows at a time.
#[derive(Debug)]
pub struct Rows {
    pub steps: Vec<Step>,
    rows: usize,
    /// Rows of a block, and of a task.
    block: usize,
    task: usize,
    /// Bytes of a row of the values of which memory has a block for each task only.
    local: Vec<(Storage, usize)>,
}

/// The same steps, joined where that saves traffic.
pub fn join(parts: Parts) -> Parts {
    let Parts { steps, constants, mut scratch } = parts;
    let mut runs = Vec::new();
    let reductions = next_reductions(&steps);
    let mut at = 0;
    while at < steps.len() {
        match reductions[at].map(|rows| Run::from(&steps, at, rows)) {
            Some(run) if run.is_of_use(&steps) => {
                at = run.steps.end;
                runs.push(run);
            }
            // So a long run that is of no use is not looked at as often as it is long.
            Some(run) => at += (run.steps.len() / 8).max(1),
            None => at += 1,
        }
    }
    let mentions = mentions(&steps);
    let mut rest = steps.into_iter();
    let (mut steps, mut done) = (Vec::new(), 0);
    for run in runs {
        steps.extend(rest.by_ref().take(run.steps.start - done));
        done = run.steps.end;
        let inside = rest.by_ref().take(run.steps.len()).collect();
        steps.push(Step::Rows(Rows::new(inside, &run, &mentions, &mut scratch)));
    }
    steps.extend(rest);
    Parts { steps, constants, scratch }
}

/// For each step: if the next step that is no loop, itself included, is a reduction of rows, how many rows it has.
fn next_reductions(steps: &[Step]) -> Vec<Option<usize>> {
    let mut next = None;
    let rows = |step: &Step| {
        if !matches!(step, Step::Loop { .. }) {
            next = reduced(step).map(|reduced| reduced.rows);
        }
        next
    };
    let mut reductions: Vec<Option<usize>> = steps.iter().rev().map(rows).collect();
    reductions.reverse();
    reductions
}

/// How often steps name each memory.
fn mentions(steps: &[Step]) -> HashMap<Storage, usize> {
    let mut mentions = HashMap::new();
    let all = steps.iter().flat_map(|step| step.reads().into_iter().chain(step.writes()));
    all.for_each(|storage| *mentions.entry(storage).or_default() += 1);
    mentions
}

/// Steps that can be joined.
struct Run {
    steps: Range<usize>,
    rows: usize,
    /// The memory that they write, and how many bytes of it.
    written: HashMap<Storage, usize>,
    /// What of it they read as one number for each row.
    numbers: Vec<Storage>,
}

impl Run {
    /// As many steps from this one on as can be joined, which all work on so many rows.
    fn from(steps: &[Step], start: usize, rows: usize) -> Self {
        let mut run = Self { steps: start..start, rows, written: HashMap::new(), numbers: Vec::new() };
        while let Some(step) = steps.get(run.steps.end)
            && let Some(written) = run.takes(step)
        {
            run.written.extend(written);
            run.steps.end += 1;
        }
        run
    }

    /// Whether joining its steps saves traffic.
    fn is_of_use(&self, steps: &[Step]) -> bool {
        let mut inside = steps[self.steps.clone()].iter();
        inside.clone().any(|step| row_bytes(step, self.rows) * self.rows > PARALLEL_BYTES)
            && inside.clone().any(|step| reduced(step).is_some())
            && inside.any(|step| step.reads().iter().any(|from| self.written.contains_key(from)))
    }

    /// What the step writes, if each row that it makes needs only the same rows of what the steps before it have made.
    fn takes(&mut self, step: &Step) -> Option<Vec<(Storage, usize)>> {
        if let Step::Loop { run, operands, outputs, .. } = step {
            if !run.elements().is_multiple_of(self.rows) || !run.divides_at(run.elements() / self.rows) {
                return None;
            }
            let mut numbers = Vec::new();
            for (at, operand) in operands.iter().enumerate() {
                match self.written.get(operand) {
                    Some(&bytes) if !run.reads_in_order(at, bytes) => {
                        run.reads_one_for_each_of(at, self.rows, bytes).then_some(())?;
                        numbers.push(*operand);
                    }
                    _ => {}
                }
            }
            self.numbers.extend(numbers);
            return Some(outputs.iter().enumerate().map(|(at, &to)| (to, run.output_bytes(at))).collect());
        }
        let Reduced { rows, inputs, to, ty, .. } = reduced(step)?;
        let is_whole = |input: &Operand| {
            let whole = |&bytes: &usize| bytes == input.ty.bytes() && input.strides.is_none();
            self.written.get(&input.storage).is_none_or(whole)
        };
        (rows == self.rows && inputs.iter().all(is_whole)).then(|| vec![(to, ty.bytes())])
    }
}

/// A reduction of whole rows; its operands have as many rows.
struct Reduced<'a> {
    op: &'a KernelOp,
    rows: usize,
    inputs: &'a [Operand],
    to: Storage,
    ty: &'a TensorType,
}

/// The step as such a reduction.
fn reduced(step: &Step) -> Option<Reduced<'_>> {
    let Step::Kernel { op, inputs, to, ty, scratch: None, .. } = step else { return None };
    if let KernelOp::RowSum(_) = op {
        let rows = ty.elements();
        return (rows > 1).then_some(Reduced { op, rows, inputs, to: *to, ty });
    }
    let (KernelOp::Reduce(reduce), [input]) = (op, &inputs[..]) else { return None };
    let mut axes = input.ty.shape.iter().enumerate().filter(|&(_, &extent)| extent != 1);
    let is_kept = |axis: &(usize, &usize)| !reduce.axes.contains(&axis.0);
    let rows = axes.by_ref().take_while(is_kept).map(|(_, extent)| extent).product();
    // The first reduced axis is taken already.
    let is_last = !axes.any(|axis| is_kept(&axis));
    (is_last && rows > 1 && ty.elements() == rows).then_some(Reduced { op, rows, inputs, to: *to, ty })
}

/// Elements of a row of an operand, and from one row to the next.
fn row_of(input: &Operand, rows: usize) -> [usize; 2] {
    let row = input.ty.elements() / rows;
    let axes = || input.ty.shape.iter().zip(input.strides.iter().flatten());
    // The rows are one loop of the reduction, of which this is the last axis.
    let mut before = 1;
    let apart = axes().filter(|&(&extent, _)| extent != 1).find_map(|(&extent, &stride)| {
        before *= extent;
        (before == rows).then_some(stride)
    });
    [row, apart.unwrap_or(row)]
}

/// Bytes of a row of the largest value that the step reads or writes in order.
fn row_bytes(step: &Step, rows: usize) -> usize {
    if let Step::Loop { run, outputs, .. } = step {
        return (0..outputs.len()).map(|at| run.output_bytes(at) / rows).max().unwrap_or(0);
    }
    reduced(step).map_or(0, |reduced| reduced.inputs[0].ty.bytes() / rows)
}

impl Rows {
    /// One step of these; memory that is smaller now gets its new size.
    fn new(steps: Vec<Step>, run: &Run, all: &HashMap<Storage, usize>, scratch: &mut [usize]) -> Self {
        let rows = run.rows;
        let widest = steps.iter().map(|step| row_bytes(step, rows)).max().unwrap_or(0);
        let block = (BLOCK_BYTES / widest.max(1)).clamp(1, rows);
        let tasks = if threads::count() == 1 { 1 } else { 4 * threads::count() };
        let task = rows.div_ceil(tasks).next_multiple_of(block);
        let own = mentions(&steps);
        let mut local = Vec::new();
        for (&storage, &bytes) in &run.written {
            if let Storage::Scratch(id) = storage
                && own[&storage] == all[&storage]
                && !run.numbers.contains(&storage)
            {
                local.push((storage, bytes / rows));
                scratch[id] = rows.div_ceil(task) * block * (bytes / rows);
            }
        }
        Self { steps, rows, block, task, local }
    }

    /// Whether several threads may work on the step.
    pub fn is_parallel(&self) -> bool {
        self.rows > self.task
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.rows
    }

    /// What each of the steps touches, and what all of them together do, because a task may be at another step than
    /// the next one.
    pub fn accesses(&self) -> Vec<Access> {
        let mut accesses: Vec<Access> = self.steps.iter().flat_map(Step::accesses).collect();
        let writes: BTreeSet<Storage> = self.steps.iter().flat_map(Step::writes).collect();
        let reads = self.steps.iter().flat_map(Step::reads).filter(|from| !writes.contains(from)).collect();
        accesses.push(Access { reads, writes: writes.into_iter().collect() });
        accesses
    }

    /// Runs the steps on every row.
    pub(super) fn run(&self, memory: &Memory<'_>) {
        let task = |task: usize| {
            let rows = task * self.task..self.rows.min((task + 1) * self.task);
            for first in rows.clone().step_by(self.block) {
                let block = first..rows.end.min(first + self.block);
                self.steps.iter().for_each(|step| self.run_block(memory, step, task, block.clone()));
            }
        };
        if self.is_parallel() { threads::for_each(self.rows.div_ceil(self.task), 1, &task) } else { task(0) }
    }

    /// Bytes before the block in a task's memory for values of which memory has only blocks.
    fn before(&self, storage: Storage, task: usize) -> Option<usize> {
        let (_, row) = self.local.iter().find(|(local, _)| *local == storage)?;
        Some(task * self.block * row)
    }

    fn run_block(&self, memory: &Memory<'_>, step: &Step, task: usize, rows: Range<usize>) {
        if let Step::Loop { run, operands, outputs, .. } = step {
            let row = run.elements() / self.rows;
            let first = rows.start * row;
            let operand = |at: usize| {
                let span = memory.read(operands[at]);
                match self.before(operands[at], task) {
                    Some(before) => Part { span: span.part(before, span.len() - before), first },
                    None => Part { span, first: 0 },
                }
            };
            let output = |at: usize| {
                let row = run.output_bytes(at) / self.rows;
                let before = self.before(outputs[at], task).unwrap_or(rows.start * row);
                // Other tasks write other rows.
                Part { span: memory.write(outputs[at]).part(before, rows.len() * row), first }
            };
            return run.run_rows(operand, output, first..rows.end * row);
        }
        let Some(Reduced { op, inputs, to, ty, .. }) = reduced(step) else {
            unreachable!("only loops and reductions are joined")
        };
        let own = |input: &Operand, [row, apart]: [usize; 2]| -> Span {
            let size = input.ty.dtype.size();
            let before = self.before(input.storage, task).unwrap_or(input.offset + rows.start * apart * size);
            memory.read(input.storage).part(before, ((rows.len() - 1) * apart + row) * size)
        };
        let row = ty.bytes() / self.rows;
        let before = self.before(to, task).unwrap_or(rows.start * row);
        // Other tasks write other rows.
        let mut out = memory.write(to).part(before, rows.len() * row);
        if let (KernelOp::RowSum(op), [x, y]) = (op, inputs) {
            let [x, y] = [x, y].map(|x| own(x, row_of(x, self.rows)));
            op.execute(x.slice(), y.slice(), out.slice());
        } else if let (KernelOp::Reduce(reduce), [x]) = (op, inputs) {
            let row = row_of(x, self.rows);
            reduce::rows(reduce.op, x.ty.dtype, own(x, row).slice(), row, out.slice());
        } else {
            unreachable!("{op:?} is no reduction of rows");
        }
    }
}
