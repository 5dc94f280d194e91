//! Gradients against differences: a convolution is linear in each operand, so they are exact but for rounding.

use burn::tensor::module::{conv_transpose1d, conv_transpose2d, conv_transpose3d, conv1d, conv2d, conv3d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn::tensor::{DType, Tensor};

use super::quarters;
use crate::differences::{B, check, weighted};

/// A test of each function, for the shapes of input and weight and the number of outputs.
macro_rules! by_differences {
    ($($name:ident: $function:ident, $rank:literal, $x:expr, $weight:expr, $outputs:literal, $options:expr;)*) => {$(
        #[test]
        fn $name() {
            let x = || quarters::<B, $rank>($x, DType::F32, 0);
            let weight = || quarters::<B, $rank>($weight, DType::F32, 1);
            let bias = || quarters::<B, 1>([$outputs], DType::F32, 2);
            let of = |x: Tensor<B, $rank>, weight: Tensor<B, $rank>, bias| {
                weighted($function(x, weight, Some(bias), $options))
            };
            check("x", &x().into_data(), 0.5, |x| of(x, weight(), bias()));
            check("weight", &weight().into_data(), 0.5, |weight| of(x(), weight, bias()));
            check("bias", &bias().into_data(), 0.5, |bias| of(x(), weight(), bias));
        }
    )*};
}

by_differences! {
    of_1: conv1d, 3, [2, 2, 6], [4, 1, 3], 4, ConvOptions::new([2], [1], [2], 2);
    // The last element is in no window; burn-backend's formula for groups takes it for one of the next filter.
    of_1_with_a_rest: conv1d, 3, [2, 4, 8], [6, 2, 3], 6, ConvOptions::new([2], [1], [1], 2);
    of_2: conv2d, 4, [1, 2, 4, 4], [3, 2, 2, 3], 3, ConvOptions::new([2, 1], [1, 0], [1, 1], 1);
    of_3: conv3d, 5, [1, 2, 3, 2, 3], [2, 1, 2, 2, 2], 2, ConvOptions::new([1, 1, 2], [1, 0, 1], [2, 1, 1], 2);
    of_3_with_a_rest: conv3d, 5, [1, 2, 4, 2, 3], [2, 1, 2, 1, 2], 2,
        ConvOptions::new([3, 1, 2], [0, 0, 0], [1, 1, 1], 2);
    transposed_1: conv_transpose1d, 3, [2, 2, 3], [2, 2, 3], 2, ConvTransposeOptions::new([2], [1], [1], [1], 1);
    transposed_2: conv_transpose2d, 4, [1, 2, 3, 2], [2, 1, 2, 3], 2,
        ConvTransposeOptions::new([2, 3], [1, 0], [1, 2], [1, 1], 2);
    transposed_3: conv_transpose3d, 5, [1, 2, 2, 2, 2], [2, 1, 2, 2, 1], 1,
        ConvTransposeOptions::new([2, 1, 1], [1, 0, 0], [1, 0, 0], [1, 2, 1], 1);
}
