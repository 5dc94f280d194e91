//! `Linear`.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, Tensor, TensorData, module::linear};
use test_support::Tolerance::{self, RelativeOf};
use test_support::{FLOATS, Layout, floats};

use crate::compare::{differentiate, gradient};

/// burn-flex sums 16-bit floats in 16 bits.
const SUMS: Tolerance = RelativeOf([1e-5, 2e-2, 2e-2]);

cases! {
    given_autodiff(FLOATS, Layout::PLAIN, SUMS) {
        linear_and_its_gradients = |layout, dtype| case::<B>(layout, dtype, true);
        linear_without_bias = |layout, dtype| case::<B>(layout, dtype, false);
    }

    given_autodiff(FLOATS, [Layout::Empty], SUMS) {
        linear_of_nothing = |layout, dtype| case::<B>(layout, dtype, true);
        linear_of_nothing_without_bias = |layout, dtype| case::<B>(layout, dtype, false);
    }

    // 16-bit sums of extreme numbers overflow in one order of summation and not in another.
    given_autodiff([DType::F32], [Layout::Extreme], SUMS) {
        linear_of_extremes = |layout, dtype| case::<B>(layout, dtype, true);
        linear_of_extremes_without_bias = |layout, dtype| case::<B>(layout, dtype, false);
    }

    given_autodiff(FLOATS, [Layout::Contiguous], SUMS) {
        linear_of_other_ranks = |_layout, dtype| ranks::<B>(dtype, true);
        linear_of_other_ranks_without_bias = |_layout, dtype| ranks::<B>(dtype, false);
    }

    // More positions than MPSGraph's products take before macOS 14.4, though no axis has so many.
    given_autodiff([DType::F32], [Layout::Contiguous], SUMS) {
        linear_at_many_positions = |_layout, dtype| {
            let x = floats::<B>(Layout::Contiguous, dtype, 0).slice([0..1, 0..1, 0..2]).repeat(&[2, 16_385, 1]);
            let [weight, bias] = [1, 2].map(|salt| floats::<B>(Layout::Contiguous, dtype, salt).reshape([10, 3]));
            vec![linear(x, weight.slice(0..2), Some(bias.slice(0..1).reshape([3]))).into_data()]
        };
    }

    by_hand() {
        linear = |x = [[1.0, 2.0]], w = [[1.0, 0.0, 3.0], [0.0, 1.0, 4.0]], b = [10.0, 20.0, 30.0]|
            linear(x, w, Some(b)) => [[11.0, 22.0, 41.0]];
    }

    gradients_by_hand() {
        linear_x_backward = |x = [[1.0, 2.0]], w = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]| linear(x, w, None)
            => [[6.0, 15.0]];
        linear_weight_backward = |w = [[1.0, 2.0], [4.0, 5.0]], x = [[1.0, 2.0], [3.0, 4.0]]| linear(x, w, None)
            => [[4.0, 4.0], [6.0, 6.0]];
        linear_bias_backward = |b = [1.0, 2.0], w = [[1.0, 2.0]], x = [[1.0], [2.0], [3.0]]| linear(x, w, Some(b))
            => [3.0, 3.0];
    }
}

/// The output, and the gradients of input, weight and bias.
fn case<B: AutodiffBackend>(layout: Layout, dtype: DType, bias: bool) -> Vec<TensorData> {
    let input = floats::<B>(layout, dtype, 0).require_grad();
    let width = input.dims()[2];
    let weight = floats::<B>(Layout::Contiguous, dtype, 1).reshape([-1, 5]).slice([0..width, 0..4]).require_grad();
    let bias = bias.then(|| floats::<B>(Layout::Contiguous, dtype, 2).reshape([30]).slice(0..4).require_grad());
    let module = Linear { weight: Param::from_tensor(weight), bias: bias.map(Param::from_tensor) };
    differentiate(module.forward(input.clone()), |gradients| {
        let mut all = vec![gradient(&input, gradients), gradient(&module.weight.val(), gradients)];
        all.extend(module.bias.as_ref().map(|bias| gradient(&bias.val(), gradients)));
        all
    })
}

/// Layers of rank 2, 1 and 5.
fn ranks<B: AutodiffBackend>(dtype: DType, bias: bool) -> Vec<TensorData> {
    let x = floats::<B>(Layout::Contiguous, dtype, 0);
    let weight = floats::<B>(Layout::Contiguous, dtype, 1).reshape([3, 10]);
    // A row of a matrix.
    let bias = bias.then(|| floats::<B>(Layout::Contiguous, dtype, 2).reshape([3, 10]).slice(1..2).reshape([10]));
    let module = Linear { weight: Param::from_tensor(weight), bias: bias.map(Param::from_tensor) };
    let forward = |x: Tensor<B, 5>| module.forward(x).into_data();
    vec![
        module.forward(x.clone().reshape([10, 3])).into_data(),
        module.forward(x.clone().slice([0..1, 0..1]).reshape([3])).into_data(),
        forward(x.clone().reshape([2, 1, 5, 1, 3])),
        forward(x.reshape([5, 2, 1, 1, 3]).swap_dims(0, 1)),
    ]
}
