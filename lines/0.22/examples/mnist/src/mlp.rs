//! Trains a multi-layer perceptron on MNIST with burn-train: `cargo run --release --bin mnist_mlp`.

mod digits;
mod options;
mod renderer;
mod report;
mod training;

use std::process::ExitCode;

use burn::module::Module;
use burn::nn::{Linear, LinearConfig, Relu};
use burn::tensor::{Device, Tensor};

use crate::digits::{CLASSES, PIXELS};

fn main() -> ExitCode {
    training::main(&options::Example { name: "mnist_mlp", network: "a multi-layer perceptron", hidden: 512 })
}

/// 784 pixels, one hidden layer, ten classes.
#[derive(Module, Debug)]
pub struct Network {
    hidden: Linear,
    output: Linear,
    activation: Relu,
}

impl Network {
    /// A freshly initialised network with `hidden` units in the hidden layer.
    pub fn new(hidden: usize, device: &Device) -> Self {
        Self {
            hidden: LinearConfig::new(PIXELS, hidden).init(device),
            output: LinearConfig::new(hidden, CLASSES).init(device),
            activation: Relu::new(),
        }
    }

    /// Class scores `[batch, 10]` of images `[batch, 28, 28]`.
    pub fn forward(&self, images: Tensor<3>) -> Tensor<2> {
        let pixels = images.flatten(1, 2);
        self.output.forward(self.activation.forward(self.hidden.forward(pixels)))
    }
}
