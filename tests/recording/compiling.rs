//! A compilation, which takes long on a Mac, stops only the threads that need what it compiles; one that panics loses
//! only what it should have made.

use std::panic::catch_unwind;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mpsgraph_soft::mpsgraph::hold;

use super::pieces::{any_ops, matrix};
use super::{B, Choice, Turn, read, vector};
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

/// Ops that another thread has cut are the caller's all the same.
#[test]
fn sync_waits_for_what_another_thread_compiles_and_flush_does_not() {
    let turn = Turn::take();
    let x = vector(&[1.0]) + 1.0;
    let theirs = x.clone();
    let held = hold::compilations();
    let compiling = thread::spawn(move || read(theirs));
    assert!(held.wait_for_one(LIMIT), "the other thread compiles");
    MpsGraphDevice.flush();
    let (to_main, at_main) = mpsc::channel();
    let syncing = thread::spawn(move || {
        let outcome = MpsGraphDevice.sync();
        let _ = to_main.send((outcome, MpsGraphDevice.stats()));
    });
    assert!(at_main.recv_timeout(Duration::from_millis(100)).is_err(), "the ops have not run");
    drop(held);
    let (outcome, stats) = at_main.recv_timeout(LIMIT).expect("the other flush has ended");
    assert_eq!((outcome, stats.since(&turn.start).executions), (Ok(()), 1));
    syncing.join().expect("no panic");
    assert_eq!((compiling.join().expect("no panic"), read(x)), (vec![2.0], vec![2.0]));
}

#[test]
fn a_panic_inside_a_flush_fails_its_values_and_leaves_nothing() {
    let turn = Turn::take();
    let (x, kept) = (vector(&[1.0, 2.0]), vector(&[3.0]) * 2.0);
    assert_eq!(read(kept.clone()), [6.0]);
    let lost = [x.clone() + 1.0, x.clone().exp()];
    hold::refuse_next();
    let asked = lost[0].clone();
    assert!(catch_unwind(move || read(asked)).is_err(), "a panic is passed on");
    for value in &lost {
        let error = value.clone().try_into_data().expect_err("it was not made").to_string();
        assert!(error.contains("panicked") && error.contains("a test has this compilation refused"), "{error}");
        assert!((value.clone() * 2.0).try_into_data().is_err(), "nor what depends on it");
    }
    assert_eq!(read(kept + 1.0), [7.0]);
    assert_eq!(read(x + 1.0), [2.0, 3.0], "it is compiled the next time");
    drop(lost);
    let _ = MpsGraphDevice.sync();
    let used = turn.used();
    assert_eq!((used.buffers_live, used.ops_waiting), (turn.start.buffers_live, 0), "{used:?}");
}

#[test]
fn a_panic_between_the_parts_of_a_flush_fails_what_they_have_not_made() {
    let turn = Turn::take();
    let mut choice = Choice(1);
    let mut ops = || any_ops(matrix::<B>(6, 6, 0, &MpsGraphDevice), 20, &mut choice);
    for _ in 0..40 {
        read(ops());
    }
    let before = turn.used().programs_compiled;
    let made = ops();
    // An op that is not known yet: the one that has to be compiled.
    let lost = made.clone().cosh();
    let dependent = lost.clone() * 0.9;
    hold::refuse_next();
    assert!(catch_unwind(move || read(dependent)).is_err(), "a panic is passed on");
    let error = lost.try_into_data().expect_err("it was not made").to_string();
    assert!(error.contains("panicked"), "{error}");
    assert_eq!(read(made).len(), 36, "it was made before");
    assert_eq!(turn.used().programs_compiled, before);
    let _ = MpsGraphDevice.sync();
    assert_eq!((turn.used().buffers_live, turn.used().ops_waiting), (turn.start.buffers_live, 0));
}

#[test]
fn a_panic_in_sync_leaves_nothing_of_threads_that_have_ended() {
    let turn = Turn::take();
    let made: Vec<_> =
        (0..3).map(|i| thread::spawn(move || vector(&[i as f32; 9]) * 2.0 + 1.0).join().expect("no panic")).collect();
    hold::refuse_next();
    assert!(catch_unwind(|| MpsGraphDevice.sync()).is_err(), "a panic is passed on");
    assert_eq!(made.iter().filter(|x| (*x).clone().try_into_data().is_ok()).count(), 2);
    drop(made);
    let _ = MpsGraphDevice.sync();
    let used = turn.used();
    assert_eq!((used.buffers_live, used.ops_waiting), (turn.start.buffers_live, 0), "{used:?}");
}
