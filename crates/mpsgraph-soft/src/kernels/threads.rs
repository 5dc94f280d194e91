//! Sharing work between threads, compiled once: tasks are trait objects, so rayon's machinery is not repeated for
//! every kernel and element type. Tasks are large enough that the indirect call does not show.

use bytemuck::{Pod, cast_slice_mut};
use rayon::prelude::*;

/// Work on more bytes than this is shared: moving it takes one thread some 20 µs, waking another and waiting for it 5
/// to 10 µs.
pub const PARALLEL_BYTES: usize = 256 * 1024;

/// Runs both tasks, at the same time if they work on enough `bytes`.
pub fn both(bytes: usize, a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    if bytes > PARALLEL_BYTES {
        rayon::join(a, b);
    } else {
        a();
        b();
    }
}

/// Runs `task` on every `chunk` elements of `out`, with the number of the chunk, on several threads if `parallel`.
pub fn share<T: Pod>(parallel: bool, chunk: usize, out: &mut [T], task: impl Fn(usize, &mut [T]) + Sync) {
    let task = |at: usize, bytes: &mut [u8]| task(at, cast_slice_mut(bytes));
    share_bytes(parallel, chunk * size_of::<T>(), cast_slice_mut(out), &task);
}

fn share_bytes(parallel: bool, chunk: usize, out: &mut [u8], task: &(dyn Fn(usize, &mut [u8]) + Sync)) {
    if parallel && out.len() > chunk {
        // Rayon may divide down to single chunks; short ones stay together.
        let together = (PARALLEL_BYTES / 8 / chunk).max(1);
        out.par_chunks_mut(chunk).with_min_len(together).enumerate().for_each(|(at, out)| task(at, out));
    } else {
        out.chunks_mut(chunk).enumerate().for_each(|(at, out)| task(at, out));
    }
}

/// A task on the chunk with this number, and scratch memory.
pub type ScratchTask<'a> = dyn Fn(usize, &mut [f32], &mut [f32]) + Sync + 'a;

/// [`share`] for tasks that work in `each` elements of scratch memory. As many run at a time as `scratch` has room for;
/// each takes the chunks of one part of `out`.
pub fn share_with_scratch(
    (chunk, out): (usize, &mut [f32]),
    (each, scratch): (usize, &mut [f32]),
    task: &ScratchTask<'_>,
) {
    let workers = scratch.len().checked_div(each).unwrap_or(1).max(1);
    let chunks_per_worker = (out.len() / chunk).div_ceil(workers);
    let part = |worker: usize, out: &mut [f32], scratch: &mut [f32]| {
        for (at, out) in out.chunks_mut(chunk).enumerate() {
            task(worker * chunks_per_worker + at, out, scratch);
        }
    };
    if workers == 1 {
        return part(0, out, scratch);
    }
    let parts = out.par_chunks_mut(chunks_per_worker * chunk).zip(scratch.par_chunks_exact_mut(each));
    parts.enumerate().for_each(|(worker, (out, scratch))| part(worker, out, scratch));
}
