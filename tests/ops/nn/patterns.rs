//! What the bridge's patterns rewrite, each rule in one program that is read once: outputs and gradients together.

use burn::nn::{BatchNormConfig, LayerNormConfig};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor, TensorData, activation};
use test_support::{FLOATS, Layout, Tolerance, floats};

use super::CHAIN;
use crate::compare::gradient;

cases! {
    sums_autodiff(FLOATS, [Layout::Contiguous], CHAIN) {
        factors = |layout, dtype| together::<B>(layout, dtype, |x| {
            x.clone() - x.clone() * 0.5 / ((x.clone() * x).sqrt() + 1.0) * 0.25
        });
        leading = |layout, dtype| together::<B>(layout, dtype, |x| {
            let row = x.clone().sum_dim(0).sum_dim(1).flatten::<1>(0, 2);
            x * row.unsqueeze()
        });
        permutes = |layout, dtype| together::<B>(layout, dtype, |x| {
            x.clone().swap_dims(0, 1).swap_dims(1, 2).swap_dims(0, 2).swap_dims(1, 2) * x
        });
        quotients = |layout, dtype| together::<B>(layout, dtype, |x| {
            let divisor = x.clone().abs().sum_dim(2) + 1.0;
            x / divisor
        });
        repeats = |layout, dtype| together::<B>(layout, dtype, |x| {
            let mean = x.clone().mean_dim(1);
            x.clone() * mean.expand(x.dims())
        });
        repeats_in_another_order = |layout, dtype| together::<B>(layout, dtype, |x| {
            let mean = x.clone().mean_dim(1).expand(x.dims()).swap_dims(0, 2);
            (x.swap_dims(0, 2).exp() * mean).swap_dims(0, 2)
        });
        repeats_in_another_shape = |layout, dtype| together::<B>(layout, dtype, |x| {
            let rows = x.clone().exp().flatten::<2>(0, 1);
            let means = rows.clone().reshape(x.dims()).mean_dim(1);
            (rows.clone() * rows).reshape(x.dims()) * means
        });
        rows = |layout, dtype| together::<B>(layout, dtype, |x| {
            let mix = x.clone().sum_dim(0).squeeze_dim::<2>(0);
            let inner = activation::gelu(x.matmul(mix.clone().transpose().matmul(mix.clone()).unsqueeze()) / 8.0);
            inner * mix.sum_dim(0).unsqueeze()
        });
        same_left = |layout, dtype| together::<B>(layout, dtype, |x| {
            let weights = x.clone().flatten::<2>(0, 1).narrow(0, 0, x.dims()[2]);
            in_steps(x, |step| {
                let rows = [0, 1].map(|at| weights.clone().narrow(0, at, 1));
                let [a, b] = [weights.clone(), weights.clone().exp()].map(|weights| step.clone().matmul(weights));
                (a + rows[0].clone()) * (b + rows[1].clone())
            })
        });
        signs = |layout, dtype| together::<B>(layout, dtype, |x| {
            let centred = x.clone() - x.clone().mean_dim(2);
            -(centred.clone() * -x) - centred
        });
        softmax = |layout, dtype| together::<B>(layout, dtype, |x| activation::softmax(x * 2.0, 2));
        sums = |layout, dtype| together::<B>(layout, dtype, |x| x.clone().sum_dim(0).sum_dim(2) * x);
        sums_of_products = |layout, dtype| together::<B>(layout, dtype, |x| {
            let weights = x.clone().flatten::<2>(0, 1).narrow(0, 0, x.dims()[2]);
            in_steps(x, |step| step.clone().exp().matmul(weights.clone().transpose()) + step.matmul(weights.clone()))
        });
        turned = |layout, dtype| together::<B>(layout, dtype, |x| {
            let sums = x.clone().swap_dims(0, 2).swap_dims(0, 1).sum_dim(1);
            x.clone() * sums.swap_dims(0, 1).swap_dims(0, 2) + x.swap_dims(1, 2).mean().unsqueeze()
        });
    }

    // What is beyond f16's range is the dividend's gradient, and the largest gradient less the mean of all.
    sums_autodiff([DType::F16], [Layout::Contiguous], Tolerance::Exact) {
        quotients_at_the_end_of_the_range = |_layout, dtype| {
            let [dividend, divisor] = [[0.0, 0.001953125, -0.0009765625, 0.0], [0.0078125; 4]]
                .map(|values| row::<B>(values, dtype).require_grad());
            let gradients = (dividend.clone() / divisor.clone() * 512.0).sum().backward();
            vec![gradient(&dividend, &gradients), gradient(&divisor, &gradients)]
        };
        softmax_at_the_end_of_the_range = |_layout, dtype| {
            let x = row::<B>([0.0; 4], dtype).require_grad();
            let weights = row::<B>([49152.0, -49152.0, -49152.0, -49152.0], dtype);
            let gradients = (activation::softmax(x.clone(), 0) * weights).sum().backward();
            vec![gradient(&x, &gradients)]
        };
    }

    // The layers' parameters are f32.
    sums_autodiff([DType::F32], [Layout::Contiguous], CHAIN) {
        batch_norm = |layout, dtype| together::<B>(layout, dtype, |x| {
            BatchNormConfig::new(x.dims()[1]).with_epsilon(0.25).init(&x.device()).forward(x)
        });
        layer_norm = |layout, dtype| together::<B>(layout, dtype, |x| {
            LayerNormConfig::new(x.dims()[2]).with_epsilon(0.25).init(&x.device()).forward(x)
        });
    }
}

fn row<B: Backend>(values: [f32; 4], dtype: DType) -> Tensor<B, 1> {
    Tensor::from_data(values, (&Default::default(), dtype))
}

/// What `step` makes of each matrix along the second axis and of what it made of the one before.
fn in_steps<B: Backend>(x: Tensor<B, 3>, step: impl Fn(Tensor<B, 2>) -> Tensor<B, 2>) -> Tensor<B, 3> {
    let [rows, _, columns] = x.dims();
    let mut state = Tensor::zeros([rows, columns], (&x.device(), x.dtype()));
    let states = x.iter_dim(1).map(|matrix| {
        state = step((state.clone() + matrix.squeeze_dim(1)).tanh());
        state.clone().unsqueeze_dim(1)
    });
    Tensor::cat(states.collect(), 1)
}

/// The output and the gradient of its weighted sum, which nothing asks for before all is recorded.
fn together<B: AutodiffBackend>(
    layout: Layout,
    dtype: DType,
    output: fn(Tensor<B, 3>) -> Tensor<B, 3>,
) -> Vec<TensorData> {
    let x = floats::<B>(layout, dtype, 0).require_grad();
    let weights = floats::<B>(layout, dtype, 1);
    let output = output(x.clone());
    let gradients = (output.clone() * weights).sum().backward();
    vec![gradient(&x, &gradients), output.into_data()]
}
