//! Values and gradients, and what a training step costs.

use burn::tensor::{Device, Tensor};
use burn_mpsgraph::MpsGraphDevice;
use remote::{Network, accuracy, train};

use crate::device;

#[test]
fn gradients_are_those_of_the_formula() {
    let (device, _turn) = device();
    let device = device.autodiff();
    let x = Tensor::<2>::from_floats([[0.5, -1.0], [2.0, 0.25]], &device).require_grad();
    let y = x.clone().matmul(x.clone()).exp().sum();
    let gradients = y.backward();
    // x·x = [[-1.75, -0.75], [1.5, -1.9375]]; the gradient is e·xᵀ + xᵀ·e of e = exp(x·x).
    let e = [[-1.75f64, -0.75], [1.5, -1.9375]].map(|row| row.map(f64::exp));
    let xt = [[0.5, 2.0], [-1.0, 0.25]];
    let product = |a: [[f64; 2]; 2], b: [[f64; 2]; 2], i: usize, j: usize| a[i][0] * b[0][j] + a[i][1] * b[1][j];
    let expected = [0, 1].map(|i| [0, 1].map(|j| product(e, xt, i, j) + product(xt, e, i, j)));
    let found: Vec<f32> = x.grad(&gradients).expect("it is required").into_data().try_to_vec().expect("f32");
    for (found, expected) in found.iter().zip(expected.as_flattened()) {
        assert!((f64::from(*found) - expected).abs() < 1e-4, "{found} is not {expected}");
    }
    let sum: f64 = e.as_flattened().iter().sum();
    assert!((y.into_scalar::<f64>() - sum).abs() < 1e-4);
}

#[test]
fn training_learns_and_a_step_is_one_commit_that_compiles_nothing() {
    const STEPS: usize = 300;
    const FIRST: usize = 5;
    let (device, _turn) = device();
    let device: Device = device.autodiff();
    device.seed(7);
    let mut before = MpsGraphDevice.stats();
    let mut losses = Vec::new();
    let network = train(Network::new(32, &device), STEPS, &device, |step, loss| {
        losses.push(loss);
        if step + 1 == FIRST {
            before = MpsGraphDevice.stats();
        }
    });
    let used = MpsGraphDevice.stats().since(&before);
    let steps = (STEPS - FIRST) as u64;
    assert_eq!((used.commits, used.executions, used.host_reads), (steps, steps, steps), "{used:?}");
    assert_eq!(used.programs_compiled, 0, "{used:?}");
    assert!((losses[0] - 2f32.ln()).abs() < 0.2 && losses[STEPS - 1] < 0.2, "{losses:?}");
    let accuracy = accuracy(&network, &device);
    assert!(accuracy > 0.95, "{accuracy}");
}
