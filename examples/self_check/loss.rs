//! The CTC loss. MPSGraph has none; it is composed of steps in logarithms, where minus infinity stands for what is
//! impossible.

use burn::backend::Autodiff;
use burn::tensor::module::ctc_loss;
use burn::tensor::{DType, Int, Tensor, TensorData};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{close_floats, within};
use crate::table::{Trap, check};
use crate::values::noise;

type A = Autodiff<burn_mpsgraph::MpsGraph>;

pub const TRAPS: &[Trap] = &[
    check("losses against all paths, one by one", || compared(false, &numbers(1))),
    check("gradients against all paths, one by one", || compared(true, &numbers(1))),
    check("losses with classes of probability 0", || compared(false, &impossible())),
    check("gradients with them: no NaN of minus infinity less itself", || compared(true, &impossible())),
    check("a target without a path: infinite loss, no gradient", hopeless),
    check("200 frames of f32 and of f16: no overflow", long),
];

const FRAMES: usize = 5;
const CLASSES: usize = 4;
/// For each sample its labels (as many as count), how many of these count, and how many frames.
const SAMPLES: [([i64; 2], usize, usize); 4] = [([1, 2], 2, 5), ([3, 3], 2, 4), ([2, 0], 1, 3), ([0, 0], 0, 5)];

/// Log-probabilities `(frames, samples, classes)`.
fn numbers(salt: u64) -> Vec<f64> {
    noise(FRAMES * SAMPLES.len() * CLASSES, salt).iter().map(|x| x * 2.0 - 1.5).collect()
}

fn impossible() -> Vec<f64> {
    let mut numbers = numbers(2);
    numbers.iter_mut().step_by(7).for_each(|x| *x = f64::NEG_INFINITY);
    numbers
}

/// What a path says: repeated classes once, and no blanks.
fn said(path: &[usize]) -> Vec<i64> {
    let mut said = path.to_vec();
    said.dedup();
    said.into_iter().filter(|&class| class != 0).map(|class| class as i64).collect()
}

/// The loss of a sample, and its gradient for all log-probabilities, from every path of its frames.
fn counted(log_probs: &[f64], sample: usize) -> (f64, Vec<f64>) {
    let (labels, count, frames) = SAMPLES[sample];
    let place = |frame: usize, class: usize| (frame * SAMPLES.len() + sample) * CLASSES + class;
    let mut total = 0.0;
    let mut weights = vec![0.0; log_probs.len()];
    for number in 0..CLASSES.pow(frames as u32) {
        let path: Vec<usize> = (0..frames).map(|frame| number / CLASSES.pow(frame as u32) % CLASSES).collect();
        if said(&path) == labels[..count] {
            let sum: f64 = path.iter().enumerate().map(|(frame, &class)| log_probs[place(frame, class)]).sum();
            total += sum.exp();
            path.iter().enumerate().for_each(|(frame, &class)| weights[place(frame, class)] += sum.exp());
        }
    }
    weights.iter_mut().for_each(|weight| *weight = if total > 0.0 { -*weight / total } else { 0.0 });
    (-total.ln(), weights)
}

fn floats(values: &[f64], shape: [usize; 3], dtype: DType) -> Tensor<A, 3> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), (&MpsGraphDevice, dtype)).require_grad()
}

fn integers<const D: usize>(values: Vec<i64>, shape: [usize; D]) -> Tensor<A, D, Int> {
    Tensor::from_data(TensorData::new(values, shape), (&MpsGraphDevice, DType::I32))
}

fn compared(of_gradient: bool, log_probs: &[f64]) -> Outcome {
    let (samples, shape) = (SAMPLES.len(), [FRAMES, SAMPLES.len(), CLASSES]);
    let x = floats(log_probs, shape, DType::F32);
    let losses = ctc_loss(
        x.clone(),
        integers(SAMPLES.iter().flat_map(|sample| sample.0).collect(), [samples, 2]),
        integers(SAMPLES.iter().map(|sample| sample.2 as i64).collect(), [samples]),
        integers(SAMPLES.iter().map(|sample| sample.1 as i64).collect(), [samples]),
        0,
    );
    let counted: Vec<(f64, Vec<f64>)> = (0..samples).map(|sample| counted(log_probs, sample)).collect();
    if !of_gradient {
        let expected: Vec<f64> = counted.into_iter().map(|(loss, _)| loss).collect();
        return close_floats(&losses.into_data(), &[samples], &expected, within(1e-5, 1e-5));
    }
    let expected: Vec<f64> =
        (0..log_probs.len()).map(|at| counted.iter().map(|(_, weights)| weights[at]).sum()).collect();
    match x.grad(&losses.sum().backward()) {
        Some(gradient) => close_floats(&gradient.into_data(), &shape, &expected, within(1e-5, 1e-5)),
        None => Outcome::fact("a gradient", "none", false),
    }
}

/// Two frames for three labels.
fn hopeless() -> Outcome {
    let x = floats(&noise(2 * 4, 3), [2, 1, 4], DType::F32);
    let losses =
        ctc_loss(x.clone(), integers(vec![1, 2, 3], [1, 3]), integers(vec![2], [1]), integers(vec![3], [1]), 0);
    let infinite = close_floats(&losses.to_data(), &[1], &[f64::INFINITY], within(0.0, 0.0));
    match x.grad(&losses.sum().backward()) {
        Some(gradient) => {
            Outcome::of([infinite, close_floats(&gradient.into_data(), &[2, 1, 4], &[0.0; 8], within(0.0, 0.0))])
        }
        None => Outcome::fact("a gradient", "none", false),
    }
}

/// With one class besides the blank and every log-probability -2: the paths of `n` frames that say the label once are
/// runs of it, `n * (n + 1) / 2` of them.
fn long() -> Outcome {
    let frames = 200;
    let expected = 2.0 * frames as f64 - (frames as f64 * (frames as f64 + 1.0) / 2.0).ln();
    Outcome::of([(DType::F32, 1e-5), (DType::F16, 1e-3)].map(|(dtype, relative)| {
        let x = floats(&vec![-2.0; frames * 2], [frames, 1, 2], dtype);
        let frames = integers(vec![frames as i64], [1]);
        let loss = ctc_loss(x, integers(vec![1], [1, 1]), frames, integers(vec![1], [1]), 0);
        close_floats(&loss.into_data(), &[1], &[expected], within(0.0, relative))
    }))
}
