//! Sharing work between threads, compiled once: tasks are trait objects, so that nothing is repeated for every kernel
//! and element type. Tasks are large enough that the indirect call does not show.
//!
//! The calling thread works itself, and takes one piece after the other as the threads that help it do ([`fork_join`]).
//! So a thread that the system gives little time takes few pieces, work that is done before a helper is awake does not
//! wait for it, and nothing here depends on other work of the thread that calls. Each thread begins in a part of its
//! own ([`shares`]), so it meets the memory that it has touched before. How work is cut into pieces does not decide
//! what is computed.

#![expect(unsafe_code, reason = "work that other threads reach through a pointer")]

mod columns;
mod fork_join;
mod own_line;
mod shares;
mod slots;
mod spin;

use std::sync::Mutex;

use bytemuck::{Pod, cast_slice_mut};

use crate::ignore_poison::IgnorePoison;
pub use columns::{Columns, even_width, share_columns, share_parts};
pub use fork_join::count;
use fork_join::shares_small_work;
pub use own_line::OwnLine;
use shares::Shares;
pub use spin::spin_until;

/// Work on more bytes than this is shared: moving it takes one thread some 20 µs, waking another and waiting for it 5
/// to 10 µs.
pub const PARALLEL_BYTES: usize = 256 * 1024;

/// From how much work on, in some unit, it is worth sharing.
#[derive(Clone, Copy)]
pub struct Worth {
    /// With a thread that waits awake.
    pub awake: usize,
    /// With one that is woken for it alone.
    pub woken: usize,
}

/// Bytes that are moved.
pub const MOVED: Worth = Worth { awake: PARALLEL_BYTES / 4, woken: PARALLEL_BYTES };

/// Bytes that are copied in rows, which is as fast as memory is.
pub const COPIED: Worth = Worth { awake: PARALLEL_BYTES / 4 * 3, woken: PARALLEL_BYTES };

impl Worth {
    /// Whether threads share so much work now.
    pub fn is_met(self, work: usize) -> bool {
        work >= self.woken || work >= self.awake && shares_small_work()
    }
}

/// Bytes that stay together: some microseconds of work.
const PIECE_BYTES: usize = PARALLEL_BYTES / 8;

/// Pieces for each thread, so that one which is late, or begins late, costs the others little.
const PIECES: usize = 8;

/// How many pieces so much work is cut into, in some unit, of which a piece is to have at least `least` if two can have
/// as much: as many for one thread as for another, if there is one for each.
pub fn pieces(work: usize, least: usize) -> usize {
    let (worth, threads) = (work / least.max(1), count());
    if worth < threads { worth.max(2) } else { (worth / threads).min(PIECES) * threads }
}

/// Runs both tasks, at the same time if `parallel`.
pub fn both<'a>(parallel: bool, a: &'a mut (dyn FnMut() + Send), b: &'a mut (dyn FnMut() + Send)) {
    if parallel {
        let tasks = Mutex::new([a, b].into_iter());
        fork_join::run(2, &|| {
            while let Some(task) = next(&tasks) {
                task();
            }
        });
    } else {
        a();
        b();
    }
}

/// Runs `task` on every `chunk` elements of `out`, with the number of the chunk, on several threads if `parallel`.
pub fn share<T: Pod>(parallel: bool, chunk: usize, out: &mut [T], task: impl Fn(usize, &mut [T]) + Sync) {
    share_reads(parallel, chunk * size_of::<T>(), chunk, out, task);
}

/// [`share`] for chunks that are made of `read` bytes each, which are more than those of a chunk.
pub fn share_reads<T: Pod>(
    parallel: bool,
    read: usize,
    chunk: usize,
    out: &mut [T],
    task: impl Fn(usize, &mut [T]) + Sync,
) {
    let task = |at: usize, bytes: &mut [u8]| task(at, cast_slice_mut(bytes));
    share_bytes(parallel, [read, chunk * size_of::<T>()], cast_slice_mut(out), &task);
}

