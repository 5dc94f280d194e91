//! Gradients against differences: a convolution is linear in each operand, so they are exact but for rounding.

use burn::backend::Autodiff;
use burn::tensor::module::{conv_transpose1d, conv_transpose2d, conv_transpose3d, conv1d, conv2d, conv3d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn::tensor::{DType, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;

use super::quarters;

type B = Autodiff<MpsGraph>;

/// The sum of the output weighted by position.
fn weighted<const D: usize>(output: Tensor<B, D>) -> Tensor<B, 1> {
    let weights = quarters::<B, D>(output.dims(), DType::F32, 5);
    (output * weights).sum()
}

/// Checks each element of the gradient for a leaf of this shape.
fn check<const D: usize>(what: &str, shape: [usize; D], function: impl Fn(Tensor<B, D>) -> Tensor<B, 1>) {
    let leaf = quarters::<B, D>(shape, DType::F32, 3).require_grad();
    let gradient = leaf.grad(&function(leaf.clone()).backward()).expect("the leaf takes part").into_data();
    let values: Vec<f32> = leaf.into_data().iter().collect();
    let at = |values: Vec<f32>| function(Tensor::from_data(TensorData::new(values, shape), &Default::default()));
    for (i, found) in gradient.iter::<f32>().enumerate() {
        let moved = |by: f32| {
            let mut values = values.clone();
            values[i] += by;
            at(values).into_scalar()
        };
        let difference = (moved(0.5) - moved(-0.5)) / 1.0;
        assert!((difference - found).abs() <= 1e-3, "{what}: {found} at {i}, by differences {difference}");
    }
}

/// A test of each function, for the shapes of input and weight and the number of outputs.
macro_rules! by_differences {
    ($($name:ident: $function:ident, $rank:literal, $x:expr, $weight:expr, $outputs:literal, $options:expr;)*) => {$(
        #[test]
        fn $name() {
            let x = || quarters::<B, $rank>($x, DType::F32, 0);
            let weight = || quarters::<B, $rank>($weight, DType::F32, 1);
            let bias = || quarters::<B, 1>([$outputs], DType::F32, 2);
            check("x", $x, |x| weighted($function(x, weight(), Some(bias()), $options)));
            check("weight", $weight, |weight| weighted($function(x(), weight, Some(bias()), $options)));
            check("bias", [$outputs], |bias| weighted($function(x(), weight(), Some(bias), $options)));
        }
    )*};
}

by_differences! {
    of_1: conv1d, 3, [2, 2, 6], [4, 1, 3], 4, ConvOptions::new([2], [1], [2], 2);
    of_2: conv2d, 4, [1, 2, 4, 4], [3, 2, 2, 3], 3, ConvOptions::new([2, 1], [1, 0], [1, 1], 1);
    of_3: conv3d, 5, [1, 2, 3, 2, 3], [2, 1, 2, 2, 2], 2, ConvOptions::new([1, 1, 2], [1, 0, 1], [2, 1, 1], 2);
    transposed_1: conv_transpose1d, 3, [2, 2, 3], [2, 2, 3], 2, ConvTransposeOptions::new([2], [1], [1], [1], 1);
    transposed_2: conv_transpose2d, 4, [1, 2, 3, 2], [2, 1, 2, 3], 2,
        ConvTransposeOptions::new([2, 3], [1, 0], [1, 2], [1, 1], 2);
    transposed_3: conv_transpose3d, 5, [1, 2, 2, 2, 2], [2, 1, 2, 2, 1], 1,
        ConvTransposeOptions::new([2, 1, 1], [1, 0, 0], [1, 0, 0], [1, 2, 1], 1);
}
