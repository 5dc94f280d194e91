//! A perceptron with one hidden layer.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig, Relu};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;

use crate::{Model, normal};

#[derive(Module, Debug)]
pub struct Mlp<B: Backend, const UNITS: usize> {
    hidden: Linear<B>,
    output: Linear<B>,
    activation: Relu,
}

impl<B: Backend, const UNITS: usize> Model<B> for Mlp<B, UNITS> {
    type Input = Tensor<B, 2>;

    fn new(device: &B::Device) -> Self {
        Self {
            hidden: LinearConfig::new(784, UNITS).init(device),
            output: LinearConfig::new(UNITS, 10).init(device),
            activation: Relu::new(),
        }
    }

    fn input(batch: usize, device: &B::Device) -> Self::Input {
        normal([batch, 784], device)
    }

    fn scores(&self, input: Self::Input) -> Tensor<B, 2> {
        self.output.forward(self.activation.forward(self.hidden.forward(input)))
    }
}
