//! The device without a patch: values, what a step costs, streams, errors, and who is served.

mod errors;
#[cfg(target_os = "linux")] // the listeners are read from /proc
mod guests;
mod streams;
mod training;

use std::sync::{Mutex, MutexGuard, PoisonError};

use burn::tensor::Device;

/// The device, for one test at a time: the counters are the process's.
fn device() -> (Device, MutexGuard<'static, ()>) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    (burn_mpsgraph::device().expect("a server of this process"), turn)
}
