//! Random numbers, and tensors of one number.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Distribution, Int, Tensor};
use criterion::Criterion;

use super::{Group, name, shapes};

pub fn benches(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("random");
    for shape in shapes() {
        each(group, shape, "uniform", Distribution::Uniform(-1.0, 1.0));
        each(group, shape, "normal", Distribution::Normal(0.0, 1.0));
        each(group, shape, "bernoulli", Distribution::Bernoulli(0.3));
    }
}

fn each(group: &mut Group<'_>, shape: [usize; 2], what: &str, distribution: Distribution) {
    fn float<B: Backend>(shape: [usize; 2], distribution: Distribution) -> Tensor<B, 2> {
        Tensor::random(shape, distribution, &B::Device::default())
    }
    fn int<B: Backend>(shape: [usize; 2], distribution: Distribution) -> Tensor<B, 2, Int> {
        Tensor::random(shape, distribution, &B::Device::default())
    }
    super::case!(group, name(what, DType::F32, shape), |B| (), |()| float::<B>(shape, distribution));
    let distribution = match distribution {
        Distribution::Uniform(..) => Distribution::Uniform(0.0, 100.0),
        other => other,
    };
    super::case!(group, name(what, DType::I64, shape), |B| (), |()| int::<B>(shape, distribution));
}
