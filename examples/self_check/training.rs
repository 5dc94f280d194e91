//! Gradients and whole training steps.

use burn::backend::Autodiff;
use burn::module::Module;
use burn::nn::loss::{CrossEntropyLossConfig, MseLoss, Reduction};
use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams, Optimizer, SgdConfig};
use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor, TensorData, activation};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{close_floats, within};
use crate::table::{Trap, check};
use crate::values::{B, choices, noise};

pub const TRAPS: &[Trap] = &[
    check("gradient of a linear regression", linear_regression),
    check("gradient of relu, softmax and cross entropy", cross_entropy),
    check("MLP with Adam: the loss falls, nothing is compiled late", adam),
    check("MLP with SGD: the loss falls", sgd),
];

type A = Autodiff<B>;

fn given<const D: usize>(values: &[f64], shape: [usize; D]) -> Tensor<A, D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), &MpsGraphDevice)
}

fn linear_regression() -> Outcome {
    let (n, k) = (50, 6);
    let (x, y, w) = (noise(n * k, 1), noise(n, 2), noise(k, 3));
    let errors: Vec<f64> =
        x.chunks(k).zip(&y).map(|(row, y)| row.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() - y).collect();
    let expected: Vec<f64> = (0..k)
        .map(|j| 2.0 / n as f64 * errors.iter().enumerate().map(|(i, e)| e * x[i * k + j]).sum::<f64>())
        .collect();
    let weight = given(&w, [k, 1]).require_grad();
    let loss = (given(&x, [n, k]).matmul(weight.clone()) - given(&y, [n, 1])).powi_scalar(2).mean();
    match weight.grad(&loss.backward()) {
        Some(gradient) => close_floats(&gradient.into_data(), &[k, 1], &expected, within(1e-5, 1e-5)),
        None => Outcome::fact("a gradient", "none", false),
    }
}

fn cross_entropy() -> Outcome {
    let (n, classes) = (20, 5);
    let x: Vec<f64> = noise(n * classes, 4).iter().map(|x| 3.0 * x).collect();
    let labels = choices(n, classes, 5);
    let mut expected = Vec::new();
    for (row, &label) in x.chunks(classes).zip(&labels) {
        let exp: Vec<f64> = row.iter().map(|x| x.max(0.0).exp()).collect();
        let sum: f64 = exp.iter().sum();
        expected.extend((0..classes).map(|c| {
            let error = (exp[c] / sum - f64::from(u8::from(c == label))) / n as f64;
            if row[c] > 0.0 { error } else { 0.0 }
        }));
    }
    let logits = given(&x, [n, classes]).require_grad();
    let targets: Vec<i64> = labels.iter().map(|&label| label as i64).collect();
    let targets = Tensor::<A, 1, Int>::from_data(TensorData::new(targets, [n]), &MpsGraphDevice);
    let loss = CrossEntropyLossConfig::new().init(&MpsGraphDevice).forward(activation::relu(logits.clone()), targets);
    match logits.grad(&loss.backward()) {
        Some(gradient) => close_floats(&gradient.into_data(), &[n, classes], &expected, within(1e-6, 1e-5)),
        None => Outcome::fact("a gradient", "none", false),
    }
}

#[derive(Module, Debug)]
struct Mlp<B: Backend> {
    first: Linear<B>,
    second: Linear<B>,
}

impl Mlp<A> {
    fn new() -> Self {
        A::seed(&MpsGraphDevice, 1);
        Self {
            first: LinearConfig::new(8, 32).init(&MpsGraphDevice),
            second: LinearConfig::new(32, 1).init(&MpsGraphDevice),
        }
    }

    fn loss(&self, x: Tensor<A, 2>, y: Tensor<A, 2>) -> Tensor<A, 1> {
        let hidden = activation::relu(self.first.forward(x));
        MseLoss::new().forward(self.second.forward(hidden), y, Reduction::Mean)
    }
}

/// First and last loss of 200 steps, and the number of programs compiled in the second half.
fn train(mut optimizer: impl Optimizer<Mlp<A>, A>, rate: f64) -> (f64, f64, u64) {
    let x = noise(64 * 8, 6);
    let y: Vec<f64> = x.chunks(8).map(|row| row[0] * row[1] - 0.5 * row[2] + row[3].abs()).collect();
    let (x, y) = (given(&x, [64, 8]), given(&y, [64, 1]));
    let mut model = Mlp::new();
    let mut losses = Vec::new();
    let mut compiled = 0;
    for step in 0..200 {
        if step == 100 {
            compiled = MpsGraphDevice.stats().programs_compiled;
        }
        let loss = model.loss(x.clone(), y.clone());
        let gradients = GradientsParams::from_grads::<A, _>(loss.backward(), &model);
        model = optimizer.step(rate * (1.0 - f64::from(step) * 1e-3), model, gradients);
        losses.push(f64::from(loss.into_scalar()));
    }
    (losses[0], losses[199], MpsGraphDevice.stats().programs_compiled - compiled)
}

fn verdict((first, last, compiled): (f64, f64, u64), part: f64) -> Outcome {
    Outcome::fact(
        format!("< {part} of it, 0 new"),
        format!("{first:.3} -> {last:.4}, {compiled} new"),
        last < part * first && compiled == 0,
    )
}

fn adam() -> Outcome {
    verdict(train(AdamConfig::new().init(), 0.01), 0.1)
}

fn sgd() -> Outcome {
    verdict(train(SgdConfig::new().init(), 0.1), 0.3)
}
