//! How long the steps of plans take, for benchmarks. Nothing is measured unless somebody asks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::step::Step;
use crate::ignore_poison::IgnorePoison;

static ON: AtomicBool = AtomicBool::new(false);
static TIMES: Mutex<Vec<StepTime>> = Mutex::new(Vec::new());

/// A step as text, and how long it took.
pub type StepTime = (String, Duration);

/// Runs `work`, and returns with its result the steps of all plans that ran meanwhile, in the order in which they
/// ended.
pub fn time_steps<R>(work: impl FnOnce() -> R) -> (R, Vec<StepTime>) {
    TIMES.lock().ignore_poison().clear();
    ON.store(true, Relaxed);
    let result = work();
    ON.store(false, Relaxed);
    (result, std::mem::take(&mut TIMES.lock().ignore_poison()))
}

/// Whether somebody asks.
pub(super) fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Runs a step and notes how long it took.
pub(super) fn measure(step: &Step, run: impl FnOnce()) {
    let start = Instant::now();
    run();
    let time = start.elapsed();
    TIMES.lock().ignore_poison().push((step.describe(), time));
}
