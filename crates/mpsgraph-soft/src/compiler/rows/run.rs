//! Runs steps that work on the same rows, some rows at a time.
//!
//! Threads take tasks of many rows. A task takes block after block of few rows through all steps, so that a block is in
//! the cache when the next step reads it. Values that nothing else reads have memory for one block of each task. If the
//! last step reduces all elements, the blocks' results are joined when all tasks are done, in an order that does not
//! depend on the tasks.

use super::{Division, Reduced, Run, mentions, reduced, row_bytes, row_of, total};
use crate::compiler::step::{Operand, Step};
use crate::kernels::KernelOp;
use crate::kernels::elementwise::run::Part;
use crate::kernels::reduce::{self, Total};
use crate::kernels::span::Span;
use crate::kernels::storage::{Access, Memory, Storage};
use crate::kernels::threads;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Bytes of one value that a block has: those of several values stay in the second cache.
const BLOCK_BYTES: usize = 64 * 1024;

/// Tasks for each thread: memory has a block for each of them.
const TASKS: usize = 4;

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

impl Division {
    /// Rows of a block, about `few`, and of a task.
    fn blocks(self, few: usize) -> (usize, usize) {
        let Self { rows, least, together } = self;
        let threads = threads::count();
        if together > 1 {
            let block = if few < together { (1 << few.ilog2()).max(least) } else { few.next_multiple_of(together) };
            let tasks = if threads == 1 { 1 } else { TASKS * threads };
            return (block, rows.div_ceil(tasks).next_multiple_of(block.max(together)));
        }
        let is_shared = threads > 1 && rows > few;
        let tasks = if is_shared { threads::pieces(rows, few.max(rows / (TASKS * threads))) } else { 1 };
        let task = rows.div_ceil(tasks);
        (task.div_ceil((task + few / 2) / few), task)
    }
}

impl Rows {
    /// One step of these; memory that is smaller now gets its new size.
    pub(super) fn new(steps: Vec<Step>, run: &Run, all: &HashMap<Storage, usize>, scratch: &mut [usize]) -> Self {
        let rows = run.division.rows;
        let widest = steps.iter().map(|step| row_bytes(step, rows)).max().unwrap_or(0);
        let few = (BLOCK_BYTES / widest.max(1)).clamp(1, rows);
        let (block, task) = run.division.blocks(few);
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
    pub fn run(&self, memory: &Memory<'_>) {
        let task = |task: usize| {
            let rows = task * self.task..self.rows.min((task + 1) * self.task);
            for first in rows.clone().step_by(self.block) {
                let block = first..rows.end.min(first + self.block);
                self.steps.iter().for_each(|step| self.run_block(memory, step, task, block.clone()));
            }
        };
        if self.is_parallel() {
            threads::for_each(self.rows.div_ceil(self.task), 1, &task)
        } else {
            task(0)
        }
        if let Some((total, step)) = self.steps.last().and_then(|step| Some((total(step)?, step))) {
            self.finish(memory, total, step);
        }
    }

    /// Makes the results of a reduction whose blocks are reduced.
    fn finish(&self, memory: &Memory<'_>, total: Total, step: &Step) {
        let Step::Kernel { inputs, to, scratch: Some(parts), .. } = step else {
            unreachable!("the reduction got memory for the results of blocks")
        };
        let mut out = memory.write(*to);
        let Some(mut anew) = total.join(memory.write(*parts).slice(), out.slice()) else { return };
        let takes_all = (0..self.rows).step_by(self.block).all(|first| {
            let block = first..self.rows.min(first + self.block);
            self.steps[..self.steps.len() - 1].iter().for_each(|step| self.run_block(memory, step, 0, block.clone()));
            anew.take(self.part_of(memory, &inputs[0], (0, block), row_of(&inputs[0], self.rows)).slice())
        });
        if takes_all {
            total.finish(&anew, out.slice());
        }
    }

    /// Some rows of an operand for a task: of so many elements, and so many from one to the next.
    fn part_of(
        &self,
        memory: &Memory<'_>,
        input: &Operand,
        (task, rows): (usize, Range<usize>),
        [row, apart]: [usize; 2],
    ) -> Span {
        let size = input.ty.dtype.size();
        let before = self.before(input.storage, task).unwrap_or(input.offset + rows.start * apart * size);
        memory.read(input.storage).part(before, ((rows.len() - 1) * apart + row) * size)
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
        let own = |input: &Operand, row: [usize; 2]| self.part_of(memory, input, (task, rows.clone()), row);
        if let (Some(total), Step::Kernel { inputs, scratch: Some(parts), .. }) = (total(step), step) {
            let of_rows = total.parts_of(&rows);
            // Other tasks reduce other blocks.
            let mut parts = memory.write(*parts).part(of_rows.start, of_rows.len());
            let x = own(&inputs[0], row_of(&inputs[0], self.rows));
            return total.fold(x.slice(), rows, parts.slice());
        }
        let Some(Reduced { op, inputs, to, ty, .. }) = reduced(step) else {
            unreachable!("only loops and reductions are joined")
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
