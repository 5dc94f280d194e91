//! Counters of everything that costs time or memory. They show the performance independently of the machine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::flush::FlushReason;

/// A reading of the device's counters, from [`MpsGraphDevice::stats`](crate::MpsGraphDevice::stats). Counts run from
/// the start of the process; subtract two readings with [`Stats::since`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Ops recorded.
    pub ops_recorded: u64,
    /// Programs compiled into an executable.
    pub programs_compiled: u64,
    /// Flushes that found their program compiled.
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
    /// Times a thread waited for a command buffer that was not done yet when it asked.
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
    /// The most bytes that live buffers ever took.
    pub bytes_peak: u64,
    /// Time spent compiling.
    pub compile_time: Duration,
}

impl Stats {
    /// What was counted between `earlier` and this reading. The levels (`programs_cached`, live, cached and peak
    /// buffers and bytes) are this reading's.
    pub fn since(&self, earlier: &Stats) -> Stats {
        Stats {
            ops_recorded: self.ops_recorded - earlier.ops_recorded,
            programs_compiled: self.programs_compiled - earlier.programs_compiled,
            cache_hits: self.cache_hits - earlier.cache_hits,
            cache_evictions: self.cache_evictions - earlier.cache_evictions,
            executions: self.executions - earlier.executions,
            commits: self.commits - earlier.commits,
            host_reads: self.host_reads - earlier.host_reads,
            waits: self.waits - earlier.waits,
            bytes_uploaded: self.bytes_uploaded - earlier.bytes_uploaded,
            bytes_read: self.bytes_read - earlier.bytes_read,
            compile_time: self.compile_time - earlier.compile_time,
            ..*self
        }
    }
}

/// The running counts for [`Stats`]; the pool and the cache count their buffers and programs themselves.
#[derive(Default)]
pub(super) struct Counters {
    pub ops_recorded: Counter,
    pub programs_compiled: Counter,
    pub cache_hits: Counter,
    pub executions: Counter,
    pub commits: Counter,
    pub host_reads: Counter,
    pub waits: Counter,
    pub bytes_uploaded: Counter,
    pub bytes_read: Counter,
    pub compile_nanoseconds: Counter,
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

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
