//! A convolutional classifier: the same losses as burn-flex, and a step that compiles nothing and is one commit.

use burn::backend::Autodiff;
use burn::module::{Module, ModuleMapper, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig, MaxPool2d, MaxPool2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Linear, LinearConfig, Relu};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::{conv_transpose1d, conv2d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn::tensor::{ElementConversion, Int, Tensor, TensorData};

use super::{B, Turn, read};

#[derive(Module, Debug)]
pub struct Cnn<B: Backend> {
    first: Conv2d<B>,
    norm: BatchNorm<B>,
    second: Conv2d<B>,
    pool: MaxPool2d,
    average: AdaptiveAvgPool2d,
    dropout: Dropout,
    output: Linear<B>,
}

impl<B: Backend> Cnn<B> {
    pub fn new(dropout: f64, device: &B::Device) -> Self {
        Self {
            first: Conv2dConfig::new([1, 4], [3, 3]).init(device),
            norm: BatchNormConfig::new(4).init(device),
            second: Conv2dConfig::new([4, 6], [3, 3]).with_stride([2, 2]).init(device),
            pool: MaxPool2dConfig::new([2, 2]).with_strides([2, 2]).init(),
            average: AdaptiveAvgPool2dConfig::new([2, 2]).init(),
            dropout: DropoutConfig::new(dropout).init(),
            output: LinearConfig::new(24, 3).init(device),
        }
    }

    pub fn forward(&self, images: Tensor<B, 4>) -> Tensor<B, 2> {
        let x = Relu::new().forward(self.norm.forward(self.first.forward(images)));
        let x = Relu::new().forward(self.second.forward(self.pool.forward(x)));
        let x = self.dropout.forward(self.average.forward(x).flatten(1, 3));
        self.output.forward(x)
    }
}

/// Eight images of 18 by 18 and their classes.
pub fn batch<B: Backend>(device: &B::Device) -> (Tensor<B, 4>, Tensor<B, 1, Int>) {
    let pixel = |i: usize| ((i * 7919 + i / 18 * 31) % 97) as f32 / 48.0 - 1.0;
    let images = TensorData::new((0..8 * 18 * 18).map(pixel).collect::<Vec<_>>(), [8, 1, 18, 18]);
    let classes = TensorData::new((0..8).map(|i| i % 3).collect::<Vec<i32>>(), [8]);
    (Tensor::from_data(images, device), Tensor::from_data(classes, device))
}

/// Losses of steps from the same numbers in all weights.
fn losses<B: AutodiffBackend>(steps: usize, dropout: f64) -> Vec<f32> {
    let device = B::Device::default();
    let mut model = Cnn::<B>::new(dropout, &device).map(&mut Numbered(0));
    let mut optimizer = AdamConfig::new().init();
    let (images, classes) = batch::<B>(&device);
    let step = |_| {
        let output = model.forward(images.clone());
        let loss = CrossEntropyLossConfig::new().init(&device).forward(output, classes.clone());
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(1e-2, model.clone(), gradients);
        loss.into_scalar().elem()
    };
    (0..steps).map(step).collect()
}

/// Puts small numbers that differ into every weight.
struct Numbered(usize);

impl<B: Backend> ModuleMapper<B> for Numbered {
    fn map_float<const D: usize>(&mut self, weight: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        self.0 += 1;
        let salt = self.0 * 13;
        weight.map(|weight| {
            let number = |i: usize| ((i * 37 + salt) % 61) as f32 / 90.0 - 0.33;
            let numbers = (0..weight.shape().num_elements()).map(number).collect::<Vec<_>>();
            Tensor::from_data(TensorData::new(numbers, weight.shape()), &weight.device()).require_grad()
        })
    }
}

#[test]
fn losses_are_those_of_burn_flex() {
    let _turn = Turn::take();
    let (flex, ours) = (losses::<Autodiff<burn_flex::Flex>>(6, 0.0), losses::<Autodiff<B>>(6, 0.0));
    for (flex, ours) in flex.iter().zip(&ours) {
        assert!((flex - ours).abs() < 1e-3 * flex.abs(), "{flex} and {ours}");
    }
    assert!(ours[5] < ours[0], "{ours:?}");
}

#[test]
fn a_step_compiles_nothing_and_is_one_commit() {
    let mut turn = Turn::take();
    losses::<Autodiff<B>>(3, 0.5);
    turn.restart();
    losses::<Autodiff<B>>(10, 0.5);
    let used = turn.used();
    assert_eq!(used.programs_compiled, 0, "{used:?}");
    // One for each step; the weights of the second model are another.
    assert!(used.commits <= 12, "{used:?}");
}

/// Depthwise gradients for inputs that are longer than the filter reaches: macOS 27 ends the process over some.
#[test]
fn depthwise_gradients_behind_the_last_tap() {
    let _turn = Turn::take();
    let device = Default::default();
    let x = Tensor::<B, 3>::from_data([[[1.0, 2.0], [3.0, 4.0]]], &device);
    let w = Tensor::<B, 3>::from_data([[[1.0, 10.0, 100.0]], [[2.0, 20.0, 200.0]]], &device);
    let transposed = conv_transpose1d(x, w, None, ConvTransposeOptions::new([2], [0], [1], [1], 2));
    let expected = [[1.0, 10.0, 102.0, 20.0, 200.0, 0.0], [6.0, 60.0, 608.0, 80.0, 800.0, 0.0]];
    assert_eq!(read(transposed), expected.concat());

    let x = Tensor::<Autodiff<B>, 4>::ones([1, 2, 4, 4], &device).require_grad();
    let w = Tensor::<Autodiff<B>, 4>::ones([2, 1, 3, 3], &device);
    let y = conv2d(x.clone(), w, None, ConvOptions::new([2, 2], [0, 0], [1, 1], 2));
    let grad = x.grad(&y.sum().backward()).expect("it was asked for");
    let row = [[1.0, 1.0, 1.0, 0.0]; 3].concat();
    assert_eq!(read(grad), [&row[..], &[0.0; 4], &row, &[0.0; 4]].concat());
}
