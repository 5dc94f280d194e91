//! Losses with their options and reductions.

use burn::nn::loss::{
    BinaryCrossEntropyLossConfig, CTCLossConfig, CosineEmbeddingLossConfig, CrossEntropyLossConfig, HuberLossConfig,
    KLDivLossConfig, LpLossConfig, MseLoss, PoissonNllLossConfig, RNNTLossConfig, Reduction, SmoothL1LossConfig,
};
use burn::tensor::DType::F32;
use burn::tensor::activation::{log_softmax, sigmoid, softmax};
use burn::tensor::{Int, Tensor};
use test_support::FLOATS;

use super::{LAYER, classes};

cases! {
    trained(FLOATS, LAYER) {
        cross_entropy = |x = [6, 4]| CrossEntropyLossConfig::new().init(&x.device()).forward(x, classes([6], 4));
        mse = |x = [3, 4], y = [3, 4]| (MseLoss::new().forward(x.clone(), y.clone(), Reduction::Mean),
            MseLoss::new().forward(x.clone(), y.clone(), Reduction::Sum), MseLoss::new().forward_no_reduction(x, y));
        huber = |x = [3, 4], y = [3, 4]| {
            let loss = HuberLossConfig::new(0.6).init();
            (loss.forward(x.clone(), y.clone(), Reduction::Mean), loss.forward_no_reduction(x, y))
        };
    }

    trained([F32], LAYER) {
        cross_entropy_weighted = |x = [6, 4]| CrossEntropyLossConfig::new()
            .with_weights(Some(vec![1.0, 0.25, 2.0, 3.0])).init(&x.device()).forward(x, classes([6], 4));
        cross_entropy_smoothed = |x = [6, 4]| CrossEntropyLossConfig::new().with_smoothing(Some(0.1))
            .init(&x.device()).forward(x, classes([6], 4));
        cross_entropy_of_everything = |x = [6, 4]| CrossEntropyLossConfig::new().with_smoothing(Some(0.2))
            .with_weights(Some(vec![1.0, 0.25, 2.0, 3.0])).with_pad_tokens(Some(vec![1, 2])).init(&x.device())
            .forward(x, classes([6], 4));
        cross_entropy_padded = |x = [6, 4]| CrossEntropyLossConfig::new().with_pad_tokens(Some(vec![1]))
            .init(&x.device()).forward(x, classes([6], 4));
        cross_entropy_of_probabilities = |x = [6, 4]| CrossEntropyLossConfig::new().with_logits(false)
            .init(&x.device()).forward(softmax(x, 1), classes([6], 4));
        binary_cross_entropy = |x = [5, 3]| BinaryCrossEntropyLossConfig::new().init(&x.device())
            .forward(sigmoid(x), classes([5, 3], 2));
        binary_cross_entropy_of_logits = |x = [5, 3]| BinaryCrossEntropyLossConfig::new().with_logits(true)
            .with_smoothing(Some(0.1)).with_weights(Some(vec![1.0, 0.5, 3.0])).init(&x.device())
            .forward(x, classes([5, 3], 2));
        huber_residuals = |x = [3, 4]| HuberLossConfig::new(0.6).init().forward_residuals(x);
        smooth_l1 = |x = [3, 4], y = [3, 4]| {
            let loss = SmoothL1LossConfig::new().with_beta(0.7).init();
            (loss.forward(x.clone(), y.clone()), loss.forward_reduce_dims(x.clone(), y.clone(), &[1]),
             loss.forward_with_reduction(x, y, Reduction::Sum))
        };
        lp = |x = [3, 4], y = [3, 4]| {
            let loss = LpLossConfig::new(3.0).init();
            (loss.forward(x.clone(), y.clone(), Reduction::Mean), loss.forward_reduce_dims(x.clone(), y.clone(), &[0]),
             LpLossConfig::l1().forward_no_reduction(x.clone(), y.clone()),
             LpLossConfig::l2().forward(x, y, Reduction::Sum))
        };
        kl_div = |x = [3, 4], y = [3, 4]| {
            let loss = KLDivLossConfig::new().init();
            let (x, y) = (log_softmax(x, 1), softmax(y, 1));
            (loss.forward(x.clone(), y.clone(), Reduction::BatchMean), loss.forward_no_reduction(x, y))
        };
        kl_div_of_logarithms = |x = [3, 4], y = [3, 4]| KLDivLossConfig::new().with_log_target(true).init()
            .forward(log_softmax(x, 1), log_softmax(y, 1), Reduction::Sum);
        poisson = |x = [3, 4], y = [3, 4]| {
            let loss = PoissonNllLossConfig::new().init();
            (loss.forward(x.clone(), y.clone().abs(), Reduction::Mean), loss.forward_no_reduction(x, y.abs()))
        };
        poisson_in_full = |x = [3, 4], y = [3, 4]| PoissonNllLossConfig::new().with_log_input(false).with_full(true)
            .init().forward(x.exp(), y.abs() + 0.5, Reduction::Sum);
        cosine_embedding = |x = [5, 4], y = [5, 4]| {
            let loss = CosineEmbeddingLossConfig::new().with_margin(0.2).init();
            let target = classes([5], 2) * 2 - 1;
            (loss.forward(x.clone(), y.clone(), target.clone()), loss.forward_no_reduction(x, y, target))
        };
        ctc = |x = [8, 3, 5]| {
            let loss = CTCLossConfig::new().with_zero_infinity(true).init();
            let (targets, lengths) = (classes([3, 4], 4) + 1, [[8, 6, 7], [4, 2, 3]].map(lengths));
            let [inputs, of_targets] = lengths;
            let x = log_softmax(x, 2);
            (loss.forward(x.clone(), targets.clone(), inputs.clone(), of_targets.clone()),
             loss.forward_with_reduction(x, targets, inputs, of_targets, Reduction::Mean))
        };
        rnnt = |x = [2, 5, 4, 6]| {
            let loss = RNNTLossConfig::new().init();
            let (targets, [inputs, of_targets]) = (classes([2, 3], 5) + 1, [[5, 4], [3, 2]].map(lengths));
            (loss.forward(x.clone(), targets.clone(), inputs.clone(), of_targets.clone()),
             loss.forward_with_reduction(x, targets, inputs, of_targets, Reduction::Sum))
        };
    }
}

fn lengths<B: burn::tensor::backend::Backend, const N: usize>(numbers: [i32; N]) -> Tensor<B, 1, Int> {
    Tensor::from_data(numbers, &B::Device::default())
}
