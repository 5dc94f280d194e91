//! A recurrent layer over 64 steps, and a linear one over its last output.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig, Lstm, LstmConfig};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;

use crate::{Model, normal};

const STEPS: usize = 64;
const FEATURES: usize = 32;
const UNITS: usize = 64;

#[derive(Module, Debug)]
pub struct Sequence<B: Backend> {
    layer: Lstm<B>,
    head: Linear<B>,
}

impl<B: Backend> Model<B> for Sequence<B> {
    type Input = Tensor<B, 3>;

    fn new(device: &B::Device) -> Self {
        Self {
            layer: LstmConfig::new(FEATURES, UNITS, true).init(device),
            head: LinearConfig::new(UNITS, 10).init(device),
        }
    }

    fn input(batch: usize, device: &B::Device) -> Self::Input {
        normal([batch, STEPS, FEATURES], device)
    }

    fn scores(&self, input: Self::Input) -> Tensor<B, 2> {
        let outputs = self.layer.forward(input, None).0;
        let batch = outputs.dims()[0];
        self.head.forward(outputs.slice([0..batch, STEPS - 1..STEPS]).reshape([batch, UNITS]))
    }
}
