//! A training loop by hand: `cargo run --release --example training`.
//!
//! A small network learns to tell the points inside a circle from those outside. Each step is recorded whole, forward,
//! backward and optimizer, and runs as one program when its loss is read.

use burn::backend::Autodiff;
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, Relu};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::backend::Backend;
use burn::tensor::{Distribution, ElementConversion, Int, Tensor};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice, Stats};

type B = MpsGraph;
type A = Autodiff<B>;

const STEPS: usize = 400;
const BATCH: usize = 128;

/// Two coordinates in, scores of the two classes out.
#[derive(Module, Debug)]
struct Network<B: Backend> {
    hidden: Linear<B>,
    output: Linear<B>,
    activation: Relu,
}

impl<B: Backend> Network<B> {
    fn new(device: &B::Device) -> Self {
        Self {
            hidden: LinearConfig::new(2, 32).init(device),
            output: LinearConfig::new(32, 2).init(device),
            activation: Relu::new(),
        }
    }

    fn forward(&self, points: Tensor<B, 2>) -> Tensor<B, 2> {
        self.output.forward(self.activation.forward(self.hidden.forward(points)))
    }
}

/// Random points of a square, and whether each is inside the circle that has half of the square's area.
fn batch<B: Backend>(device: &B::Device) -> (Tensor<B, 2>, Tensor<B, 1, Int>) {
    let points = Tensor::random([BATCH, 2], Distribution::Uniform(-1.0, 1.0), device);
    let distances: Tensor<B, 2> = (points.clone() * points.clone()).sum_dim(1);
    let inside = distances.lower_elem(2.0 / std::f64::consts::PI).int().reshape([BATCH]);
    (points, inside)
}

/// What the training has come to: the last loss, the accuracy on new points, and what the steps took.
struct Outcome {
    loss: f32,
    accuracy: f32,
    used: Stats,
}

fn train(device: &MpsGraphDevice) -> Outcome {
    A::seed(device, 1);
    let mut model = Network::<A>::new(device);
    let mut optimizer = AdamConfig::new().init();
    let (mut loss, mut start) = (f32::NAN, device.stats());
    for step in 0..STEPS {
        if step == 2 {
            // The first step makes the optimizer's state; the second is compiled with it.
            start = device.stats();
        }
        let (points, inside) = batch::<A>(device);
        let error = CrossEntropyLossConfig::new().init(device).forward(model.forward(points), inside);
        let gradients = GradientsParams::from_grads(error.backward(), &model);
        model = optimizer.step(0.01, model, gradients);
        // Everything above runs here.
        loss = error.into_scalar();
        if step % 100 == 0 {
            println!("step {step}: loss {loss:.3}");
        }
    }
    let used = device.stats().since(&start);
    let (points, inside) = batch::<A>(device);
    let right = model.forward(points).argmax(1).reshape([BATCH]).equal(inside);
    let accuracy = right.int().sum().into_scalar().elem::<f32>() / BATCH as f32;
    Outcome { loss, accuracy, used }
}

fn main() {
    let Outcome { loss, accuracy, used } = train(&MpsGraphDevice);
    println!("last loss {loss:.3}, {:.0} % of {BATCH} new points right", accuracy * 100.0);
    println!("from the third step on: {} programs compiled, {} commits", used.programs_compiled, used.commits);
}

#[test]
fn a_step_is_one_commit_and_the_network_learns() {
    let Outcome { loss, accuracy, used } = train(&MpsGraphDevice);
    assert!(loss < 0.3 && accuracy > 0.85, "loss {loss}, accuracy {accuracy}");
    let steps = STEPS as u64 - 2;
    assert_eq!(used.programs_compiled, 0, "{used:?}");
    assert_eq!((used.executions, used.commits, used.host_reads), (steps, steps, steps), "{used:?}");
    assert!(used.waits <= steps, "{used:?}");
}

#[test]
fn skipped_without_device() {
    let playable = cfg!(any(feature = "soft", not(target_vendor = "apple")));
    test_support::assert_skipped("skipped_without_device", playable, || MpsGraphDevice.name());
}
