//! Burn's signal crate, which calls functions of Flex that no trait of Burn has, finds them behind the patch.

use burn::signal::{irfft, rfft};
use burn::tensor::{Device, Tensor, Tolerance};

#[test]
fn transforms_of_a_cosine() {
    let signal = Tensor::<2>::from_floats([[1.0, 0.0, -1.0, 0.0], [2.0, 2.0, 2.0, 2.0]], &Device::flex());
    let (real, imaginary) = rfft(signal.clone(), 1, None);
    let tolerance = Tolerance::<f32>::absolute(1e-6);
    real.to_data().assert_approx_eq(&[[0.0f32, 2.0, 0.0], [8.0, 0.0, 0.0]].into(), tolerance);
    imaginary.to_data().assert_approx_eq(&[[0.0f32; 3]; 2].into(), tolerance);
    irfft(real, imaginary, 1, None).to_data().assert_approx_eq(&signal.to_data(), tolerance);
}
