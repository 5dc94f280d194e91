//! Products with quantized matrices, and a layer whose weights are quantized.

use burn::module::{Module, Quantizer};
use burn::nn::{Linear, LinearConfig};
use burn::tensor::backend::Backend;
use burn::tensor::quantization::{Calibration, QuantLevel, QuantScheme};
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Tolerance::Relative;
use test_support::{Layout, floats};

use super::{Q4F, Q8S, VALUES, by};

cases! {
    sums([DType::F32], [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast], Relative(1e-5)) {
        matmul = |layout, dtype| {
            let (a, b) = (floats::<B>(layout, dtype, 0), floats::<B>(layout, dtype, 1).swap_dims(1, 2));
            every_scheme(|scheme| {
                let (qa, qb) = (a.clone().quantize_dynamic(&scheme), b.clone().quantize_dynamic(&scheme));
                let mixed = [qa.clone().matmul(b.clone()), a.clone().matmul(qb.clone()), qa.matmul(qb)];
                mixed.map(Tensor::into_data).to_vec()
            })
        };
        // The weights may be moved before they are multiplied with.
        matmul_of_a_transposed_matrix = |layout, dtype| {
            let (a, b) = (floats::<B>(layout, dtype, 0), floats::<B>(layout, dtype, 1));
            every_scheme(|scheme| {
                let b = b.clone().quantize_dynamic(&scheme).transpose();
                vec![a.clone().matmul(b).into_data()]
            })
        };
        layer = |layout, dtype| {
            let x = floats::<B>(layout, dtype, 0);
            every_scheme(|scheme| {
                let layer = quantized(weights::<B>(), scheme);
                vec![layer.forward(x.clone()).into_data(), layer.forward(x.clone().slice([0..1, 2..3])).into_data()]
            })
        };
    }

    by_hand() {
        matmul = |x = [[1.0, 2.0], [0.5, -1.0]], y = [[7.0, -7.0], [3.0, 1.0]]| {
            // Steps of 14 / 254 and of 14 / 15.
            let by = |value| y.clone().quantize_dynamic(&by(value, QuantLevel::Tensor));
            Tensor::cat([Q8S, Q4F].map(|value| x.clone().matmul(by(value)).round()).to_vec(), 0)
        } => [[13.0, -5.0], [1.0, -4.0], [12.0, -6.0], [0.0, -5.0]];
    }
}

fn every_scheme(run: impl Fn(QuantScheme) -> Vec<TensorData>) -> Vec<TensorData> {
    let levels = [QuantLevel::Tensor, QuantLevel::block([3]), QuantLevel::block([6])];
    VALUES.into_iter().flat_map(|value| levels.map(|level| by(value, level))).flat_map(run).collect()
}

/// A layer from 3 to 6.
fn weights<B: Backend>() -> Linear<B> {
    let device = B::Device::default();
    let mut layer: Linear<B> = LinearConfig::new(3, 6).with_bias(false).init(&device);
    let numbers: Vec<f32> = (0..18).map(|i| ((i * 29 + 3) % 37) as f32 / 18.5 - 1.0).collect();
    layer.weight = burn::module::Param::from_data(TensorData::new(numbers, [3, 6]), &device);
    layer
}

/// What `Module::quantize_weights` makes of it.
fn quantized<B: Backend>(layer: Linear<B>, scheme: QuantScheme) -> Linear<B> {
    // Burn's calibration wants one scale for each block of a row.
    let scheme = match scheme.level {
        QuantLevel::Tensor => scheme,
        QuantLevel::Block(_) => scheme.with_level(QuantLevel::block([3])),
    };
    layer.quantize_weights(&mut Quantizer { calibration: Calibration::MinMax, scheme })
}
