//! Sharing work between threads, compiled once: tasks are trait objects, so rayon's machinery is not repeated for
//! every kernel and element type. Tasks are large enough that the indirect call does not show.
//!
//! The threads are not those of rayon's global pool, which belongs to the program: its threads may all wait for work
//! that is computed here, and while a thread of a pool waits for rayon, it runs other tasks of that pool.

use std::sync::LazyLock;

use bytemuck::{Pod, cast_slice_mut};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Work on more bytes than this is shared: moving it takes one thread some 20 µs, waking another and waiting for it 5
/// to 10 µs.
pub const PARALLEL_BYTES: usize = 256 * 1024;

/// As many threads as rayon's global pool would have; `RAYON_NUM_THREADS` counts here too.
static POOL: LazyLock<ThreadPool> = LazyLock::new(|| {
    let pool = ThreadPoolBuilder::new().thread_name(|at| format!("mpsgraph-soft-{at}")).build();
    pool.expect("the device needs its threads")
});

/// How many threads compute.
pub fn count() -> usize {
    POOL.current_num_threads()
}

/// Whether there are threads to share work with.
fn are_several() -> bool {
    count() > 1
}

/// Runs `work` on a thread that computes; a caller that is not one of them sleeps meanwhile. All that shares work does
/// so in here. A single thread would only take the caller's place.
///
/// # Panics
/// If the caller belongs to another pool: rayon would let it run other tasks of that pool in the middle of this call.
pub fn inside<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let ours = POOL.current_thread_index().is_some();
    assert!(ours || !is_member_of_a_pool(), "a thread of another rayon pool computes");
    if ours || !are_several() { work() } else { POOL.install(work) }
}

/// Whether this thread belongs to any rayon pool.
pub fn is_member_of_a_pool() -> bool {
    rayon::current_thread_index().is_some()
}

/// Runs both tasks, at the same time if they work on enough `bytes`.
pub fn both(bytes: usize, a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    if bytes > PARALLEL_BYTES && are_several() {
        inside(|| rayon::join(a, b));
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
    if parallel && out.len() > chunk && are_several() {
        // Rayon may divide down to single chunks; short ones stay together.
        let together = (PARALLEL_BYTES / 8 / chunk).max(1);
        inside(|| out.par_chunks_mut(chunk).with_min_len(together).enumerate().for_each(|(at, out)| task(at, out)));
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
    if workers == 1 || !are_several() {
        let parts = out.chunks_mut(chunks_per_worker * chunk).enumerate();
        return parts.for_each(|(worker, out)| part(worker, out, &mut scratch[..each]));
    }
    let parts = out.par_chunks_mut(chunks_per_worker * chunk).zip(scratch.par_chunks_exact_mut(each));
    inside(|| parts.enumerate().for_each(|(worker, (out, scratch))| part(worker, out, scratch)));
}

/// Runs `task` on the numbers below `count`, on several threads, about `together` of them at a time.
pub fn for_each(count: usize, together: usize, task: &(dyn Fn(usize) + Sync)) {
    if are_several() {
        inside(|| (0..count).into_par_iter().with_min_len(together).with_max_len(together).for_each(task));
    } else {
        (0..count).for_each(task);
    }
}
