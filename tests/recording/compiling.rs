//! A compilation, which takes long on a Mac, stops only the threads that need what it compiles.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mpsgraph_soft::mpsgraph::hold;

use super::{Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// Nothing here takes so long.
const LIMIT: Duration = Duration::from_secs(30);

/// Compiled once.
fn cached() -> Vec<f32> {
    read(vector(&[1.0, 2.0]) + 1.0)
}

#[test]
fn other_threads_flush_cached_programs_and_read_counters() {
    let turn = Turn::take();
    assert_eq!(cached(), [2.0, 3.0]);
    let kept = vector(&[5.0]) * 3.0;
    let held = hold::compilations();
    let compiling = thread::spawn(|| read(vector(&[3.0, 4.0]) * 2.0));
    assert!(held.wait_for_one(LIMIT), "the other thread compiles");
    let (to_main, at_main) = mpsc::channel();
    let going_on = thread::spawn(move || {
        let found: Vec<_> = (0..20).map(|_| cached()).collect();
        MpsGraphDevice.memory_cleanup();
        let _ = to_main.send((found, MpsGraphDevice.stats()));
    });
    let outcome = at_main.recv_timeout(LIMIT);
    drop(held);
    assert_eq!(compiling.join().expect("no panic"), [6.0, 8.0]);
    let (found, stats) = outcome.expect("cached programs, counters and cleaning up do not wait for a compilation");
    let used = stats.since(&turn.start);
    going_on.join().expect("no panic");
    assert_eq!(found, vec![[2.0, 3.0]; 20]);
    assert_eq!((used.programs_compiled, used.executions), (1, 21));
    assert_eq!(read(kept), [15.0]);
    assert_eq!(turn.used().programs_compiled, 3);
}
