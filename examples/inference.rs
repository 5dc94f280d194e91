//! A two-layer perceptron with softmax, run again and again: `cargo run --release --example inference`.
//!
//! The first run compiles the program; the others only bind its inputs.

use std::time::Instant;

use burn::module::Module;
use burn::nn::{Linear, LinearConfig, Relu};
use burn::tensor::activation::softmax;
use burn::tensor::backend::Backend;
use burn::tensor::{Distribution, Tensor};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};

type B = MpsGraph;

/// 64 features in, 10 class probabilities out.
#[derive(Module, Debug)]
struct Classifier<B: Backend> {
    hidden: Linear<B>,
    output: Linear<B>,
    activation: Relu,
}

impl<B: Backend> Classifier<B> {
    fn new(device: &B::Device) -> Self {
        Self {
            hidden: LinearConfig::new(64, 128).init(device),
            output: LinearConfig::new(128, 10).init(device),
            activation: Relu::new(),
        }
    }

    fn forward(&self, features: Tensor<B, 2>) -> Tensor<B, 2> {
        let hidden = self.activation.forward(self.hidden.forward(features));
        softmax(self.output.forward(hidden), 1)
    }
}

fn main() {
    const BATCH: usize = 32;
    const BATCHES: usize = 1_000;

    let device = MpsGraphDevice;
    B::seed(&device, 1);
    let model = Classifier::<B>::new(&device);
    let features = Tensor::<B, 2>::random([BATCH, 64], Distribution::Default, &device);

    let first = model.forward(features.clone()).into_data();
    println!("probabilities of the first batch: {:?}", first.shape);

    let before = device.stats();
    let start = Instant::now();
    let mut certainty = 0.0;
    for _ in 0..BATCHES {
        let most_likely = model.forward(features.clone()).max_dim(1).mean();
        certainty += most_likely.into_scalar() / BATCHES as f32;
    }
    let elapsed = start.elapsed();
    let used = device.stats().since(&before);

    println!("mean certainty {certainty:.4}");
    println!("{:.1} us per batch of {BATCH}", elapsed.as_secs_f64() * 1e6 / BATCHES as f64);
    println!("{} programs compiled, {} executions", used.programs_compiled, used.executions);
}
