//! MPSGraph may commit the command buffer in the middle of an encode and go on in another, several times: the values
//! are then the same, and a fault in any of them is reported, whenever MPSGraph tells of it.

use std::thread;
use std::time::{Duration, Instant};

use burn::tensor::backend::Backend;
use mpsgraph_soft::metal::fault::{self, Telling};

use super::hangs::Hangs;
use super::mlp::Trainer;
use super::{B, Turn, read, vector};
use burn_mpsgraph::{Error, MpsGraphDevice};

/// `MTLCommandBufferErrorOutOfMemory`
const OUT_OF_MEMORY: usize = 8;

/// Lets every encode commit so many times inside, until this is dropped.
pub(super) struct CommitsInside {
    before: usize,
}

impl CommitsInside {
    pub(super) fn of(times: usize) -> Self {
        Self { before: fault::commit_inside_encode(times) }
    }
}

impl Drop for CommitsInside {
    fn drop(&mut self) {
        fault::commit_inside_encode(self.before);
    }
}

#[test]
fn training_gives_the_same_losses() {
    let _turn = Turn::take();
    let losses = |commits: usize| {
        let _inside = CommitsInside::of(commits);
        B::seed(&MpsGraphDevice, 5);
        let mut trainer = Trainer::adam();
        (0..6).map(|_| trainer.step_and_read()).collect::<Vec<f32>>()
    };
    let whole = losses(0);
    assert!(whole[5].is_finite() && whole[5] != whole[0]);
    assert_eq!(losses(1), whole);
    assert_eq!(losses(3), whole);
}

/// Tells of executions in this way, until this is dropped.
struct Told {
    before: Telling,
}

impl Told {
    fn so(telling: Telling) -> Self {
        Self { before: fault::tell_executions(telling) }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        fault::tell_executions(self.before);
    }
}

/// Lets each command buffer of an encode with so many commits inside fail in turn.
fn each_fails_in_turn(commits: usize) {
    let _inside = CommitsInside::of(commits);
    for failing in 1..=commits + 1 {
        fault::fail_next(failing, OUT_OF_MEMORY);
        let x = vector(&[1.0, 2.0]) + 1.0;
        let error = x.clone().try_into_data().expect_err("a part of the work failed").to_string();
        assert!(error.contains("command buffer"), "{failing} of {commits}: {error}");
        assert!((x * 2.0).try_into_data().is_err(), "a value made from garbage is garbage");
        assert!(B::sync(&MpsGraphDevice).is_err());
        assert_eq!(read(vector(&[3.0]) + 1.0), [4.0]);
        assert!(B::sync(&MpsGraphDevice).is_ok());
    }
}

#[test]
fn a_fault_before_between_or_after_the_commits_is_an_error_of_the_read() {
    let _turn = Turn::take();
    for commits in [1, 2, 3, 6] {
        each_fails_in_turn(commits);
    }
}

#[test]
fn a_read_waits_until_it_is_told_of_its_execution() {
    let _turn = Turn::take();
    let _told = Told::so(Telling::After(Duration::from_millis(30)));
    each_fails_in_turn(3);
}

#[test]
fn a_fault_between_commits_that_nobody_read_comes_out_of_sync() {
    let _turn = Turn::take();
    let _inside = CommitsInside::of(3);
    for telling in [Telling::InOrder, Telling::After(Duration::from_millis(30))] {
        let _told = Told::so(telling);
        fault::fail_next(2, OUT_OF_MEMORY);
        let x = vector(&[1.0, 2.0]) + 1.0;
        let error = B::sync(&MpsGraphDevice).expect_err("told").to_string();
        assert!(error.contains("an execution failed in one of its command buffers"), "{error}");
        assert!(x.try_into_data().is_err());
        assert!(B::sync(&MpsGraphDevice).is_ok());
    }
}

#[test]
fn a_fault_between_commits_wakes_the_task_that_reads() {
    let _turn = Turn::take();
    let _inside = CommitsInside::of(2);
    let _told = Told::so(Telling::After(Duration::from_millis(30)));
    let readers: Vec<_> = (0..4)
        .map(|i| thread::spawn(move || (0..5).map(|j| read(vector(&[(i * j) as f32]) + 1.0)[0]).collect::<Vec<f32>>()))
        .collect();
    for (i, reader) in readers.into_iter().enumerate() {
        let expected: Vec<f32> = (0..5).map(|j| (i * j) as f32 + 1.0).collect();
        assert_eq!(reader.join().expect("no panic"), expected);
    }
}

/// More than one wait for what is not told takes, and less than ten take.
const ONE_WAIT: Duration = Duration::from_secs(6);

/// More than a slow machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_system_that_tells_of_no_execution_is_waited_for_once() {
    let _turn = Turn::take();
    let _inside = CommitsInside::of(3);
    {
        let _told = Told::so(Telling::Never);
        let start = Instant::now();
        for i in 0..10 {
            assert_eq!(read(vector(&[i as f32]) + 1.0), [i as f32 + 1.0]);
        }
        assert!(start.elapsed() < ONE_WAIT, "{:?}", start.elapsed());
        fault::fail_next(1, OUT_OF_MEMORY);
        assert!((vector(&[1.0]) + 1.0).try_into_data().is_err(), "the first command buffer tells itself");
        assert!(B::sync(&MpsGraphDevice).is_err());
    }
    // From the first execution on that is told of, it waits again.
    let start = Instant::now();
    let is_seen = || {
        fault::fail_next(2, OUT_OF_MEMORY);
        let seen = (vector(&[1.0]) + 1.0).try_into_data().is_err();
        thread::sleep(Duration::from_millis(5));
        drop(MpsGraphDevice.sync());
        seen
    };
    while !is_seen() {
        assert!(start.elapsed() < PATIENCE, "it does not wait");
    }
    drop(MpsGraphDevice.sync());
    each_fails_in_turn(3);
}

#[test]
fn what_is_told_too_late_for_the_read_comes_out_of_sync() {
    let _turn = Turn::take();
    let _inside = CommitsInside::of(3);
    let _told = Told::so(Telling::After(Duration::from_secs(3)));
    fault::fail_next(2, OUT_OF_MEMORY);
    assert!((vector(&[1.0]) + 1.0).try_into_data().is_ok(), "nobody knows yet");
    let start = Instant::now();
    while B::sync(&MpsGraphDevice).is_ok() {
        assert!(start.elapsed() < PATIENCE, "it is forgotten");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(B::sync(&MpsGraphDevice).is_ok());
}

#[test]
fn a_hang_with_many_command_buffers_in_flight_ends() {
    let _turn = Turn::take();
    let _hangs = Hangs::begin();
    // Sixteen submissions of eleven command buffers are more than a queue has places for if nobody asks for more.
    let _inside = CommitsInside::of(10);
    fault::report_hang_after(Duration::from_millis(500));
    fault::hang_next(1);
    let mut kept = Vec::new();
    for i in 0..20 {
        kept.push(vector(&[i as f32]) + 1.0);
        MpsGraphDevice.flush();
    }
    fault::report_hang_after(Duration::from_secs(10));
    assert!(matches!(MpsGraphDevice.sync(), Err(Error::Hang { .. })));
    assert_eq!(read(kept.swap_remove(19)), [20.0], "made after the hang");
}
