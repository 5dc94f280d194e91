//! The classifier: 784 pixels, one hidden layer, ten classes.

use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, Relu};
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::train::{ClassificationOutput, InferenceStep, TrainOutput, TrainStep};

use crate::dataset::{DigitBatch, PIXELS};

/// Classes to tell apart.
const CLASSES: usize = 10;

/// A multi-layer perceptron.
#[derive(Module, Debug)]
pub struct Mlp<B: Backend> {
    hidden: Linear<B>,
    output: Linear<B>,
    activation: Relu,
}

impl<B: Backend> Mlp<B> {
    /// A freshly initialised model with `hidden` units in the hidden layer.
    pub fn new(hidden: usize, device: &B::Device) -> Self {
        Self {
            hidden: LinearConfig::new(PIXELS, hidden).init(device),
            output: LinearConfig::new(hidden, CLASSES).init(device),
            activation: Relu::new(),
        }
    }

    /// Class scores `[batch, 10]` of images `[batch, 784]`.
    pub fn forward(&self, images: Tensor<B, 2>) -> Tensor<B, 2> {
        self.output.forward(self.activation.forward(self.hidden.forward(images)))
    }

    fn classify(&self, batch: DigitBatch<B>) -> ClassificationOutput<B> {
        let output = self.forward(batch.images);
        let loss = CrossEntropyLossConfig::new().init(&output.device()).forward(output.clone(), batch.labels.clone());
        ClassificationOutput::new(loss, output, batch.labels)
    }
}

impl<B: AutodiffBackend> TrainStep for Mlp<B> {
    type Input = DigitBatch<B>;
    type Output = ClassificationOutput<B>;

    fn step(&self, batch: DigitBatch<B>) -> TrainOutput<ClassificationOutput<B>> {
        let item = self.classify(batch);
        TrainOutput::new(self, item.loss.backward(), item)
    }
}

impl<B: Backend> InferenceStep for Mlp<B> {
    type Input = DigitBatch<B>;
    type Output = ClassificationOutput<B>;

    fn step(&self, batch: DigitBatch<B>) -> ClassificationOutput<B> {
        self.classify(batch)
    }
}
