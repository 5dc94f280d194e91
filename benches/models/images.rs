//! Models of images: the network of the example `mnist_cnn`, and a stack of residual blocks.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig, MaxPool2d, MaxPool2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Linear, LinearConfig, PaddingConfig2d, Relu};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;

use crate::{Model, normal};

/// A convolution without bias, and batch norm.
#[derive(Module, Debug)]
struct Normed<B: Backend> {
    convolution: Conv2d<B>,
    norm: BatchNorm<B>,
}

impl<B: Backend> Normed<B> {
    fn new(channels: [usize; 2], device: &B::Device) -> Self {
        let convolution = Conv2dConfig::new(channels, [3, 3]).with_padding(PaddingConfig2d::Same).with_bias(false);
        Self { convolution: convolution.init(device), norm: BatchNormConfig::new(channels[1]).init(device) }
    }

    fn forward(&self, maps: Tensor<B, 4>) -> Tensor<B, 4> {
        self.norm.forward(self.convolution.forward(maps))
    }
}

/// The network of the example `mnist_cnn`: two convolutions with batch norm, each followed by pooling, a hidden layer.
#[derive(Module, Debug)]
pub struct Cnn<B: Backend> {
    convolutions: [Normed<B>; 2],
    pool: MaxPool2d,
    dropout: Dropout,
    hidden: Linear<B>,
    output: Linear<B>,
}

impl<B: Backend> Model<B> for Cnn<B> {
    type Input = Tensor<B, 4>;

    fn new(device: &B::Device) -> Self {
        Self {
            convolutions: [[1, 16], [16, 32]].map(|channels| Normed::new(channels, device)),
            pool: MaxPool2dConfig::new([2, 2]).with_strides([2, 2]).init(),
            dropout: DropoutConfig::new(0.25).init(),
            hidden: LinearConfig::new(32 * 7 * 7, 64).init(device),
            output: LinearConfig::new(64, 10).init(device),
        }
    }

    fn input(batch: usize, device: &B::Device) -> Self::Input {
        normal([batch, 1, 28, 28], device)
    }

    fn scores(&self, input: Self::Input) -> Tensor<B, 2> {
        let relu = Relu::new();
        let maps = |maps, normed: &Normed<B>| self.pool.forward(relu.forward(normed.forward(maps)));
        let features = self.dropout.forward(self.convolutions.iter().fold(input, maps).flatten(1, 3));
        let hidden = relu.forward(self.hidden.forward(features));
        self.output.forward(self.dropout.forward(hidden))
    }
}

/// Three blocks of two convolutions around which the input skips, on 64 maps of 16 x 16.
#[derive(Module, Debug)]
pub struct Residual<B: Backend> {
    stem: Normed<B>,
    blocks: Vec<[Normed<B>; 2]>,
    pool: AdaptiveAvgPool2d,
    head: Linear<B>,
}

const MAPS: usize = 64;

impl<B: Backend> Model<B> for Residual<B> {
    type Input = Tensor<B, 4>;

    fn new(device: &B::Device) -> Self {
        let block = |_| [(); 2].map(|()| Normed::new([MAPS, MAPS], device));
        Self {
            stem: Normed::new([3, MAPS], device),
            blocks: (0..3).map(block).collect(),
            pool: AdaptiveAvgPool2dConfig::new([1, 1]).init(),
            head: LinearConfig::new(MAPS, 10).init(device),
        }
    }

    fn input(batch: usize, device: &B::Device) -> Self::Input {
        normal([batch, 3, 16, 16], device)
    }

    fn scores(&self, input: Self::Input) -> Tensor<B, 2> {
        let relu = Relu::new();
        let mut maps = relu.forward(self.stem.forward(input));
        for [first, second] in &self.blocks {
            let inner = second.forward(relu.forward(first.forward(maps.clone())));
            maps = relu.forward(inner + maps);
        }
        self.head.forward(self.pool.forward(maps).flatten(1, 3))
    }
}
