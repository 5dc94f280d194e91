//! Normalizations. Batch norm learns from its batches, whose sizes change; then it evaluates with what it has seen.

use burn::module::AutodiffModule;
use burn::nn::norm::NormalizationConfig;
use burn::nn::{
    BatchNorm, BatchNormConfig, GroupNormConfig, InstanceNormConfig, LayerNormConfig, LocalResponseNormConfig,
    RmsNormConfig,
};
use burn::tensor::DType::F32;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use test_support::FLOATS;

use super::{CHAIN, LAYER};

cases! {
    trained(FLOATS, CHAIN) {
        group = |layer = (GroupNormConfig::new(2, 6)), x = [2, 6, 4]| layer.forward(x);
        instance = |layer = (InstanceNormConfig::new(3)), x = [2, 3, 4, 3]| layer.forward(x);
        layer = |layer = (LayerNormConfig::new(8)), x = [2, 3, 8]| layer.forward(x);
        rms = |layer = (RmsNormConfig::new(8)), x = [2, 3, 8]| layer.forward(x);
    }

    trained([F32], LAYER) {
        batch_of_rank_2 = |layer = (BatchNormConfig::new(3)), x = [6, 3]| learned(&layer, [x]);
        batch_1d = |layer = (BatchNormConfig::new(3)), x = [4, 3, 5]| learned(&layer, [x]);
        batch_2d = |layer = (BatchNormConfig::new(3).with_momentum(0.3)), x = [4, 3, 3, 2]| learned(&layer, [x]);
        batch_3d = |layer = (BatchNormConfig::new(3).with_epsilon(1e-3)), x = [2, 3, 2, 2, 3]| learned(&layer, [x]);
        batches = |layer = (BatchNormConfig::new(2)), x = [4, 2, 3, 3], y = [7, 2, 3, 3], z = [2, 2, 3, 3],
            last = [4, 2, 3, 3]| learned(&layer, [x, y, z, last]);
        group_without_affine = |layer = (GroupNormConfig::new(3, 6).with_affine(false)), x = [2, 6, 2, 3]|
            layer.forward(x);
        instance_without_affine = |layer = (InstanceNormConfig::new(3).with_affine(false)), x = [2, 3, 5]|
            layer.forward(x);
        layer_without_bias = |layer = (LayerNormConfig::new(8).with_bias(false)), x = [5, 8]| layer.forward(x);
        local_response = |x = [2, 7, 3, 2]|
            LocalResponseNormConfig::new(5).with_alpha(0.3).init().forward(x);
        local_response_even = |x = [2, 4, 3]| LocalResponseNormConfig::new(2).with_alpha(0.3).init().forward(x);
        // `Normalization`, the wrapper.
        wrapped = |layer = (NormalizationConfig::from(LayerNormConfig::new(0)).with_num_features(8)), x = [3, 8]|
            layer.forward(x);
    }
}

/// What comes out of each batch, the running statistics, and what they make of the first batch.
fn learned<B: AutodiffBackend, const D: usize, const N: usize>(
    layer: &BatchNorm<B>,
    batches: [Tensor<B, D>; N],
) -> (Vec<Tensor<B, D>>, Vec<Tensor<B, 1>>, Tensor<B, D>) {
    let evaluated = batches[0].clone().inner();
    let results = batches.into_iter().map(|x| layer.forward(x)).collect();
    let statistics = vec![layer.running_mean.value_sync(), layer.running_var.value_sync()];
    (results, statistics, Tensor::from_inner(layer.valid().forward(evaluated)))
}
