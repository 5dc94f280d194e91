//! Trainings whose steps are other ops each time, whether each step is read or few are.

use burn::backend::Autodiff;
use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};

use super::pieces::matrix;
use super::{B, Choice, Turn};
use burn_mpsgraph::MpsGraphDevice;

const WIDTH: usize = 8;

/// Joins two nodes of a tree.
#[derive(Module, Debug)]
struct Join<B: Backend> {
    hidden: Linear<B>,
    output: Linear<B>,
}

impl<B: Backend> Join<B> {
    fn new(device: &B::Device) -> Self {
        let initializer = burn::nn::Initializer::Constant { value: 0.03 };
        let layer = |from, to| LinearConfig::new(from, to).with_initializer(initializer.clone()).init(device);
        Self { hidden: layer(2 * WIDTH, 12), output: layer(12, WIDTH) }
    }

    fn forward(&self, left: Tensor<B, 2>, right: Tensor<B, 2>) -> Tensor<B, 2> {
        self.output.forward(self.hidden.forward(Tensor::cat(vec![left, right], 1)).tanh()).tanh()
    }
}

/// The loss of a tree of any shape over four to nine leaves.
fn loss<X: Backend>(model: &Join<X>, choice: &mut Choice, device: &X::Device) -> Tensor<X, 1> {
    let mut nodes: Vec<_> = (0..4 + choice.below(6)).map(|seed| matrix::<X>(1, WIDTH, seed, device)).collect();
    while nodes.len() > 1 {
        let left = choice.below(nodes.len() - 1);
        let right = nodes.remove(left + 1);
        nodes[left] = model.forward(nodes[left].clone(), right);
    }
    (nodes.remove(0) - 0.3).powf_scalar(2.0).mean()
}

/// The losses of so many steps of which each `every`-th is read.
fn train<X: AutodiffBackend>(
    steps: usize,
    every: usize,
    mut before: impl FnMut(usize),
    device: &X::Device,
) -> Vec<f32> {
    let (mut model, mut optimizer) = (Join::<X>::new(device), AdamConfig::new().init::<X, Join<X>>());
    let (mut choice, mut losses) = (Choice(5), Vec::new());
    for step in 0..steps {
        before(step);
        let loss = loss(&model, &mut choice, device);
        if step % every == 0 {
            losses.push(loss.clone().into_data().to_vec::<f32>().expect("f32")[0]);
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(1e-3, model, gradients);
    }
    losses
}

#[test]
fn steps_that_differ_stop_compiling_also_if_few_are_read() {
    for every in [1, 2, 3, 4, 8] {
        let mut turn = Turn::take();
        let restart = |step| {
            if step == 800 {
                turn.restart()
            }
        };
        let losses = train::<Autodiff<B>>(1200, every, restart, &MpsGraphDevice);
        assert!(losses.iter().all(|loss| loss.is_finite()));
        let used = turn.used();
        assert!(used.programs_compiled <= 48, "for 400 steps, each {every}th read: {used:?}");
    }
}

#[test]
fn losses_are_those_of_burn_flex() {
    let _turn = Turn::take();
    let found = train::<Autodiff<B>>(200, 2, |_| (), &MpsGraphDevice);
    let expected = train::<Autodiff<burn_flex::Flex>>(200, 2, |_| (), &Default::default());
    let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(found.len() == expected.len() && worst < 1e-4, "{worst}");
}
