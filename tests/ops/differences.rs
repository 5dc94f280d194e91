//! Gradients against quotients of differences, because burn-flex shares the formulas of burn-autodiff.

use burn::backend::Autodiff;
use burn::tensor::{Tensor, TensorData};
use burn_mpsgraph::MpsGraph;

pub type B = Autodiff<MpsGraph>;

/// The sum of `output` weighted by position.
pub fn weighted<const D: usize>(output: Tensor<B, D>) -> Tensor<B, 1> {
    let weight = |i: usize| ((i * 37 + i / 5 + 4) % 17) as f32 / 4.0 - 2.0;
    let weights: Vec<f32> = (0..output.shape().num_elements()).map(weight).collect();
    let weights = Tensor::from_data(TensorData::new(weights, output.shape()), &output.device());
    (output * weights).sum()
}

/// Checks each element of the gradient of `function` at `point`, where `function` has to be linear in each element as
/// far as `step` on both sides: then the quotients are exact but for rounding.
#[track_caller]
pub fn check<const D: usize>(
    what: &str,
    point: &TensorData,
    step: f32,
    function: impl Fn(Tensor<B, D>) -> Tensor<B, 1>,
) {
    let leaf = Tensor::<B, D>::from_data(point.clone(), &Default::default()).require_grad();
    let gradient = leaf.grad(&function(leaf.clone()).backward()).expect("the leaf takes part").into_data();
    let values: Vec<f32> = point.iter().collect();
    for (i, found) in gradient.iter::<f32>().enumerate() {
        let moved = |by: f32| {
            let mut values = values.clone();
            values[i] += by;
            let data = TensorData::new(values, point.shape.clone());
            function(Tensor::from_data(data, &Default::default())).into_scalar()
        };
        let quotient = (moved(step) - moved(-step)) / (2.0 * step);
        assert!((quotient - found).abs() <= 1e-3, "{what}: {found} at {i}, by differences {quotient}");
    }
}
