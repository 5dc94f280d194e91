//! Compilations that take as long as a test wants: what goes on meanwhile shows whether the caller holds locks. And
//! compilations that fail: what is left shows whether the caller puts everything back. And packages that MPSGraph does
//! not take, as it may.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::ignore_poison::IgnorePoison;

/// Whether there is a hold; while there is none, a compilation pays one relaxed load.
static HELD: AtomicBool = AtomicBool::new(false);
static REFUSING: AtomicBool = AtomicBool::new(false);
static NO_PACKAGE: AtomicBool = AtomicBool::new(false);
static LAST_ENCODE: AtomicBool = AtomicBool::new(false);
static GATE: Mutex<Gate> = Mutex::new(Gate { is_closed: false, waiting: 0 });
static CHANGED: Condvar = Condvar::new();

struct Gate {
    is_closed: bool,
    /// Compilations that have begun and cannot go on.
    waiting: usize,
}

fn gate() -> MutexGuard<'static, Gate> {
    GATE.lock().ignore_poison()
}

/// Lets compilations begin, but not go on until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Hold(());

/// Holds the compilations of all threads.
///
/// Panics if they are held already.
pub fn compilations() -> Hold {
    let was_closed = std::mem::replace(&mut gate().is_closed, true);
    assert!(!was_closed, "compilations are held already");
    HELD.store(true, Relaxed);
    Hold(())
}

impl Hold {
    /// Waits until a compilation has begun; whether one has within this time.
    pub fn wait_for_one(&self, limit: Duration) -> bool {
        let nobody = |gate: &mut Gate| gate.waiting == 0;
        let waited = CHANGED.wait_timeout_while(gate(), limit, nobody).ignore_poison();
        !waited.1.timed_out()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        HELD.store(false, Relaxed);
        gate().is_closed = false;
        CHANGED.notify_all();
    }
}

/// The next compilation panics, as when a graph is refused.
pub fn refuse_next() {
    REFUSING.store(true, Relaxed);
}

/// The next executable that is made of a package is nil.
pub fn refuse_next_package() {
    NO_PACKAGE.store(true, Relaxed);
}

/// Whether the executable is to be nil that is being made of a package.
pub(super) fn refuses_package() -> bool {
    NO_PACKAGE.swap(false, Relaxed)
}

/// The next first encode of an executable ends the process.
pub fn end_in_next_first_encode() {
    LAST_ENCODE.store(true, Relaxed);
}

/// Returns if a first encode does not end the process.
pub(super) fn pass_first_encode() {
    if LAST_ENCODE.load(Relaxed) {
        std::process::abort();
    }
}

/// Returns when there is no hold.
pub(super) fn pass() {
    if REFUSING.load(Relaxed) && REFUSING.swap(false, Relaxed) {
        panic!("a test has this compilation refused");
    }
    if !HELD.load(Relaxed) {
        return;
    }
    let mut gate = gate();
    gate.waiting += 1;
    CHANGED.notify_all();
    let mut gate = CHANGED.wait_while(gate, |gate| gate.is_closed).ignore_poison();
    gate.waiting -= 1;
}
