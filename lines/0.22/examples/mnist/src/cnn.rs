//! Trains a small convolutional network on MNIST with burn-train: `cargo run --release --bin mnist_cnn`.

mod digits;
mod options;
mod renderer;
mod report;
mod training;

use std::process::ExitCode;

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Linear, LinearConfig, PaddingConfig2d, Relu};
use burn::tensor::{Device, Tensor};

use crate::digits::{CLASSES, SIDE};

fn main() -> ExitCode {
    training::main(&options::Example { name: "mnist_cnn", network: "a small convolutional network", hidden: 64 })
}

/// Channels that the two convolutions make.
const CHANNELS: [usize; 2] = [16, 32];

/// Two blocks of convolution and pooling, one hidden layer, ten classes.
#[derive(Module, Debug)]
pub struct Network {
    first: Block,
    second: Block,
    dropout: Dropout,
    hidden: Linear,
    output: Linear,
    activation: Relu,
}

impl Network {
    /// A freshly initialised network with `hidden` units in the hidden layer.
    pub fn new(hidden: usize, device: &Device) -> Self {
        // Each block halves both sides.
        let features = CHANNELS[1] * (SIDE / 4) * (SIDE / 4);
        Self {
            first: Block::new([1, CHANNELS[0]], device),
            second: Block::new(CHANNELS, device),
            dropout: DropoutConfig::new(0.25).init(),
            hidden: LinearConfig::new(features, hidden).init(device),
            output: LinearConfig::new(hidden, CLASSES).init(device),
            activation: Relu::new(),
        }
    }

    /// Class scores `[batch, 10]` of images `[batch, 28, 28]`.
    pub fn forward(&self, images: Tensor<3>) -> Tensor<2> {
        let maps = self.second.forward(self.first.forward(images.unsqueeze_dim(1)));
        let features = self.dropout.forward(maps.flatten(1, 3));
        let hidden = self.activation.forward(self.hidden.forward(features));
        self.output.forward(self.dropout.forward(hidden))
    }
}

/// A convolution, batch norm, ReLU, and pooling to half of each side.
#[derive(Module, Debug)]
struct Block {
    convolution: Conv2d,
    norm: BatchNorm,
    activation: Relu,
    pool: MaxPool2d,
}

impl Block {
    fn new(channels: [usize; 2], device: &Device) -> Self {
        // No bias: the norm would take it out again.
        let convolution = Conv2dConfig::new(channels, [3, 3]).with_padding(PaddingConfig2d::Same).with_bias(false);
        Self {
            convolution: convolution.init(device),
            norm: BatchNormConfig::new(channels[1]).init(device),
            activation: Relu::new(),
            pool: MaxPool2dConfig::new([2, 2]).with_strides([2, 2]).init(),
        }
    }

    fn forward(&self, maps: Tensor<4>) -> Tensor<4> {
        let maps = self.norm.forward(self.convolution.forward(maps));
        self.pool.forward(self.activation.forward(maps))
    }
}
