//! The loss of sequences without an alignment, forward, and with the gradient.

use burn::backend::Autodiff;
use burn::tensor::activation::log_softmax;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::ctc_loss;
use burn::tensor::{DType, Distribution, Int, Tensor};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use burn_ndarray::NdArray;
use criterion::Criterion;

use super::{Group, each_backend, floats, measure};

/// Steps, sequences, classes and labels of each sequence.
const CASES: [[usize; 4]; 3] = [[50, 8, 32, 10], [200, 16, 64, 30], [100, 32, 1000, 20]];

pub fn benches(criterion: &mut Criterion) {
    let mut loss = criterion.benchmark_group("ctc_loss");
    for case in CASES {
        each_backend!(forward(&mut loss, case));
    }
    loss.finish();
    let mut gradient = criterion.benchmark_group("ctc_loss_backward");
    for case in CASES {
        backward::<Autodiff<MpsGraph>>(&mut gradient, case, "mpsgraph");
        backward::<Autodiff<NdArray>>(&mut gradient, case, "ndarray");
        backward::<Autodiff<Flex>>(&mut gradient, case, "flex");
    }
    gradient.finish();
}

/// Labels, and the lengths of inputs and labels.
fn targets<B: Backend>([steps, sequences, classes, labels]: [usize; 4]) -> (Tensor<B, 2, Int>, [Tensor<B, 1, Int>; 2]) {
    let device = B::Device::default();
    // All labels but the first, which stands for no label.
    let choice = Distribution::Uniform(1.0, classes as f64);
    let targets = Tensor::random([sequences, labels], choice, &device);
    (targets, [steps, labels].map(|length| Tensor::full([sequences], length as i64, &device)))
}

fn scores<B: Backend>([steps, sequences, classes, _]: [usize; 4]) -> Tensor<B, 3> {
    log_softmax(floats::<B, 3>([steps, sequences, classes], DType::F32), 2)
}

fn forward<B: Backend>(group: &mut Group<'_>, case: [usize; 4], backend: &str) {
    let input = || (scores::<B>(case), targets::<B>(case));
    measure::<B, _, _>(group, backend, &name(case), input, |(scores, (targets, [inputs, labels]))| {
        ctc_loss(scores.clone(), targets.clone(), inputs.clone(), labels.clone(), 0)
    });
}

fn backward<B: AutodiffBackend>(group: &mut Group<'_>, case: [usize; 4], backend: &str) {
    let input = || (scores::<B>(case).require_grad(), targets::<B>(case));
    measure::<B, _, _>(group, backend, &name(case), input, |(scores, (targets, [inputs, labels]))| {
        let loss = ctc_loss(scores.clone(), targets.clone(), inputs.clone(), labels.clone(), 0);
        scores.grad(&loss.sum().backward())
    });
}

fn name([steps, sequences, classes, labels]: [usize; 4]) -> String {
    format!("{steps} steps of {sequences}, {labels} of {classes} labels")
}
