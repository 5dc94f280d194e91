//! No wait lasts for ever: when the device ends nothing any more, what waits for it gets an error; the rest goes on.

use std::thread;
use std::time::{Duration, Instant};

use burn::tensor::{Tensor, TensorData};
use mpsgraph_soft::metal::{counters, fault};

use super::{B, Turn, read, vector};
use burn_mpsgraph::{Error, MpsGraphDevice};

/// What tests set as the limit of a wait.
pub const LIMIT: Duration = Duration::from_millis(250);
/// More than a slow machine needs.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Submissions that may be in flight.
pub const IN_FLIGHT: usize = 16;

/// Lets waits be short; dropped, it ends all hangs and waits until nothing is left of them.
pub struct Hangs;

impl Hangs {
    pub fn begin() -> Self {
        MpsGraphDevice.set_wait_limit(LIMIT);
        Self
    }

    /// Ends all hangs, and waits until the device is done with what it had begun.
    pub fn end(&self) {
        fault::end_hangs();
        let start = Instant::now();
        loop {
            // What was lost may still be reported.
            drop(MpsGraphDevice.sync());
            MpsGraphDevice.memory_cleanup();
            if MpsGraphDevice.stats().buffers_cached == 0 {
                return;
            }
            if start.elapsed() > PATIENCE {
                assert!(thread::panicking(), "buffers are still claimed");
                return;
            }
            thread::yield_now();
        }
    }
}

impl Drop for Hangs {
    fn drop(&mut self) {
        self.end();
        MpsGraphDevice.set_wait_limit(Duration::from_secs(120));
    }
}

/// A number and one more, submitted by itself.
pub fn flushed(i: usize) -> Tensor<B, 1> {
    let value = vector(&[i as f32]) + 1.0;
    MpsGraphDevice.flush_thread();
    value
}

fn is_hang(outcome: Result<(), Error>) -> bool {
    matches!(outcome, Err(Error::Hang { .. }))
}

