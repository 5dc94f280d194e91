//! A perceptron with one hidden layer.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig, Relu};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;

use crate::{Model, normal};

#[derive(Module, Debug)]
pub struct Mlp<B: Backend> {
    hidden: Linear<B>,
    output: Linear<B>,
    activation: Relu,
}

impl<B: Backend> Mlp<B> {
    pub fn new([features, units, classes]: [usize; 3], device: &B::Device) -> Self {
        Self {
            hidden: LinearConfig::new(features, units).init(device),
            output: LinearConfig::new(units, classes).init(device),
            activation: Relu::new(),
        }
    }
}

impl<B: Backend> Model<B> for Mlp<B> {
    type Input = Tensor<B, 2>;

    fn input(batch: usize, device: &B::Device) -> Self::Input {
        normal([batch, 784], device)
    }

    fn scores(&self, input: Self::Input) -> Tensor<B, 2> {
        self.output.forward(self.activation.forward(self.hidden.forward(input)))
    }
}
