//! Only values that can still be asked for are computed and kept.

use burn::nn::{LayerNormConfig, LinearConfig};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

#[test]
fn nothing_runs_until_a_value_is_read_and_then_all_as_one_program() {
    let turn = Turn::take();
    let x = vector(&[1.0, 2.0, 3.0]);
    let y = (x.clone() + 1.0) * x;
    assert_eq!(turn.used().executions, 0);
    assert_eq!(read(y), [2.0, 6.0, 12.0]);
    let used = turn.used();
    assert_eq!((used.ops_recorded, used.executions, used.commits, used.host_reads), (2, 1, 1, 1));
}

#[test]
fn what_nobody_can_read_any_more_is_not_run() {
    let turn = Turn::take();
    let x = vector(&[1.0, 2.0]);
    drop(x.clone().exp() + 3.0);
    MpsGraphDevice.sync().expect("the device works");
    assert_eq!(turn.used().executions, 0);
}

#[test]
fn a_value_survives_the_tensors_it_was_made_from() {
    let _turn = Turn::take();
    let y = {
        let x = vector(&[1.0, 2.0]);
        x.clone() + x
    };
    let z = y.clone() * 3.0;
    drop(y);
    assert_eq!(read(z), [6.0, 12.0]);
}

#[test]
fn intermediate_values_take_no_buffers() {
    let turn = Turn::take();
    let x = vector(&[0.5; 1000]);
    let mut y = x.clone();
    for _ in 0..20 {
        y = (y * 1.5).tanh();
    }
    MpsGraphDevice.sync().expect("the device works");
    let live = turn.used().buffers_live - turn.start.buffers_live;
    // x and y, without the nineteen values between them.
    assert_eq!(live, 2);
    drop((x, y));
    assert_eq!(turn.used().buffers_live, turn.start.buffers_live);
}

#[test]
fn a_value_kept_over_a_flush_is_not_computed_again() {
    let turn = Turn::take();
    let x = vector(&[1.0, 4.0]);
    let root = x.sqrt();
    assert_eq!(read(root.clone() + 1.0), [2.0, 3.0]);
    assert_eq!(read(root), [1.0, 2.0]);
    assert_eq!(turn.used().executions, 1);
}

#[test]
fn a_reshape_records_nothing() {
    let turn = Turn::take();
    let x = vector(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let y = x.reshape([2, 3]).reshape([3, 2]);
    assert_eq!(turn.used().ops_recorded, 0);
    assert_eq!(read(y.sum_dim(1).reshape([3])), [3.0, 7.0, 11.0]);
    assert_eq!(turn.used().ops_recorded, 1);
}

#[test]
fn several_tensors_of_a_transaction_are_read_with_one_wait() {
    let turn = Turn::take();
    let x = vector(&[1.0, 2.0]);
    let data =
        burn::tensor::Transaction::default().register(x.clone() + 1.0).register(x.clone() * 5.0).register(x).execute();
    let values: Vec<Vec<f32>> = data.into_iter().map(|data| data.to_vec().expect("f32 data")).collect();
    assert_eq!(values, [vec![2.0, 3.0], vec![5.0, 10.0], vec![1.0, 2.0]]);
    let used = turn.used();
    assert_eq!((used.executions, used.host_reads), (1, 1));
    assert!(used.waits <= 1);
}

#[test]
fn cleaning_up_releases_free_buffers_but_no_value_and_no_program() {
    let turn = Turn::take();
    let x = vector(&[1.0; 5000]);
    let y = x.clone() * 2.0;
    assert_eq!(read(y.clone())[4999], 2.0);
    drop(x);
    B::memory_cleanup(&MpsGraphDevice);
    let used = turn.used();
    assert_eq!((used.buffers_cached, used.bytes_cached, used.programs_cached), (0, 0, 1));
    assert_eq!(read(y)[0], 2.0);
}

#[test]
fn the_same_program_is_compiled_once() {
    let turn = Turn::take();
    for round in 0..5 {
        let x = vector(&[round as f32, 1.0]);
        assert_eq!(read(x.exp().log().round()), [round as f32, 1.0]);
    }
    let used = turn.used();
    assert_eq!((used.programs_compiled, used.cache_hits, used.executions), (1, 4, 5));
}

#[test]
fn eagerly_runs_a_program_per_op() {
    let turn = Turn::take();
    let y = burn_mpsgraph::eagerly(|| {
        let x = vector(&[1.0, 2.0]);
        (x.clone() + 1.0) * x
    });
    assert_eq!(turn.used().executions, 2);
    assert_eq!(read(y), [2.0, 6.0]);
}

#[test]
fn equal_values_of_a_program_share_a_buffer() {
    let turn = Turn::take();
    let x = vector(&[1.0, 4.0]);
    let all: Vec<_> = (0..4).map(|_| x.clone().sqrt().neg()).collect();
    MpsGraphDevice.sync().expect("the device works");
    assert_eq!(turn.used().buffers_live - turn.start.buffers_live, 2);
    for value in all {
        assert_eq!(read(value), [-1.0, -2.0]);
    }
}

#[test]
fn a_layer_is_one_op() {
    let turn = Turn::take();
    let device = MpsGraphDevice;
    let (linear, norm) = (LinearConfig::new(4, 6).init::<B>(&device), LayerNormConfig::new(6).init::<B>(&device));
    let x = Tensor::<B, 3>::ones([2, 3, 4], &device);
    let forward = |x| norm.forward(linear.forward(x));
    // Parameters are made when they are first used.
    forward(x.clone()).into_data();
    let recorded = turn.used().ops_recorded;
    forward(x).into_data();
    assert_eq!(turn.used().ops_recorded - recorded, 2);
}
