//! Lengths of sequences are data on the device, not part of a program.

use burn::backend::Autodiff;
use burn::tensor::module::ctc_loss;
use burn::tensor::{Int, Tensor};

use super::{B, Turn};
use burn_mpsgraph::MpsGraphDevice;

type A = Autodiff<B>;

/// The loss of two samples, and the sum of its gradient.
fn step(frames: [i32; 2], labels: [i32; 2]) -> [Vec<f32>; 2] {
    let device = MpsGraphDevice;
    let x = Tensor::<A, 3>::from_data([[[-1.0f32; 3]; 2]; 6], &device).require_grad();
    let [targets, frames, labels]: [Tensor<A, 1, Int>; 3] =
        [&[1, 2, 2, 1][..], &frames, &labels].map(|data| Tensor::from_data(data, &device));
    let loss = ctc_loss(x.clone(), targets.reshape([2, 2]), frames, labels, 0);
    let grad = x.grad(&loss.clone().sum().backward()).expect("a gradient").sum_dim(2).sum_dim(0);
    [loss.into_data(), grad.into_data()].map(|data| data.to_vec().expect("f32 data"))
}

#[test]
fn other_lengths_of_a_ctc_loss_compile_nothing() {
    let turn = Turn::take();
    step([6, 4], [2, 1]);
    let compiled = turn.used().programs_compiled;
    for (frames, labels) in [([6, 6], [2, 2]), ([3, 1], [1, 0]), ([1, 5], [2, 0])] {
        let [loss, grad] = step(frames, labels);
        // A path is in one class at each frame, and there is none for two labels in one frame.
        let expected = [0, 1].map(|at| if loss[at].is_infinite() { 0.0 } else { -frames[at] as f32 });
        assert!(grad.iter().zip(expected).all(|(grad, expected)| (grad - expected).abs() < 1e-5), "{grad:?}");
    }
    assert_eq!(turn.used().programs_compiled, compiled);
}
