//! Says which results are written past the caches ([`non_temporal`](crate::kernels::non_temporal)).
//!
//! A result that is read soon should be in a cache then. But if the steps up to the next one that reads it move more
//! than the caches hold, it will not be there, and is better off written to memory straight away. What nothing reads
//! again belongs to the caller, who may read it at once; so it counts as read behind the last step.

use super::Job;
use super::assembly::Parts;
use super::step::Step;
use crate::kernels::storage::Storage;
use std::collections::HashMap;

/// More bytes than this are in no cache: the last level has 8 to 32 MiB for the cores that share it.
const CACHE_BYTES: usize = 32 << 20;
/// Results of at most so many bytes push nothing out.
const SMALL: usize = 64 << 10;

/// Marks the results of loops in `parts`, the steps of `job`.
pub fn mark(job: &Job, parts: &mut Parts) {
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
        match step {
            Step::Loop { run, outputs, .. } => {
                let late = outputs.iter().enumerate().filter(|(_, to)| is_late(to));
                late.for_each(|(at, _)| run.write_past_caches(at));
            }
            Step::Rows(rows) => rows.write_past_caches(is_late),
            Step::MatMul { .. } | Step::Copy(_) | Step::Kernel { .. } => {}
        }
        reads.into_iter().for_each(|from| _ = read.insert(from, behind));
    }
}
