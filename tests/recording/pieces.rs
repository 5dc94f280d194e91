//! Steps whose ops differ each time: what repeats in them is compiled, the rest runs op by op.

use burn::backend::Autodiff;
use burn::tensor::backend::Backend;
use burn::tensor::{Distribution, Tensor, TensorData, activation};

use super::mlp::Trainer;
use super::{B, Choice, Turn, read};
use burn_mpsgraph::{MpsGraphDevice, Stats};

/// Numbers from -0.5 to 0.5, the same on every backend.
pub(super) fn matrix<X: Backend>(rows: usize, columns: usize, seed: usize, device: &X::Device) -> Tensor<X, 2> {
    let values: Vec<f32> = (0..rows * columns).map(|at| ((at * 37 + seed * 11) % 101) as f32 / 101.0 - 0.5).collect();
    Tensor::from_data(TensorData::new(values, [rows, columns]), device)
}

/// So many ops, each one of seven kinds.
pub(super) fn any_ops<X: Backend>(mut x: Tensor<X, 2>, count: usize, choice: &mut Choice) -> Tensor<X, 2> {
    for _ in 0..count {
        x = match choice.below(7) {
            0 => x.tanh(),
            1 => x.clone() + x.mean_dim(1),
            2 => x * 0.9,
            3 => x.sin(),
            4 => x.flip([1]),
            5 => activation::softmax(x, 1),
            _ => x.transpose(),
        };
    }
    x
}

/// A tree over 30 to 60 leaves: its loss and the gradients of its two weights.
fn tree<X: Backend>(choice: &mut Choice, device: &X::Device) -> [TensorData; 3] {
    let weight = |seed| matrix::<Autodiff<X>>(8, 8, seed, device).require_grad();
    let [left, right] = [1, 2].map(weight);
    let leaves: Vec<_> = (0..5).map(|seed| matrix::<Autodiff<X>>(1, 8, seed, device)).collect();
    let mut nodes: Vec<_> = (0..30 + choice.below(30)).map(|_| leaves[choice.below(5)].clone()).collect();
    while nodes.len() > 1 {
        let first = nodes.swap_remove(choice.below(nodes.len()));
        let at = choice.below(nodes.len());
        nodes[at] = (first.matmul(left.clone()) + nodes[at].clone().matmul(right.clone())).tanh();
    }
    let loss = nodes.remove(0).powf_scalar(2.0).sum();
    let gradients = loss.backward();
    let [left, right] = [left, right].map(|weight| weight.grad(&gradients).expect("it is tracked").into_data());
    [loss.into_data(), left, right]
}

fn assert_alike(found: &TensorData, expected: &TensorData, step: usize) {
    let [found, expected] = [found, expected].map(|data| data.to_vec::<f32>().expect("f32"));
    let largest = expected.iter().fold(1e-3_f32, |largest, value| largest.max(value.abs()));
    let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(found.len() == expected.len() && worst <= 1e-4 * largest, "step {step}: {worst} of {largest}");
}

/// What 300 steps of so many ops in any order use from this step on; they give what burn-flex gives.
fn used_late(ops: usize, seed: u64, late: usize) -> Stats {
    let mut turn = Turn::take();
    let (mut choice, mut same) = (Choice(seed), Choice(seed));
    for step in 0..300 {
        if step == late {
            turn.restart();
        }
        let found = any_ops(matrix::<B>(6, 6, step % 3, &MpsGraphDevice), ops, &mut choice).into_data();
        let expected = any_ops(matrix::<burn_flex::Flex>(6, 6, step % 3, &Default::default()), ops, &mut same);
        assert_alike(&found, &expected.into_data(), step);
    }
    turn.used()
}

#[test]
fn ops_in_any_order_are_compiled_once_each() {
    let used = used_late(40, 1, 100);
    assert!(used.programs_compiled < 50, "of 200 steps: {used:?}");
}

#[test]
fn short_steps_that_differ_stop_compiling() {
    let used = used_late(4, 10, 150);
    assert!(used.programs_compiled < 30, "of 150 steps: {used:?}");
}

