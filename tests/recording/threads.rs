//! Many threads record, share tensors and read.

use std::sync::mpsc;
use std::thread;

use burn::tensor::Tensor;

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

#[test]
fn eight_threads_share_a_recorded_tensor_and_read_right_numbers() {
    let _turn = Turn::take();
    for _ in 0..20 {
        let shared = vector(&[1.0, 2.0, 3.0]) * 2.0;
        let workers: Vec<_> = (0..8)
            .map(|i| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let mut x = shared.clone();
                    for _ in 0..10 {
                        x = x + shared.clone() * i as f32;
                    }
                    read(x)
                })
            })
            .collect();
        for (i, worker) in workers.into_iter().enumerate() {
            let factor = 2.0 + 20.0 * i as f32;
            assert_eq!(worker.join().expect("no panic"), [factor, 2.0 * factor, 3.0 * factor]);
        }
        assert_eq!(read(shared), [2.0, 4.0, 6.0]);
    }
}

#[test]
fn another_thread_s_read_flushes_only_up_to_the_value_it_asks_for() {
    let turn = Turn::take();
    let first = vector(&[1.0, 2.0]) + 1.0;
    let second = first.clone() * 10.0;
    let sent = first.clone();
    let found = thread::spawn(move || read(sent)).join().expect("no panic");
    assert_eq!(found, [2.0, 3.0]);
    assert_eq!(turn.used().executions, 1);
    assert_eq!(read(second), [20.0, 30.0]);
    let used = turn.used();
    assert_eq!((used.executions, used.programs_compiled), (2, 2));
}

#[test]
fn what_a_thread_recorded_outlives_it() {
    let _turn = Turn::take();
    let x = thread::spawn(|| vector(&[1.0, 2.0]).exp()).join().expect("no panic");
    assert_eq!(read(x.log().round()), [1.0, 2.0]);
}

#[test]
fn a_pipeline_of_threads_hands_recorded_tensors_on() {
    let _turn = Turn::take();
    let (to_worker, at_worker) = mpsc::sync_channel::<Tensor<B, 1>>(1);
    let (to_reader, at_reader) = mpsc::sync_channel::<Tensor<B, 1>>(1);
    let worker = thread::spawn(move || {
        for x in at_worker {
            to_reader.send(x * 2.0 + 1.0).expect("the reader listens");
        }
    });
    let reader = thread::spawn(move || at_reader.into_iter().map(read).collect::<Vec<_>>());
    for i in 0..50 {
        to_worker.send(vector(&[i as f32]) + 0.5).expect("the worker listens");
    }
    drop(to_worker);
    worker.join().expect("no panic");
    let found = reader.join().expect("no panic");
    let expected: Vec<Vec<f32>> = (0..50).map(|i| vec![2.0 * (i as f32 + 0.5) + 1.0]).collect();
    assert_eq!(found, expected);
}

#[test]
fn threads_that_end_leave_no_buffers_behind() {
    let turn = Turn::take();
    for _ in 0..10 {
        let workers: Vec<_> =
            (0..4).map(|i| thread::spawn(move || drop((vector(&[i as f32; 100]) + 1.0).exp()))).collect();
        workers.into_iter().for_each(|worker| worker.join().expect("no panic"));
    }
    MpsGraphDevice.sync().expect("the device works");
    assert_eq!(turn.used().buffers_live, turn.start.buffers_live);
}
