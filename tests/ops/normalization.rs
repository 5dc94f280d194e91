//! `LayerNorm` and its gradients. burn-flex computes some steps of 16-bit floats in 16 bits, so the tolerances are
//! wide.

use burn::module::Param;
use burn::nn::{LayerNorm, LayerNormConfig};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Tolerance::{Relative, RelativeOf};
use test_support::{FLOATS, Layout, floats};

use crate::compare::{differentiate, gradient};

cases! {
    sums_autodiff(
        FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Empty], RelativeOf([1e-4, 2e-2, 1e-1])
    ) {
        layer_norm_and_its_gradients = |layout, dtype| case::<B>(layout, dtype, true);
        layer_norm_without_shift = |layout, dtype| case::<B>(layout, dtype, false);
    }

    // Without gradients it is one op.
    given(FLOATS, Layout::PLAIN, RelativeOf([1e-4, 2e-2, 1e-1])) {
        layer_norm_of_the_last_axis = |layout, dtype| affine(floats::<B>(layout, dtype, 0), dtype, true);
        layer_norm_of_the_last_axis_without_shift = |layout, dtype| affine(floats::<B>(layout, dtype, 0), dtype, false);
        layer_norm_of_one_axis = |layout, dtype| affine(floats::<B>(layout, dtype, 0).flatten::<1>(0, 2), dtype, true);
        layer_norm_of_five_axes = |layout, dtype| {
            let x = floats::<B>(layout, dtype, 0);
            let [a, b, c] = x.dims();
            affine(x.reshape([a, 1, b, 1, c]).swap_dims(0, 2), dtype, true)
        };
    }

    given(FLOATS, [Layout::Empty], Relative(0.0)) {
        layer_norm_of_nothing = |layout, dtype| affine(floats::<B>(layout, dtype, 0), dtype, true);
    }

    // Rows with NaN or an infinity are NaN.
    given([DType::F32], [Layout::Extreme], Relative(1e-4)) {
        layer_norm_of_extremes = |layout, dtype| affine(floats::<B>(layout, dtype, 0), dtype, true);
    }

    // A row without variance is its shift.
    given([DType::F32], [Layout::Broadcast, Layout::Single], Relative(1e-5)) {
        layer_norm_of_equal_numbers = |layout, dtype| plain(floats::<B>(layout, dtype, 0));
    }

    by_hand() {
        layer_norm = |x = [[[1.0, 3.0], [-5.0, 5.0]]]| plain(x).round() => [[[-1.0, 1.0], [-1.0, 1.0]]];
    }
}

/// The output, and the gradients of input, scale and shift.
fn case<B: AutodiffBackend>(layout: Layout, dtype: DType, bias: bool) -> Vec<TensorData> {
    let input = floats::<B>(layout, dtype, 0).require_grad();
    let width = input.dims()[2];
    let row = |salt| floats::<B>(Layout::Contiguous, dtype, salt).reshape([30]).slice(0..width).require_grad();
    let mut module: LayerNorm<B> = LayerNormConfig::new(width).init(&input.device());
    module.gamma = Param::from_tensor(row(1));
    module.beta = bias.then(|| Param::from_tensor(row(2)));
    differentiate(module.forward(input.clone()), |gradients| {
        let mut all = vec![gradient(&input, gradients), gradient(&module.gamma.val(), gradients)];
        all.extend(module.beta.as_ref().map(|beta| gradient(&beta.val(), gradients)));
        all
    })
}

/// A module that scales and shifts each place of the last axis by another number.
fn affine<B: Backend, const D: usize>(input: Tensor<B, D>, dtype: DType, shifts: bool) -> Tensor<B, D> {
    let width = input.dims()[D - 1];
    let row = |salt| floats::<B>(Layout::Contiguous, dtype, salt).reshape([30]).slice(0..width);
    let mut module: LayerNorm<B> = LayerNormConfig::new(width).init(&input.device());
    module.gamma = Param::from_tensor(row(1));
    module.beta = shifts.then(|| Param::from_tensor(row(2)));
    module.forward(input)
}

/// A module that scales by 1 and shifts by 0.
fn plain<B: Backend>(input: Tensor<B, 3>) -> Tensor<B, 3> {
    let (width, options) = (input.dims()[2], (&input.device(), input.dtype()));
    let mut module: LayerNorm<B> = LayerNormConfig::new(width).init(&input.device());
    module.gamma = Param::from_tensor(Tensor::ones([width], options));
    module.beta = Some(Param::from_tensor(Tensor::zeros([width], options)));
    module.forward(input)
}
