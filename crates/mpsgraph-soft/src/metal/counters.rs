//! Counts of what Metal did in this process, for tests and for `-[MTLDevice currentAllocatedSize]`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static COMMITTED: AtomicU64 = AtomicU64::new(0);
static COMPLETED: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicU64 = AtomicU64::new(0);
static BUFFERS_MADE: AtomicU64 = AtomicU64::new(0);
static BUFFERS_LIVE: AtomicU64 = AtomicU64::new(0);
static BYTES_LIVE: AtomicU64 = AtomicU64::new(0);
static BYTES_PEAK: AtomicU64 = AtomicU64::new(0);
static SCRATCH_LIVE: AtomicU64 = AtomicU64::new(0);

/// A reading of all counters. All but the `live` ones only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Command buffers committed.
    pub committed: u64,
    /// Command buffers that ended, successfully or in error.
    pub completed: u64,
    /// Those of `completed` that ended in error.
    pub failed: u64,
    /// Buffers ever made.
    pub buffers_made: u64,
    /// Buffers alive.
    pub buffers_live: u64,
    /// Bytes allocated for the buffers alive, whole pages.
    pub bytes_live: u64,
    /// The most that `bytes_live` ever was.
    pub bytes_peak: u64,
    /// Bytes of scratch memory that `MPSCommandBuffer`s alive hold for what was encoded on them, whole pages.
    pub scratch_live: u64,
}

/// Reads every counter, one after the other: other threads may change them in between.
pub fn snapshot() -> Counters {
    Counters {
        committed: COMMITTED.load(Relaxed),
        completed: COMPLETED.load(Relaxed),
        failed: FAILED.load(Relaxed),
        buffers_made: BUFFERS_MADE.load(Relaxed),
        buffers_live: BUFFERS_LIVE.load(Relaxed),
        bytes_live: BYTES_LIVE.load(Relaxed),
        bytes_peak: BYTES_PEAK.load(Relaxed),
        scratch_live: SCRATCH_LIVE.load(Relaxed),
    }
}

/// Bytes allocated for the buffers alive and for scratch memory.
pub fn bytes_allocated() -> u64 {
    BYTES_LIVE.load(Relaxed) + SCRATCH_LIVE.load(Relaxed)
}

pub(super) fn committed() {
    COMMITTED.fetch_add(1, Relaxed);
}

pub(super) fn completed(failed: bool) {
    COMPLETED.fetch_add(1, Relaxed);
    if failed {
        FAILED.fetch_add(1, Relaxed);
    }
}

pub(super) fn allocated(bytes: usize) {
    BUFFERS_MADE.fetch_add(1, Relaxed);
    BUFFERS_LIVE.fetch_add(1, Relaxed);
    let live = BYTES_LIVE.fetch_add(bytes as u64, Relaxed) + bytes as u64;
    BYTES_PEAK.fetch_max(live, Relaxed);
}

pub(super) fn freed(bytes: usize) {
    BUFFERS_LIVE.fetch_sub(1, Relaxed);
    BYTES_LIVE.fetch_sub(bytes as u64, Relaxed);
}

pub(crate) fn scratch_held(bytes: usize) {
    SCRATCH_LIVE.fetch_add(bytes as u64, Relaxed);
}

pub(crate) fn scratch_let_go(bytes: usize) {
    SCRATCH_LIVE.fetch_sub(bytes as u64, Relaxed);
}
