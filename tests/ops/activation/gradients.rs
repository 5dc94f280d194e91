//! Gradients through `Autodiff` of both backends.

use burn::backend::Autodiff;
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor, TensorData, activation as act};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::{self, Relative, RelativeOf};
use test_support::{FLOATS, Layout, floats};

use crate::compare::assert_gives;

/// burn-flex and Burn's defaults round each of up to five steps to 16 bits.
const STEPS: Tolerance = RelativeOf([2e-6, 8e-3, 6e-2]);

cases! {
    gradients(FLOATS, Layout::PLAIN, STEPS) {
        gelu = |x| act::gelu(x);
        hard_sigmoid = |x| act::hard_sigmoid(x, 0.2, 0.5);
        hard_swish = |x| act::hard_swish(x);
        leaky_relu = |x| act::leaky_relu(x, 0.01);
        log_sigmoid = |x| act::log_sigmoid(x);
        log_softmax_0 = |x| act::log_softmax(x, 0);
        log_softmax_1 = |x| act::log_softmax(x, 1);
        log_softmax_2 = |x| act::log_softmax(x, 2);
        mish = |x| act::mish(x);
        prelu = |x| { let slope = Tensor::from_data([0.25f32], (&x.device(), x.dtype())); act::prelu(x, slope) };
        relu = |x| act::relu(x);
        sigmoid = |x| act::sigmoid(x);
        silu = |x| act::silu(x);
        softmax_0 = |x| act::softmax(x, 0);
        softmax_1 = |x| act::softmax(x, 1);
        softmax_2 = |x| act::softmax(x, 2);
        softmin = |x| act::softmin(x, 1);
        softplus = |x| act::softplus(x, 1.25);
        tanh = |x| act::tanh(x);
    }

    // The arithmetic that models are made of.
    gradients(FLOATS, Layout::PLAIN, STEPS) {
        abs = |x| x.abs();
        clamp = |x| x.clamp(-1.5, 2.25);
        cos = |x| x.cos();
        div = |x| { let y = x.clone().abs() + 1.0; x / y };
        erf = |x| x.erf();
        exp = |x| x.exp();
        log = |x| (x.abs() + 0.5).log();
        log1p = |x| x.abs().log1p();
        mask_fill = |x| { let mask = x.clone().greater_elem(0.5); x.mask_fill(mask, 2.0) };
        mask_where = |x| { let mask = x.clone().greater_elem(0.5); let y = x.clone() * 2.0; x.mask_where(mask, y) };
        max_dim = |x| x.max_dim(1);
        mean = |x| x.mean_dim(1);
        min_dim = |x| x.min_dim(2);
        powf = |x| (x.abs() + 0.5).powf_scalar(1.7);
        powi = |x| x.powi_scalar(3);
        recip = |x| (x.abs() + 0.5).recip();
        sin = |x| x.sin();
        sqrt = |x| (x.abs() + 0.5).sqrt();
        sum = |x| x.sum_dim(1);
        tan = |x| (x / 4.0).tan();
        var = |x| x.var_bias(1);
    }

    gradients_by_hand() {
        relu_backward = |x = [-1.0, 0.5, 2.0]| act::relu(x) * 3.0 => [0.0, 3.0, 3.0];
        gelu_backward = |x = [0.0, 1.0]| act::gelu(x) => [0.5, 1.083316];
        sigmoid_backward = |x = [0.0, 1.0]| act::sigmoid(x) * 4.0 => [1.0, 0.786448];
        log_sigmoid_backward = |x = [0.0, 1.0]| act::log_sigmoid(x) => [0.5, 0.268941];
        prelu = |x = [-2.0, 2.0], slope = [0.25]| act::prelu(x, slope) => [0.25, 1.0];
    }
}

#[test]
fn prelu_slopes() {
    fn case<B: Backend>() -> TensorData {
        let device = <Autodiff<B> as burn::tensor::backend::BackendTypes>::Device::default();
        let x = floats::<Autodiff<B>>(Layout::Contiguous, DType::F32, 0);
        let slopes = Tensor::<Autodiff<B>, 1>::from_floats([0.1, 0.2, 0.3, 0.4, 0.5], &device).require_grad();
        let gradients = act::prelu(x, slopes.clone()).sum().backward();
        slopes.grad(&gradients).expect("the slopes take part").into_data()
    }
    assert_gives("slopes", &case::<Flex>(), case::<MpsGraph>, Relative(2e-6));
}