#[test]
fn a_read_of_work_that_never_ends_is_an_error() {
    let _turn = Turn::take();
    let hangs = Hangs::begin();
    fault::hang_next(1);
    let x = vector(&[1.0, 2.0]) + 1.0;
    let error = x.clone().try_into_data().expect_err("it hangs").to_string();
    for part in ["device hang", "waited for submission", "250ms", "BURN_MPSGRAPH_WAIT_SECONDS", "set_wait_limit"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!((x.clone() * 2.0).try_into_data().is_err(), "what depends on it is lost");
    assert_eq!(read(vector(&[3.0]) + 1.0), [4.0], "what does not goes on");
    assert!(is_hang(MpsGraphDevice.sync()));
    assert!(MpsGraphDevice.sync().is_ok());
    hangs.end();
    assert!(x.try_into_data().is_err(), "lost once and for all");
}

#[test]
fn sync_is_an_error_when_the_device_hangs() {
    let _turn = Turn::take();
    let _hangs = Hangs::begin();
    fault::hang_next(1);
    let x = vector(&[1.0, 2.0]) + 1.0;
    assert!(is_hang(MpsGraphDevice.sync()));
    assert!(MpsGraphDevice.sync().is_ok());
    assert!(x.try_into_data().is_err());
}

#[test]
fn a_queue_that_is_full_of_work_that_hangs_ends() {
    let _turn = Turn::take();
    let _hangs = Hangs::begin();
    fault::hang_next(1);
    let mut kept = Vec::new();
    for i in 0..40 {
        kept.push(vector(&[i as f32]) + 1.0);
        MpsGraphDevice.flush();
    }
    assert!(is_hang(MpsGraphDevice.sync()));
    let lost = kept.iter().filter(|x| (*x).clone().try_into_data().is_err()).count();
    assert!((1..40).contains(&lost), "{lost}: the first are lost, the last are made after the hang");
    assert_eq!(read(kept.swap_remove(39)), [40.0]);
}

/// What may be in flight is bounded in bytes; work that has ended is none of it.
#[test]
fn work_that_has_ended_makes_room_for_other_work() {
    let _turn = Turn::take();
    for _ in 0..20 {
        let large = Tensor::<B, 1>::from_data(TensorData::new(vec![1.0f32; 4 << 20], [4 << 20]), &MpsGraphDevice);
        assert_eq!(read((large + 1.0).slice(0..1)), [2.0]);
    }
    let hangs = Hangs::begin();
    fault::hang_next(1);
    let values: Vec<_> = (0..5).map(flushed).collect();
    hangs.end();
    for (i, value) in values.into_iter().enumerate() {
        assert_eq!(read(value), [i as f32 + 1.0], "nothing waited for the work that hung");
    }
}

/// What waits for room finds out that work has hung, and with it what it was to read.
#[test]
fn a_hang_that_a_flush_finds_costs_only_what_reads_its_values() {
    let _turn = Turn::take();
    let _hangs = Hangs::begin();
    let kept = vector(&[5.0]) + 1.0;
    MpsGraphDevice.sync().expect("the device works");
    fault::hang_next(1);
    let stuck: Vec<_> = (0..IN_FLIGHT).map(flushed).collect();
    let dependent = stuck[0].clone() * 3.0;
    let other = kept.clone() * 3.0;
    MpsGraphDevice.flush_thread();
    assert_eq!(read(other), [18.0]);
    assert!(dependent.try_into_data().is_err());
    for value in stuck {
        assert!(value.try_into_data().is_err(), "it was behind what hung");
    }
}

#[test]
fn all_threads_that_wait_are_told_at_the_same_time() {
    let turn = Turn::take();
    let _hangs = Hangs::begin();
    fault::hang_next(1);
    drop(vector(&[1.0, 2.0]).exp());
    let first = vector(&[1.0, 2.0]) + 1.0;
    MpsGraphDevice.flush();
    let start = Instant::now();
    let waiting: Vec<_> =
        (0..6).map(|i| thread::spawn(move || (vector(&[i as f32]) + 1.0).try_into_data().is_err())).collect();
    assert!(first.try_into_data().is_err());
    for waiting in waiting {
        // A thread that was late found the fresh queue.
        waiting.join().expect("no panic");
    }
    assert!(start.elapsed() < PATIENCE);
    assert_eq!(read(vector(&[3.0]) + 1.0), [4.0]);
    assert!(turn.used().executions >= 8);
}

#[test]
fn buffers_of_work_that_hangs_are_left_alone() {
    let _turn = Turn::take();
    let hangs = Hangs::begin();
    const LENGTH: usize = 5000;
    let weight = Tensor::<B, 1>::from_floats([3.0; LENGTH], &MpsGraphDevice);
    let (own, failed) = (vector(&[1.0; LENGTH]), counters::snapshot().failed);
    fault::hang_next(1);
    // Nobody else holds `own`, and nobody the result: their buffers would be free.
    assert!((own * weight.clone()).try_into_data().is_err());
    let others: Vec<Tensor<B, 1>> = (0..20).map(|i| vector(&[i as f32; LENGTH]) + weight.clone()).collect();
    MpsGraphDevice.sync().expect_err("not reported yet");
    MpsGraphDevice.memory_cleanup();
    let more: Vec<Tensor<B, 1>> = (0..20).map(|i| vector(&[i as f32; LENGTH]) * 2.0).collect();
    MpsGraphDevice.sync().expect("the device goes on");
    // Now the work that hung reads its operands and writes its result.
    hangs.end();
    assert_eq!(counters::snapshot().failed, failed, "the host has not written what the work was reading");
    for (i, (other, more)) in others.into_iter().zip(more).enumerate() {
        assert_eq!(read(other), [i as f32 + 3.0; LENGTH]);
        assert_eq!(read(more), [i as f32 * 2.0; LENGTH]);
    }
    assert_eq!(read(weight), [3.0; LENGTH]);
}

#[test]
fn a_device_that_hangs_again_refuses_at_once_until_it_goes_on() {
    let mut turn = Turn::take();
    let hangs = Hangs::begin();
    let kept = vector(&[7.0]) + 1.0;
    MpsGraphDevice.sync().expect("the device works");
    for _ in 0..2 {
        fault::hang_next(1);
        assert!((vector(&[1.0]) + 1.0).try_into_data().is_err());
    }
    turn.restart();
    for _ in 0..20 {
        assert!((vector(&[1.0]) + 1.0).try_into_data().is_err());
        assert!((kept.clone() * 2.0).exp().try_into_data().is_err());
    }
    let used = turn.used();
    assert_eq!((used.waits, used.commits), (0, 0), "{used:?}");
    assert_eq!(read(kept.clone()), [8.0], "what was ready can be saved");
    hangs.end();
    assert_eq!(read(kept * 2.0), [16.0]);
}

#[test]
fn slow_work_is_not_given_up_while_the_device_ends_something() {
    let _turn = Turn::take();
    let hangs = Hangs::begin();
    MpsGraphDevice.set_wait_limit(PATIENCE);
    fault::hang_next(1);
    let x = vector(&[1.0, 2.0]) + 1.0;
    MpsGraphDevice.flush();
    let reader = thread::spawn(move || read(x));
    thread::sleep(LIMIT);
    fault::end_hangs();
    assert_eq!(reader.join().expect("no panic"), [2.0, 3.0]);
    drop(hangs);
}