#[test]
fn steps_that_differ_of_which_few_are_read_stop_compiling() {
    let mut turn = Turn::take();
    let (x, mut choice) = (matrix::<B>(6, 6, 3, &MpsGraphDevice), Choice(11));
    for step in 0..3000 {
        if step == 1500 {
            turn.restart();
        }
        let mean = any_ops(x.clone(), 5, &mut choice).mean();
        if step % 10 == 9 {
            assert!(read(mean)[0].is_finite());
        }
    }
    assert!(turn.used().programs_compiled < 40, "at 150 reads: {:?}", turn.used());
}

#[test]
fn trees_of_any_shape_give_the_gradients_of_burn_flex() {
    let mut turn = Turn::take();
    let (mut choice, mut same) = (Choice(2), Choice(2));
    for step in 0..150 {
        if step == 50 {
            turn.restart();
        }
        let found = tree::<B>(&mut choice, &MpsGraphDevice);
        let expected = tree::<burn_flex::Flex>(&mut same, &Default::default());
        found.iter().zip(&expected).for_each(|(found, expected)| assert_alike(found, expected, step));
    }
    let used = turn.used();
    assert!(used.programs_compiled < 50, "of 100 steps, each of three reads: {used:?}");
    assert!(2 * used.executions < used.ops_recorded, "some ops of a step repeat: {used:?}");
}

/// The output of twelve layers.
fn layers(mut x: Tensor<B, 2>, weights: &[Tensor<B, 2>]) -> Tensor<B, 2> {
    for weight in weights {
        x = activation::gelu(x.matmul(weight.clone()));
        x = x.clone() - x.mean_dim(1);
    }
    x
}

fn weights() -> Vec<Tensor<B, 2>> {
    (0..12).map(|_| Tensor::random([6, 6], Distribution::Default, &MpsGraphDevice)).collect()
}

#[test]
fn a_model_behind_ops_in_any_order_is_compiled() {
    let mut turn = Turn::take();
    let (weights, mut choice) = (weights(), Choice(3));
    for step in 0..150 {
        if step == 100 {
            turn.restart();
        }
        let x = any_ops(matrix::<B>(6, 6, step, &MpsGraphDevice), 10, &mut choice);
        assert!(read(layers(x, &weights)).iter().all(|value| value.is_finite()));
    }
    let used = turn.used();
    // Ten to twenty of the ops are in front of the model, which has 48 and more.
    assert!(used.programs_compiled <= 5 && used.executions <= 30 * 50, "of 50 steps: {used:?}");
}

#[test]
fn batches_of_ever_new_sizes_are_one_program_each() {
    let turn = Turn::take();
    let weights = weights();
    for rows in 1..=60 {
        let y = layers(matrix::<B>(rows, 6, 0, &MpsGraphDevice), &weights);
        assert!(read(y).iter().all(|value| value.is_finite()));
    }
    let used = turn.used();
    // One more makes the weights.
    assert_eq!((used.programs_compiled, used.executions), (61, 61), "{used:?}");
}

#[test]
fn short_trainings_of_ever_new_sizes_are_three_programs_each() {
    let mut turn = Turn::take();
    for rows in 9..40 {
        let mut trainer = Trainer::adam();
        for _ in 0..4 {
            assert!(trainer.step_of(rows).into_scalar().is_finite());
        }
        if rows == 9 {
            turn.restart();
        }
    }
    // The first step has no moments yet, and may begin with a program of its own.
    let used = turn.used();
    assert!(used.programs_compiled <= 3 * 30 + 1 && used.cache_evictions == 0, "{used:?}");
}

#[test]
fn steps_that_are_alike_become_one_program_also_after_others() {
    let mut turn = Turn::take();
    let (weights, mut choice) = (weights(), Choice(4));
    for step in 0..50 {
        let x = any_ops(matrix::<B>(6, 6, step, &MpsGraphDevice), 40, &mut choice);
        assert!(read(layers(x, &weights)).iter().all(|value| value.is_finite()));
    }
    for step in 0..30 {
        if step == 10 {
            turn.restart();
        }
        assert!(read(layers(matrix::<B>(6, 6, step, &MpsGraphDevice), &weights)).iter().all(|value| value.is_finite()));
    }
    assert_eq!((turn.used().programs_compiled, turn.used().executions), (0, 20));
}

