//! What threads leave behind that have ended has the bounds of one recording.

use std::thread;

use burn::tensor::Tensor;

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// Bytes of a [`batch`].
const BATCH: usize = 1 << 16;

/// Bytes that may be held.
const LIMIT: usize = 16 * BATCH;

/// The bound while a test runs.
struct HeldLimit;

impl HeldLimit {
    fn begin() -> Self {
        MpsGraphDevice.set_held_limit(LIMIT);
        Self
    }
}

impl Drop for HeldLimit {
    fn drop(&mut self) {
        MpsGraphDevice.set_held_limit(128 << 20);
    }
}

fn batch(number: usize) -> Tensor<B, 1> {
    vector(&[number as f32; BATCH / 4])
}

/// What a thread has recorded that ends unread.
fn mean_by_a_thread(x: &Tensor<B, 1>) -> Tensor<B, 1> {
    thread::scope(|scope| scope.spawn(|| x.clone().mean()).join().expect("no panic"))
}

fn check(means: Vec<Tensor<B, 1>>) {
    for (number, mean) in means.into_iter().enumerate() {
        assert!((read(mean)[0] - number as f32).abs() < 1e-2, "batch {number}");
    }
}

#[test]
fn their_ops_are_few() {
    let turn = Turn::take();
    let work = |start: f32| (1..200).fold(vector(&[start]) + 0.5, |x, _| x + 1.0);
    let made: Vec<_> = (0..100).map(|i| thread::spawn(move || work(i as f32)).join().expect("no panic")).collect();
    let used = turn.used();
    assert!(used.ops_waiting < 2_048, "{used:?}");
    assert_eq!((used.executions, used.programs_compiled), (90, 1), "a thread that ends submits its own");
    for (i, made) in made.into_iter().enumerate() {
        assert_eq!(read(made), [i as f32 + 199.5]);
    }
    assert_eq!(turn.used().ops_waiting, 0);
}

#[test]
fn batches_that_are_dropped_when_the_thread_has_ended_are_few() {
    let turn = Turn::take();
    let _limit = HeldLimit::begin();
    let mut most = 0;
    let mean = |number| {
        let mean = mean_by_a_thread(&batch(number));
        most = most.max(turn.used().bytes_held);
        mean
    };
    let means = (0..200).map(mean).collect();
    // A look for each quarter of the bound that threads have read.
    assert!((LIMIT..=LIMIT + LIMIT / 4).contains(&(most as usize)), "{most} bytes where {LIMIT} may be held");
    assert_eq!(turn.used().programs_compiled, 1);
    check(means);
    assert_eq!(turn.used().buffers_live, turn.start.buffers_live);
}

#[test]
fn batches_that_are_dropped_together_are_submitted_when_the_next_threads_end() {
    let turn = Turn::take();
    let _limit = HeldLimit::begin();
    let batches: Vec<_> = (0..100).map(batch).collect();
    let mut means: Vec<_> = batches.iter().map(mean_by_a_thread).collect();
    assert_eq!((turn.used().executions, turn.used().bytes_held), (0, 0), "somebody else holds them");
    drop(batches);
    assert_eq!(turn.used().bytes_held as usize, 100 * BATCH);
    means.extend((100..104).map(|number| mean_by_a_thread(&batch(number))));
    let used = turn.used();
    assert!((used.bytes_held as usize) < LIMIT + LIMIT / 4, "{used:?}");
    check(means);
}
