//! What goes wrong in a program, or stops in the middle, leaves nothing behind and harms nobody else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;

use burn::tensor::{Distribution, Tensor};
use rayon::prelude::*;

use super::mlp::Trainer;
use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// The work's panics are expected: they print nothing here.
fn panics(work: impl FnOnce() + Send + 'static) {
    assert!(thread::spawn(work).join().is_err(), "it should panic");
}

#[test]
fn threads_that_panic_leave_nothing_and_harm_nobody() {
    let turn = Turn::take();
    let shared = vector(&[1.0, 2.0]) * 2.0;
    for round in 0..50 {
        let theirs = shared.clone();
        panics(move || {
            let x = theirs + round as f32;
            let kept = [x.clone().exp(), x.clone() * 2.0];
            if round % 2 == 0 {
                read(x);
            }
            assert!(kept.is_empty(), "in the middle of its work, on purpose");
        });
    }
    assert_eq!(read(shared), [2.0, 4.0]);
    MpsGraphDevice.sync().expect("the device works");
    let used = turn.used();
    assert_eq!((used.buffers_live, used.ops_waiting), (turn.start.buffers_live, 0), "{used:?}");
}

#[test]
fn an_op_that_is_refused_leaves_the_rest_of_the_recording() {
    let turn = Turn::take();
    let x = vector(&[1.0, 2.0, 3.0]) + 1.0;
    for _ in 0..20 {
        let refused = catch_unwind(AssertUnwindSafe(|| x.clone() + vector(&[1.0, 2.0])));
        assert!(refused.is_err());
    }
    assert_eq!(read(x), [2.0, 3.0, 4.0]);
    assert_eq!((turn.used().programs_compiled, turn.used().executions), (1, 1));
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn reads_that_are_given_up_at_any_time_leave_nothing() {
    let turn = Turn::take();
    for round in 0..200_usize {
        let x = Tensor::<B, 1>::random([300], Distribution::Default, &MpsGraphDevice) * 0.0 + round as f32;
        let mut future = Box::pin(x.into_data_async());
        for _ in 0..round % 3 {
            if let Poll::Ready(data) = poll(future.as_mut()) {
                assert_eq!(data.expect("a device").to_vec::<f32>().expect("f32"), [round as f32; 300]);
                break;
            }
        }
        if round % 5 == 0 {
            thread::spawn(move || drop(future)).join().expect("no panic");
        }
    }
    MpsGraphDevice.sync().expect("the device works");
    let used = turn.used();
    assert_eq!((used.buffers_live, used.ops_waiting), (turn.start.buffers_live, 0), "{used:?}");
    assert!(used.programs_compiled <= 4, "{used:?}");
}

#[test]
fn tasks_that_move_between_threads_while_others_train() {
    let _turn = Turn::take();
    let (to_poller, at_poller) = mpsc::channel::<Pin<Box<dyn Future<Output = Vec<f32>> + Send>>>();
    let poller = thread::spawn(move || {
        let read_all = at_poller.into_iter().map(|mut future| {
            loop {
                match poll(future.as_mut()) {
                    Poll::Ready(data) => break data,
                    Poll::Pending => thread::yield_now(),
                }
            }
        });
        read_all.collect::<Vec<_>>()
    });
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut trainer = Trainer::adam();
            (0..30).for_each(|_| assert!(trainer.step_and_read().is_finite()));
        });
        let sent: Vec<f32> = (0..200).map(|i| i as f32).collect();
        sent.par_iter().for_each_with(to_poller, |to_poller, &i| {
            let x = (vector(&[i; 40]) + 1.0) * 2.0;
            let mut read = Box::pin(async move { x.into_data_async().await.expect("a device").to_vec().expect("f32") });
            if (i as usize).is_multiple_of(2) {
                // Begun here, ended there.
                match poll(read.as_mut()) {
                    Poll::Ready(data) => assert_eq!(data, [(i + 1.0) * 2.0; 40]),
                    Poll::Pending => to_poller.send(read).expect("the poller listens"),
                }
            } else {
                to_poller.send(read).expect("the poller listens");
            }
        });
    });
    let found = poller.join().expect("no panic");
    assert!(found.len() >= 100);
    assert!(found.iter().all(|data| data.iter().all(|x| *x == data[0]) && data[0] % 2.0 == 0.0), "{found:?}");
}

#[cfg(soft_runtime)] // the software runtime counts its objects
#[test]
fn long_runs_of_tiny_ops_hold_the_same_objects_and_bytes() {
    let _turn = Turn::take();
    let mut levels = Vec::new();
    for _ in 0..4 {
        for i in 0..2_000 {
            assert_eq!(read(vector(&[i as f32]) + 1.0), [i as f32 + 1.0]);
            drop(vector(&[i as f32]) * 2.0);
        }
        MpsGraphDevice.sync().expect("the device works");
        let stats = MpsGraphDevice.stats();
        levels.push((super::training::objects_without_command_buffers(), stats.bytes_of_driver, stats.buffers_cached));
    }
    assert_eq!(levels[1], levels[3]);
}

#[test]
fn tensors_beyond_what_a_buffer_holds_are_refused_before_anything_is_recorded() {
    let turn = Turn::take();
    let row = Tensor::<B, 2>::ones([1, 1 << 16], &MpsGraphDevice);
    let refused = catch_unwind(AssertUnwindSafe(|| row.clone().expand([1 << 15, 1 << 16])));
    let panic = refused.expect_err("2^31 elements");
    let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
    assert!(text.contains("split the tensor"), "{text}");
    assert_eq!(read(row.sum()), [65536.0]);
    assert_eq!(turn.used().executions, 1);
}