fn share_bytes(parallel: bool, [read, chunk]: [usize; 2], out: &mut [u8], task: &(dyn Fn(usize, &mut [u8]) + Sync)) {
    let part = |first: usize, out: &mut [u8]| {
        out.chunks_mut(chunk).enumerate().for_each(|(at, out)| task(first + at, out));
    };
    let chunks = out.len().div_ceil(chunk);
    // Rather a piece too small than threads with pieces of other sizes.
    let together = (chunks / pieces(chunks * read, PIECE_BYTES)).max(1);
    if !parallel || chunks <= together {
        return part(0, out);
    }
    let pieces = shares::of_slice(out, chunk * together);
    fork_join::run(chunks.div_ceil(together), &|| {
        while let Some((at, out)) = pieces.next() {
            part(at * together, out);
        }
    });
}

/// A task on the chunk with this number, and scratch memory.
pub type ScratchTask<'a> = dyn Fn(usize, &mut [f32], &mut [f32]) + Sync + 'a;

/// [`share`] for tasks that work in `each` elements of scratch memory. As many run at a time as `scratch` has room for.
pub fn share_with_scratch(
    (chunk, out): (usize, &mut [f32]),
    (each, scratch): (usize, &mut [f32]),
    task: &ScratchTask<'_>,
) {
    let workers = scratch.len().checked_div(each).unwrap_or(1).max(1);
    let chunks = out.len() / chunk;
    let together = (chunks / (PIECES * workers)).max(1);
    let pieces = shares::of_slice(out, chunk * together);
    let part = |scratch: &mut [f32]| {
        while let Some((at, out)) = pieces.next() {
            for (chunk_at, out) in out.chunks_mut(chunk).enumerate() {
                task(at * together + chunk_at, out, scratch);
            }
        }
    };
    each_scratch(chunks.div_ceil(together), (each, scratch), &part);
}

/// Runs `part`, which does what is left of so many pieces of work, with `each` elements of scratch memory, on as many
/// threads as `scratch` has room for.
fn each_scratch(pieces: usize, (each, scratch): (usize, &mut [f32]), part: &(dyn Fn(&mut [f32]) + Sync)) {
    let workers = scratch.len().checked_div(each).unwrap_or(1);
    if workers <= 1 {
        return part(scratch);
    }
    let scratches = Mutex::new(scratch.chunks_exact_mut(each));
    fork_join::run(workers.min(pieces), &|| {
        if let Some(scratch) = next(&scratches) {
            part(scratch);
        }
    });
}

/// Runs `task` on the numbers below `count`, on several threads, `together` of them at a time.
pub fn for_each(count: usize, together: usize, task: &(dyn Fn(usize) + Sync)) {
    let pieces = Shares::new(count.div_ceil(together), |pieces| pieces);
    fork_join::run(count.div_ceil(together), &|| {
        while let Some(piece) = pieces.next() {
            (piece * together..count.min((piece + 1) * together)).for_each(task);
        }
    });
}

/// What the next thread takes.
fn next<I: Iterator>(pieces: &Mutex<I>) -> Option<I::Item> {
    pieces.lock().ignore_poison().next()
}

#[cfg(test)]
mod tests {
    use super::{PIECES, count, pieces};

    #[test]
    fn all_threads_have_as_many_pieces() {
        let threads = count();
        assert_eq!(pieces(100 * threads, 0), PIECES * threads);
        assert_eq!(pieces(1000 * threads, 1), PIECES * threads);
        assert_eq!(pieces(4 * threads - 1, 1), 3 * threads);
        assert_eq!(pieces(10 * threads, 10), threads);
        // Work for fewer threads; who shares it has two at least.
        assert_eq!(pieces(10 * threads - 1, 10), (threads - 1).max(2));
        assert_eq!(pieces(0, 10), 2);
    }
}
