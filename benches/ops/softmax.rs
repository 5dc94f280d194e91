//! Softmax and normalization.

use burn::nn::{LayerNorm, LayerNormConfig};
use burn::tensor::backend::Backend;
use burn::tensor::{DType, activation};
use criterion::Criterion;

use super::{case, floats, name, shapes};

pub fn benches(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("softmax");
    for shape in shapes() {
        for dim in [0, 1] {
            let of = |what: &str| name(&format!("{what} dim {dim}"), DType::F32, shape);
            case!(group, of("softmax"), |B| floats::<B>(shape), |x| activation::softmax(x.clone(), dim));
            case!(group, of("log softmax"), |B| floats::<B>(shape), |x| activation::log_softmax(x.clone(), dim));
        }
        let of = |what: &str| name(what, DType::F32, shape);
        let short = [shape[0] * shape[1] / 10, 10];
        case!(group, of("softmax of rows of 10"), |B| floats::<B>(short), |x| activation::softmax(x.clone(), 1));
        case!(group, of("layer norm"), |B| (layer_norm::<B>(shape[1]), floats::<B>(shape)), |(layer, x)| {
            layer.forward(x.clone())
        });
    }
}

fn layer_norm<B: Backend>(width: usize) -> LayerNorm<B> {
    LayerNormConfig::new(width).init(&B::Device::default())
}
