//! The last lines: accuracy, time, and the backend's own counters.

use std::time::Duration;

use burn::data::dataset::Dataset;
use burn_mpsgraph::Stats;

use crate::digits::Digits;

/// What a run reached and what it cost.
pub struct Report<'a> {
    pub epochs: usize,
    pub digits: &'a Digits,
    pub elapsed: Duration,
    /// Of the saved model, from 0 to 1.
    pub accuracy: f64,
    pub used: Stats,
}

impl Report<'_> {
    pub fn print(&self) {
        let Self { epochs, digits, elapsed, accuracy, used } = self;
        let epochs = *epochs as f64;
        let samples = epochs * (digits.train.len() + digits.test.len()) as f64;
        let seconds = elapsed.as_secs_f64();
        println!("test accuracy of the saved model: {:.2} %", 100.0 * accuracy);
        println!("seconds per epoch: {:.3}", seconds / epochs);
        println!("samples per second: {:.0} (trained and tested)", samples / seconds);
        println!(
            "counters: {} ops recorded, {} programs compiled in {:.2} s, {} found compiled, {} executions, \
             {} commits, {} host reads, {} waits",
            used.ops_recorded,
            used.programs_compiled,
            used.compile_time.as_secs_f64(),
            used.cache_hits,
            used.executions,
            used.commits,
            used.host_reads,
            used.waits
        );
        println!(
            "memory: {} buffers with {} bytes live, {} bytes cached, peak {} bytes; {} bytes uploaded, {} read",
            used.buffers_live,
            used.bytes_live,
            used.bytes_cached,
            used.bytes_peak,
            used.bytes_uploaded,
            used.bytes_read
        );
    }
}