#[test]
fn steps_that_differ_stop_compiling_also_between_others() {
    let mut turn = Turn::take();
    let (weights, mut choice) = (weights(), Choice(7));
    for step in 0..150 {
        if step == 100 {
            turn.restart();
        }
        assert!(read(any_ops(matrix::<B>(6, 6, step, &MpsGraphDevice), 40, &mut choice))[0].is_finite());
        for rows in [2, 3, 4] {
            assert!(read(layers(matrix::<B>(rows, 6, step, &MpsGraphDevice), &weights))[0].is_finite());
        }
    }
    assert!(turn.used().programs_compiled < 20, "of 50 steps: {:?}", turn.used());
}

#[test]
fn what_was_dropped_before_the_flush_does_not_run() {
    const ROWS: usize = 256;
    let turn = Turn::take();
    let (large, mut choice) = (matrix::<B>(ROWS, ROWS, 1, &MpsGraphDevice), Choice(8));
    for step in 0..60 {
        if step == 30 {
            MpsGraphDevice.memory_cleanup();
            MpsGraphDevice.reset_peak();
        }
        let x = any_ops(matrix::<B>(6, 6, step, &MpsGraphDevice), 20, &mut choice);
        drop((0..8).fold(large.clone(), |x, _| x.matmul(large.clone())));
        assert!(read(x)[0].is_finite());
    }
    // The one that is alive.
    let used = turn.used();
    assert!(used.bytes_peak - turn.start.bytes_live < 2 * (ROWS * ROWS * 4) as u64, "{used:?}");
}

#[test]
fn a_value_that_finds_no_memory_costs_only_what_depends_on_it() {
    let turn = Turn::take();
    let mut choice = Choice(6);
    let mut steps = |count: usize, limit: u64| {
        for step in 0..count {
            let x = any_ops(matrix::<B>(6, 6, step, &MpsGraphDevice), 20, &mut choice);
            let large = x.clone().repeat_dim(0, 1 << 17);
            MpsGraphDevice.set_memory_limit(limit);
            let (y, sum) = (x.clone() + 1.0, large.sum());
            assert_eq!(sum.try_into_data().is_ok(), limit == u64::MAX, "step {step}");
            assert!(read(y).iter().all(|value| value.is_finite()), "step {step}");
            assert!(read(x).iter().all(|value| value.is_finite()), "step {step}");
            MpsGraphDevice.set_memory_limit(u64::MAX);
        }
    };
    steps(30, u64::MAX);
    MpsGraphDevice.memory_cleanup();
    steps(5, turn.used().bytes_live + (1 << 20));
    assert!(MpsGraphDevice.sync().is_err());
}

#[test]
fn what_nobody_asks_for_is_given_up_between_the_pieces() {
    const VALUE: u64 = 512 * 512 * 4;
    let turn = Turn::take();
    let mut choice = Choice(5);
    for step in 0..40 {
        MpsGraphDevice.reset_peak();
        let x = any_ops(matrix::<B>(512, 512, step, &MpsGraphDevice), 100, &mut choice);
        assert!(read(x.sum())[0].is_finite());
        // At most so many are in flight that this thread waits for none of them.
        let peak = turn.used().bytes_peak - turn.start.bytes_live;
        assert!(peak < 40 * VALUE, "step {step}: {} values", peak / VALUE);
    }
}

/// Rows of other lengths each time, put into one matrix as padding does it, and a model behind them.
#[test]
fn a_model_behind_a_head_that_differs_is_few_programs() {
    const STEPS: usize = 260;
    let mut turn = Turn::take();
    let mut choice = Choice(21);
    let weights: Vec<_> = (0..40).map(|seed| matrix::<B>(8, 8, seed, &MpsGraphDevice)).collect();
    for step in 0..STEPS {
        if step == 160 {
            turn.restart();
        }
        let mut x = matrix::<B>(6, 8, 1, &MpsGraphDevice);
        for row in 0..6 {
            let length = 1 + choice.below(8);
            x = x.slice_assign([row..row + 1, 0..length], matrix::<B>(1, length, step % 5, &MpsGraphDevice).tanh());
        }
        for weight in &weights {
            let y = activation::softmax(x.clone().matmul(weight.clone()), 1).tanh() * 0.9;
            x = (y.clone() - y.mean_dim(1)).exp() + x.sin();
        }
        assert!(read(x.sum())[0].is_finite());
    }
    let programs = turn.used().executions / (STEPS as u64 - 160);
    assert!(programs <= 20, "{programs} programs per step: {:?}", turn.used());
}
