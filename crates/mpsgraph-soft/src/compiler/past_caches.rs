//! Says which results are written past the caches ([`non_temporal`](crate::kernels::non_temporal)).
//!
//! A result that is read soon should be in a cache then. But if the steps up to the next one that reads it move more
//! than the caches hold, it will not be there, and is better off written to memory straight away. What nothing reads
//! again belongs to the caller, who may read it at once; so it counts as read behind the last step.

use super::Job;
use super::assembly::Parts;
use super::step::Step;
use crate::kernels::non_temporal;
use crate::kernels::storage::Storage;
use std::collections::{BTreeSet, HashMap};

/// More bytes than this are in no cache: the last level has 8 to 32 MiB for the cores that share it.
const CACHE_BYTES: usize = 32 << 20;
/// Results of at most so many bytes push nothing out.
const SMALL: usize = 64 << 10;

/// Marks the results of loops in `parts`, the steps of `job`.
pub fn mark(job: &Job, parts: &mut Parts) {
    if !non_temporal::EXIST {
        return;
    }
    let Parts { steps, constants, scratch } = parts;
    let bytes = |storage: &Storage| match *storage {
        Storage::Input(at) => job.nodes.ty(job.feeds[at]).bytes(),
        Storage::Output(at) => job.nodes.ty(job.targets[at]).bytes(),
        Storage::Constant(at) => constants[at].len(),
        Storage::Scratch(at) => scratch[at],
    };
    // From the last step to the first: how many bytes the steps behind move, and how many those did that were behind
    // the next step that reads a memory.
    let mut behind = 0;
    let mut read: HashMap<Storage, usize> = HashMap::new();
    for step in steps.iter_mut().rev() {
        let reads = step.reads();
        behind += reads.iter().chain(&step.writes()).map(bytes).sum::<usize>();
        let is_late = |to: &Storage| bytes(to) > SMALL && behind - read.get(to).copied().unwrap_or(0) > CACHE_BYTES;
        mark_step(step, &is_late);
        reads.into_iter().for_each(|from| _ = read.insert(from, behind));
    }
}

/// Marks the results of the step's loops for which `is_late` holds.
fn mark_step(step: &mut Step, is_late: &dyn Fn(&Storage) -> bool) {
    match step {
        Step::Loop { run, outputs, .. } => {
            let late = outputs.iter().enumerate().filter(|(_, to)| is_late(to));
            late.for_each(|(at, _)| run.write_past_caches(at));
        }
        Step::Rows(rows) => {
            // What another of these steps reads, it reads a few rows later.
            let read: BTreeSet<Storage> = rows.steps.iter().flat_map(Step::reads).collect();
            rows.steps.iter_mut().for_each(|step| mark_step(step, &|to| !read.contains(to) && is_late(to)));
        }
        Step::MatMul { .. } | Step::Copy(_) | Step::Kernel { .. } => {}
    }
}
