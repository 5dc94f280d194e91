//! `Dropout` and `GaussianNoise`: their statistics in training, and that an evaluation leaves its input alone.

use burn::backend::Autodiff;
use burn::nn::{DropoutConfig, GaussianNoiseConfig};
use burn::tensor::{Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;

use crate::compare::assert_gives;

type Trained = Tensor<Autodiff<MpsGraph>, 2>;

const SIDE: usize = 200;

fn numbers(data: TensorData) -> Vec<f64> {
    data.iter::<f64>().collect()
}

/// The count of zeros is within 5 standard deviations, and the gradient is 0 exactly where the result is.
#[test]
fn dropout_in_training() {
    for probability in [0.1_f64, 0.5, 0.8] {
        let x = Trained::ones([SIDE, SIDE], &Default::default()).require_grad();
        let kept = DropoutConfig::new(probability).init().forward(x.clone());
        let gradient = numbers(x.grad(&kept.clone().sum().backward()).expect("a gradient").into_data());
        let kept = numbers(kept.into_data());
        assert_eq!(gradient, kept, "both are 0 or the scale");
        let zeros = kept.iter().filter(|&&x| x == 0.0).count() as f64;
        let count = (SIDE * SIDE) as f64;
        let deviation = (count * probability * (1.0 - probability)).sqrt();
        assert!((zeros - count * probability).abs() < 5.0 * deviation, "{zeros} of {count} at {probability}");
        let scale = 1.0 / (1.0 - probability);
        assert!(kept.iter().all(|&x| x == 0.0 || (x - scale).abs() < 1e-5 * scale), "others than 0 and {scale}");
        // Neighbours in rows and columns are independent: both 0 as often as the probability squared.
        for step in [1, SIDE] {
            let pairs = kept.iter().zip(&kept[step..]).filter(|&(&a, &b)| a == 0.0 && b == 0.0).count() as f64;
            let expected = count * probability * probability;
            assert!((pairs - expected).abs() < 10.0 * deviation, "{pairs} pairs, expected {expected}");
        }
    }
}

#[test]
fn two_dropouts_differ() {
    let dropout = DropoutConfig::new(0.5).init();
    let x = Trained::ones([SIDE, SIDE], &Default::default());
    let [first, second] = [(); 2].map(|()| numbers(dropout.forward(x.clone()).into_data()));
    assert_ne!(first, second);
}

/// Mean and deviation are within 5 of their own standard deviations; the gradient passes.
#[test]
fn gaussian_noise_in_training() {
    let std = 0.3;
    let x = Trained::ones([SIDE, SIDE], &Default::default()).require_grad();
    let noisy = GaussianNoiseConfig::new(std).init().forward(x.clone());
    let gradient = numbers(x.grad(&noisy.clone().sum().backward()).expect("a gradient").into_data());
    assert!(gradient.iter().all(|&x| x == 1.0));
    let (noisy, count) = (numbers(noisy.into_data()), (SIDE * SIDE) as f64);
    let mean = noisy.iter().sum::<f64>() / count;
    let deviation = (noisy.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
    assert!((mean - 1.0).abs() < 5.0 * std / count.sqrt(), "{mean}");
    assert!((deviation - std).abs() < 5.0 * std / (2.0 * count).sqrt(), "{deviation}");
}

#[test]
fn evaluation_leaves_the_input_alone() {
    let x = || Tensor::<MpsGraph, 2>::from_data([[1.0, -2.0], [0.0, 5.0]], &Default::default());
    let expected = x().into_data();
    assert_gives("dropout", &expected, || DropoutConfig::new(0.5).init().forward(x()).into_data(), Exact);
    assert_gives("noise", &expected, || GaussianNoiseConfig::new(0.5).init().forward(x()).into_data(), Exact);
}
