//! Loops over batches of changing lengths that read seldom: one program per length is compiled, not one per flush.

use burn::tensor::{Distribution, Tensor};

use super::{B, Choice, Turn, read};
use burn_mpsgraph::MpsGraphDevice;

fn weights() -> Tensor<B, 2> {
    Tensor::random([8, 8], Distribution::Uniform(-0.5, 0.5), &MpsGraphDevice)
}

/// Evaluates models on batches of eight lengths and reads each tenth time; how many programs that compiles from the
/// hundredth flush on. The last batch is alive when a value is read, if `is_kept`.
fn compiled_late(models: usize, is_kept: bool) -> u64 {
    let mut turn = Turn::take();
    let models: Vec<[Tensor<B, 2>; 2]> = (0..models).map(|_| [weights(), weights()]).collect();
    let mut sums = vec![Tensor::<B, 1>::zeros([1], &MpsGraphDevice); models.len()];
    let mut choice = Choice(1);
    for step in 0..2000 {
        if step == 1000 {
            turn.restart();
        }
        let length = 1 + choice.below(8);
        let x = Tensor::<B, 2>::from_data(
            burn::tensor::TensorData::new(vec![1.0_f32; 8 * length], [length, 8]),
            &MpsGraphDevice,
        );
        for (sum, [first, second]) in sums.iter_mut().zip(&models) {
            *sum = sum.clone() + x.clone().matmul(first.clone()).tanh().matmul(second.clone()).sum();
        }
        let kept = is_kept.then_some(x);
        if step % 10 == 9 {
            sums = sums.into_iter().map(|sum| sum * 0.5).collect();
            assert!(read(sums[0].clone())[0].is_finite());
        }
        drop(kept);
    }
    turn.used().programs_compiled
}

#[test]
fn a_batch_that_is_alive_when_something_is_read() {
    for is_kept in [false, true] {
        let compiled = compiled_late(1, is_kept);
        assert!(compiled <= 20, "{compiled} programs, kept {is_kept}");
    }
}

#[test]
fn two_models_that_see_the_same_batches() {
    let compiled = compiled_late(2, false);
    assert!(compiled <= 20, "{compiled} programs");
}

#[test]
fn sequences_of_a_few_sizes_that_come_again_stay_rounds() {
    let mut turn = Turn::take();
    let mut choice = Choice(4);
    let mut weights = weights();
    for step in 0..1500 {
        if step == 750 {
            turn.restart();
        }
        let rows = [16, 9, 24][choice.below(3)];
        let x = Tensor::<B, 2>::ones([rows, weights.dims()[0]], &MpsGraphDevice) * 0.5;
        let mut y = x.clone();
        for _ in 0..12 {
            y = (y.matmul(weights.clone()) + 0.1).tanh();
        }
        weights = weights.clone() - x.transpose().matmul(y) * 1e-4;
        if step % 5 == 4 {
            assert!(read(weights.clone().slice([0..1, 0..1]))[0].is_finite());
        }
    }
    let used = turn.used();
    assert!(used.executions <= 900 && used.programs_compiled < 40, "for 750 steps: {used:?}");
}
