//! Activations, by themselves and by their config.

use burn::nn::activation::{ActivationConfig, HardSwish};
use burn::nn::{
    CeluConfig, EluConfig, GLU, Gelu, HardShrinkConfig, HardSigmoidConfig, LeakyReluConfig, PReluConfig, Relu, Selu,
    ShrinkConfig, Sigmoid, SoftShrinkConfig, SoftplusConfig, Softsign, SwiGluConfig, Tanh, ThresholdedReluConfig,
};
use burn::tensor::DType::F32;
use test_support::FLOATS;

use super::LAYER;

cases! {
    trained([F32], LAYER) {
        celu = |x = [2, 3, 5]| CeluConfig::new().with_alpha(0.7).init().forward(x);
        elu = |x = [2, 3, 5]| EluConfig::new().with_alpha(1.3).init().forward(x);
        gelu_approximate = |x = [2, 3, 5]| Gelu::new_approximate().forward(x);
        hard_shrink = |x = [2, 3, 5]| HardShrinkConfig::new().with_lambda(0.7).init().forward(x);
        hard_sigmoid = |x = [2, 3, 5]| HardSigmoidConfig::new().with_alpha(0.4).init().forward(x);
        leaky_relu = |x = [2, 3, 5]| LeakyReluConfig::new().with_negative_slope(0.1).init().forward(x);
        relu = |x = [2, 3, 5]| Relu::new().forward(x);
        selu = |x = [2, 3, 5]| Selu::new().forward(x);
        shrink = |x = [2, 3, 5]| ShrinkConfig::new().with_lambda(0.7).with_bias(0.2).init().forward(x);
        sigmoid = |x = [2, 3, 5]| Sigmoid::new().forward(x);
        soft_shrink = |x = [2, 3, 5]| SoftShrinkConfig::new().with_lambda(0.7).init().forward(x);
        softsign = |x = [2, 3, 5]| Softsign::new().forward(x);
        tanh = |x = [2, 3, 5]| Tanh::new().forward(x);
        thresholded_relu = |x = [2, 3, 5]| ThresholdedReluConfig::new().with_alpha(0.3).init().forward(x);
    }

    trained(FLOATS, LAYER) {
        gelu = |x = [2, 3, 5]| Gelu::new().forward(x);
        glu = |x = [2, 6, 5]| GLU::new(1).forward(x);
        hard_swish = |x = [2, 3, 5]| HardSwish::new().forward(x);
        p_relu = |layer = (PReluConfig::new().with_num_parameters(3)), x = [2, 3, 5]| layer.forward(x);
        p_relu_of_one = |layer = (PReluConfig::new()), x = [4, 3]| layer.forward(x);
        softplus = |x = [2, 3, 5]| SoftplusConfig::new().with_beta(1.7).init().forward(x);
        swi_glu = |layer = (SwiGluConfig::new(5, 3).with_bias(true)), x = [2, 3, 5]| layer.forward(x);
    }

    // `Activation`, the wrapper.
    trained([F32], LAYER) {
        wrapped = |layer = (ActivationConfig::Gelu), x = [2, 3, 5]| layer.forward(x);
        wrapped_with_parameters = |layer = (ActivationConfig::SwiGlu(SwiGluConfig::new(5, 4))), x = [3, 5]|
            layer.forward(x);
    }
}
