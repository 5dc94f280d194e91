//! Convolutions, transposed ones, and their gradients.

mod by_hand;
mod deformable;
#[cfg(test)]
mod differences;
mod long_filters;
#[cfg(test)]
mod mistakes;
mod plain;
#[cfg(test)]
mod precision;
mod transposed;

use test_support::quarters;

modules! { by_hand deformable long_filters plain transposed }

/// A function that gives a convolution's output and its gradients for input, weight and bias: of quarters of these
/// shapes, with as many numbers of bias as `outputs` says of weight and options.
macro_rules! with_gradients {
    ($($name:ident($function:ident, $rank:literal, $options:ty, $outputs:expr);)*) => {$(
        fn $name<B: burn::tensor::backend::AutodiffBackend>(
            dtype: burn::tensor::DType,
            [x, weight]: [[usize; $rank]; 2],
            options: $options,
        ) -> Vec<burn::tensor::TensorData> {
            use crate::compare::{differentiate, gradient};
            use test_support::quarters;

            let bias = quarters::<B, 1>([$outputs(&weight, &options)], dtype, 2).require_grad();
            let x = quarters::<B, $rank>(x, dtype, 0).require_grad();
            let weight = quarters::<B, $rank>(weight, dtype, 1).require_grad();
            let output = burn::tensor::module::$function(x.clone(), weight.clone(), Some(bias.clone()), options);
            differentiate(output, |gradients| {
                vec![gradient(&x, gradients), gradient(&weight, gradients), gradient(&bias, gradients)]
            })
        }
    )*};
}
use with_gradients;
