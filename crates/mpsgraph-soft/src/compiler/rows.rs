//! Makes one step of steps that work on the same rows one after the other, such as those of a normalization: sums of
//! rows, and loops between them; or of loops and the reduction of all elements of what they make, each of which is a
//! row then, or of its columns.
//!
//! The step takes some rows at a time through all of them ([`Rows`]), so that what one makes is in the cache when the
//! next reads it. What nothing else reads has memory for those rows only. No bit changes: a row is computed as before,
//! and elements are reduced in the same order.

mod run;

use super::assembly::Parts;
use super::step::{Operand, Step};
use crate::ir::TensorType;
use crate::kernels::KernelOp;
use crate::kernels::reduce::Total;
use crate::kernels::storage::Storage;
use crate::kernels::threads::PARALLEL_BYTES;
pub use run::Rows;
use std::collections::HashMap;
use std::ops::Range;

/// The same steps, joined where that saves traffic.
pub fn join(parts: Parts) -> Parts {
    let Parts { steps, constants, mut scratch } = parts;
    let mut runs = Vec::new();
    let reductions = next_reductions(&steps);
    let mut at = 0;
    while at < steps.len() {
        match reductions[at].map(|division| Run::from(&steps, at, division)) {
            Some(run) if run.is_of_use(&steps) => {
                at = run.steps.end;
                runs.push(run);
            }
            // A run that begins one step later is rarely of more use, and to try each step of a long run as the first
            // one would take quadratic time.
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
        let mut inside: Vec<Step> = rest.by_ref().take(run.steps.len()).collect();
        for step in &mut inside {
            if let Some(total) = total(step)
                && let Step::Kernel { scratch: parts, .. } = step
            {
                *parts = Some(Storage::Scratch(scratch.len()));
                scratch.push(total.parts_bytes());
            }
        }
        steps.push(Step::Rows(Rows::new(inside, &run, &mentions, &mut scratch)));
    }
    steps.extend(rest);
    Parts { steps, constants, scratch }
}

/// For each step: if the next step that is no loop, itself included, is a reduction, how its operand is divided.
fn next_reductions(steps: &[Step]) -> Vec<Option<Division>> {
    let mut next = None;
    let division = |step: &Step| {
        if !matches!(step, Step::Loop { .. }) {
            next = Division::of(step);
        }
        next
    };
    let mut reductions: Vec<Option<Division>> = steps.iter().rev().map(division).collect();
    reductions.reverse();
    reductions
}

/// How values are divided into rows that are taken some at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Division {
    rows: usize,
    /// A block that is not the last one has a multiple of so many rows.
    least: usize,
    /// A task that is not the last one has a multiple of so many rows, which a block does not cross.
    together: usize,
}

impl Division {
    /// What a reduction reads.
    fn of(step: &Step) -> Option<Self> {
        let of_total = |total: Total| Self { rows: total.count, least: total.least(), together: total.block() };
        let rows = reduced(step).map(|reduced| Self { rows: reduced.rows, least: 1, together: 1 });
        rows.or_else(|| total(step).map(of_total))
    }
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
    division: Division,
    /// The memory that they write, and how many bytes of it.
    written: HashMap<Storage, usize>,
    /// What of it they read as one number for each row.
    numbers: Vec<Storage>,
}

impl Run {
    /// As many steps from this one on as can be joined, which all work on the same rows.
    fn from(steps: &[Step], start: usize, division: Division) -> Self {
        let mut run = Self { steps: start..start, division, written: HashMap::new(), numbers: Vec::new() };
        while let Some(step) = steps.get(run.steps.end)
            && let Some(written) = run.takes(step)
        {
            run.written.extend(written);
            run.steps.end += 1;
            // Its result is there when all rows are.
            if total(step).is_some() {
                break;
            }
        }
        run
    }

    /// Whether joining its steps saves traffic.
    fn is_of_use(&self, steps: &[Step]) -> bool {
        let mut inside = steps[self.steps.clone()].iter();
        let Division { rows, .. } = self.division;
        inside.clone().any(|step| row_bytes(step, rows) * rows > PARALLEL_BYTES)
            && inside.clone().any(|step| Division::of(step).is_some())
            && inside.any(|step| step.reads().iter().any(|from| self.written.contains_key(from)))
    }

    /// What the step writes, if each row that it makes needs only the same rows of what the steps before it have made.
    fn takes(&mut self, step: &Step) -> Option<Vec<(Storage, usize)>> {
        if let Step::Loop { run, operands, outputs, .. } = step {
            let Division { rows, least, .. } = self.division;
            if !run.elements().is_multiple_of(rows) || !run.divides_at(run.elements() / rows * least) {
                return None;
            }
            let mut numbers = Vec::new();
            for (at, operand) in operands.iter().enumerate() {
                match self.written.get(operand) {
                    Some(&bytes) if !run.reads_in_order(at, bytes) => {
                        run.reads_one_for_each_of(at, rows, bytes).then_some(())?;
                        numbers.push(*operand);
                    }
                    _ => {}
                }
            }
            self.numbers.extend(numbers);
            return Some(outputs.iter().enumerate().map(|(at, &to)| (to, run.output_bytes(at))).collect());
        }
        let Step::Kernel { inputs, to, ty, .. } = step else { return None };
        let is_whole = |input: &Operand| {
            let whole = |&bytes: &usize| bytes == input.ty.bytes() && input.strides.is_none();
            self.written.get(&input.storage).is_none_or(whole)
        };
        let fits = Division::of(step) == Some(self.division) && inputs.iter().all(is_whole);
        fits.then(|| vec![(*to, ty.bytes())])
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

/// The step as a reduction of all elements of a packed operand to one number, or of all rows to one.
fn total(step: &Step) -> Option<Total> {
    let Step::Kernel { op: KernelOp::Reduce(reduce), inputs, .. } = step else { return None };
    let [Operand { ty, strides: None, .. }] = &inputs[..] else { return None };
    Total::of(reduce, ty)
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
    let Step::Kernel { inputs, .. } = step else { return 0 };
    inputs[0].ty.bytes() / rows
}
