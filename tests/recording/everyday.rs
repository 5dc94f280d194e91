//! Loops as people write them: what they compile is bounded, and a second pass compiles nothing.

use std::thread;

use burn::tensor::activation::softmax;
use burn::tensor::{Tensor, TensorData, s};

use super::mlp::Trainer;
use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// Rows with the numbers 0, 1, 2, … in all of four columns.
fn rows(count: usize) -> Tensor<B, 2> {
    let values: Vec<f32> = (0..4 * count).map(|at| (at / 4) as f32).collect();
    Tensor::from_data(TensorData::new(values, [count, 4]), &MpsGraphDevice)
}

/// Four times the sum of these numbers.
fn sum_of(rows: std::ops::Range<usize>) -> Vec<f32> {
    vec![rows.map(|row| 4.0 * row as f32).sum()]
}

#[test]
fn two_models_trained_at_once_on_two_threads() {
    let mut turn = Turn::take();
    let train = || {
        let mut trainer = Trainer::adam();
        (0..20).for_each(|_| assert!(trainer.step_and_read().is_finite()));
    };
    let both = || {
        thread::scope(|scope| [scope.spawn(train), scope.spawn(train)].map(|thread| thread.join().expect("no panic")));
    };
    both();
    assert!(turn.used().programs_compiled <= 4, "{:?}", turn.used());
    turn.restart();
    both();
    assert_eq!((turn.used().programs_compiled, turn.used().cache_hits >= 40), (0, true), "{:?}", turn.used());
}

#[test]
fn parts_of_a_tensor_one_after_the_other() {
    let turn = Turn::take();
    let x = rows(100);
    for (at, row) in x.clone().iter_dim(0).enumerate() {
        assert_eq!(read(row.sum()), sum_of(at..at + 1));
    }
    let compiled = turn.used().programs_compiled;
    assert!(compiled <= 3, "{:?}", turn.used());
    for (at, chunk) in x.clone().chunk(10, 0).into_iter().enumerate() {
        assert_eq!(read(chunk.sum()), sum_of(10 * at..10 * at + 10));
    }
    // The last part is smaller than the others.
    for (at, part) in x.clone().split(16, 0).into_iter().enumerate() {
        assert_eq!(read(part.sum()), sum_of(16 * at..(16 * at + 16).min(100)));
    }
    for at in 0..90 {
        assert_eq!(read(x.clone().narrow(0, at, 10).sum()), sum_of(at..at + 10));
    }
    assert!(turn.used().programs_compiled <= compiled + 8, "{:?}", turn.used());
}

#[test]
fn epochs_whose_last_batch_is_smaller() {
    let mut turn = Turn::take();
    let data = rows(150);
    let epoch = || {
        for start in (0..150).step_by(16) {
            let end = (start + 16).min(150);
            assert_eq!(read(data.clone().slice(s![start..end]).sum()), sum_of(start..end));
        }
    };
    epoch();
    assert!(turn.used().programs_compiled <= 4, "{:?}", turn.used());
    turn.restart();
    (0..3).for_each(|_| epoch());
    assert_eq!(turn.used().programs_compiled, 0);
}

#[test]
fn lengths_that_change_at_each_step_compile_once_each() {
    let mut turn = Turn::take();
    let pass = || {
        for step in 0..192 {
            // Each length from 1 to 64, in no order.
            let length = step * 37 % 64 + 1;
            let x = rows(length);
            assert_eq!(read((x.clone() - x.mean_dim(0)).sum()), [0.0]);
        }
    };
    pass();
    assert_eq!(turn.used().programs_compiled, 64);
    turn.restart();
    pass();
    assert_eq!(turn.used().programs_compiled, 0);
}

#[test]
fn a_cache_that_grows_compiles_once_for_each_length() {
    let mut turn = Turn::take();
    let token = rows(1).reshape([1, 1, 4]);
    let text = || {
        let mut all = token.clone();
        for length in 2..=40 {
            all = Tensor::cat(vec![all, token.clone()], 1);
            let weights = softmax(token.clone().matmul(all.clone().swap_dims(1, 2)), 2);
            let total = read(weights.sum());
            assert!((total[0] - 1.0).abs() < 1e-5, "{total:?} for {length} tokens");
        }
    };
    text();
    let used = turn.used();
    assert!(used.programs_compiled <= 40 && used.buffers_live <= 8, "{used:?}");
    turn.restart();
    text();
    assert_eq!(turn.used().programs_compiled, 0, "{:?}", turn.used());
}

#[test]
fn an_evaluation_that_keeps_sums_and_reads_once() {
    let mut turn = Turn::take();
    let data = rows(64);
    let evaluate = || {
        let parts = (0..512).map(|at| data.clone().slice(s![at % 64..at % 64 + 1]).sum()).collect();
        let found = read(Tensor::<B, 1>::cat(parts, 0));
        assert!(found.iter().enumerate().all(|(at, sum)| *sum == 4.0 * (at % 64) as f32));
    };
    evaluate();
    evaluate();
    assert!(turn.used().programs_compiled <= 2, "{:?}", turn.used());
    turn.restart();
    evaluate();
    assert_eq!((turn.used().programs_compiled, turn.used().executions), (0, 1));
}

/// As gates are taken apart, and rotary embeddings made.
#[test]
fn parts_of_one_tensor_times_others() {
    let _turn = Turn::take();
    let parts = vector(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).reshape([3, 2]);
    let (x, y) = (vector(&[1.0, 10.0]).reshape([1, 2]), vector(&[100.0, 1000.0]).reshape([1, 2]));
    let sum = parts.clone().slice(s![0..1]) * x + parts.slice(s![2..3]) * y;
    assert_eq!(read(sum.reshape([2])), [501.0, 6020.0]);
}
