//! Counters of everything that costs time or memory. They show the performance independently of the machine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::flush::FlushReason;

/// A reading of the device's counters, from [`MpsGraphDevice::stats`](crate::MpsGraphDevice::stats). Counts run from
/// the start of the process; subtract two readings with [`Stats::since`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Ops recorded.
    pub ops_recorded: u64,
    /// Programs compiled into an executable.
    pub programs_compiled: u64,
    /// Programs loaded that another process, or this one before, had compiled and kept.
    pub programs_loaded: u64,
    /// Programs kept for other processes.
    pub programs_kept: u64,
    /// Ops of the programs that were compiled, as patterns have rewritten them.
    pub nodes_compiled: u64,
    /// Programs that were looked up and found compiled. A flush that is divided looks up several.
    pub cache_hits: u64,
    /// Programs dropped from the cache to keep its bounds.
    pub cache_evictions: u64,
    /// Programs in the cache now.
    pub programs_cached: u64,
    /// Runs of an executable.
    pub executions: u64,
    /// Command buffers committed.
    pub commits: u64,
    /// Reads of device data by the host; the tensors of one transaction count once.
    pub host_reads: u64,
    /// Waits for a command buffer that was not done yet when a read, `sync` or a full queue asked for it.
    pub waits: u64,
    /// Bytes copied from the host into buffers, scalars fed to programs included.
    pub bytes_uploaded: u64,
    /// Bytes handed to the host.
    pub bytes_read: u64,
    /// Buffers that hold a value now.
    pub buffers_live: u64,
    /// Bytes of those buffers.
    pub bytes_live: u64,
    /// Free buffers kept for reuse.
    pub buffers_cached: u64,
    /// Bytes of those buffers.
    pub bytes_cached: u64,
    /// The most bytes that live buffers took since the start, or the last
    /// [`reset_peak`](crate::MpsGraphDevice::reset_peak).
    pub bytes_peak: u64,
    /// Time spent compiling.
    pub compile_time: Duration,
    /// The longest time that one program took to compile.
    pub longest_compile: Duration,
    /// Flushes because the recording thread read a value.
    pub flushes_for_reads: u64,
    /// Flushes because another thread read or used a value.
    pub flushes_for_other_threads: u64,
    /// Flushes by `sync` or `flush`, or because no memory was free for an upload.
    pub flushes_for_sync: u64,
    /// Flushes because too much was recorded, also by threads that have ended.
    pub flushes_at_bounds: u64,
    /// Flushes of a single op: by `BURN_MPSGRAPH_EAGER=1`, by `eagerly`, or in a thread that is ending. The first one
    /// by `eagerly` also takes what the thread has recorded before.
    pub flushes_of_one_op: u64,
    /// Submissions that the device has not finished, now.
    pub in_flight: u64,
    /// Recordings of threads, also of ended ones whose values are kept, now.
    pub recordings: u64,
    /// Ops that are recorded and not flushed, now.
    pub ops_waiting: u64,
    /// Bytes of values that only those ops hold, now.
    pub bytes_held: u64,
    /// Bytes that the driver has allocated for this process on the device, now.
    pub bytes_of_driver: u64,
    /// Bytes that the device recommends to use at most.
    pub bytes_recommended: u64,
}

impl Stats {
    /// What was counted between `earlier` and this reading. The levels (programs, buffers and bytes now, peaks, maxima)
    /// are this reading's.
    pub fn since(&self, earlier: &Stats) -> Stats {
        let count = |of: fn(&Stats) -> u64| of(self).saturating_sub(of(earlier));
        Stats {
            ops_recorded: count(|s| s.ops_recorded),
            programs_compiled: count(|s| s.programs_compiled),
            programs_loaded: count(|s| s.programs_loaded),
            programs_kept: count(|s| s.programs_kept),
            nodes_compiled: count(|s| s.nodes_compiled),
            cache_hits: count(|s| s.cache_hits),
            cache_evictions: count(|s| s.cache_evictions),
            executions: count(|s| s.executions),
            commits: count(|s| s.commits),
            host_reads: count(|s| s.host_reads),
            waits: count(|s| s.waits),
            bytes_uploaded: count(|s| s.bytes_uploaded),
            bytes_read: count(|s| s.bytes_read),
            compile_time: self.compile_time.saturating_sub(earlier.compile_time),
            flushes_for_reads: count(|s| s.flushes_for_reads),
            flushes_for_other_threads: count(|s| s.flushes_for_other_threads),
            flushes_for_sync: count(|s| s.flushes_for_sync),
            flushes_at_bounds: count(|s| s.flushes_at_bounds),
            flushes_of_one_op: count(|s| s.flushes_of_one_op),
            programs_cached: self.programs_cached,
            buffers_live: self.buffers_live,
            bytes_live: self.bytes_live,
            buffers_cached: self.buffers_cached,
            bytes_cached: self.bytes_cached,
            bytes_peak: self.bytes_peak,
            longest_compile: self.longest_compile,
            in_flight: self.in_flight,
            recordings: self.recordings,
            ops_waiting: self.ops_waiting,
            bytes_held: self.bytes_held,
            bytes_of_driver: self.bytes_of_driver,
            bytes_recommended: self.bytes_recommended,
        }
    }
}

/// The running counts for [`Stats`]; the pool and the cache count their buffers and programs themselves.
#[derive(Default)]
pub(super) struct Counters {
    pub programs_compiled: Counter,
    pub programs_loaded: Counter,
    pub programs_kept: Counter,
    pub cache_hits: Counter,
    pub executions: Counter,
    pub commits: Counter,
    pub host_reads: Counter,
    pub waits: Counter,
    pub bytes_uploaded: Counter,
    pub bytes_read: Counter,
    pub compile_nanoseconds: Counter,
    pub longest_compile_nanoseconds: Counter,
    pub nodes_compiled: Counter,
    pub flushes_for_reads: Counter,
    pub flushes_for_other_threads: Counter,
    pub flushes_for_sync: Counter,
    pub flushes_at_bounds: Counter,
    pub flushes_of_one_op: Counter,
}

/// A count that any thread may increase.
#[derive(Default)]
pub(super) struct Counter(AtomicU64);

impl Counters {
    /// The count of flushes for this reason.
    pub fn flushes(&self, reason: FlushReason) -> &Counter {
        match reason {
            FlushReason::Read => &self.flushes_for_reads,
            FlushReason::OtherThread => &self.flushes_for_other_threads,
            FlushReason::Sync => &self.flushes_for_sync,
            FlushReason::Bound => &self.flushes_at_bounds,
            FlushReason::Eager => &self.flushes_of_one_op,
        }
    }
}

impl Counter {
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// As [`Self::add`], for a count that is only increased under one lock, which costs less.
    pub fn add_locked(&self, n: u64) {
        self.0.store(self.get() + n, Ordering::Relaxed);
    }

    /// Makes the count at least `n`.
    pub fn raise_to(&self, n: u64) {
        self.0.fetch_max(n, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
