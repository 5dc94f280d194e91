//! Fourier transforms. Through MPSGraph's own, samples of odd lengths came back in reverse order, 64 samples were wrong
//! on macOS 14.4.1, and axes before the last four end the process.

use std::f64::consts::TAU;

use burn::tensor::ops::ModuleOps;
use burn::tensor::signal::{irfft, rfft};
use burn::tensor::{DType, Tensor, TensorPrimitive};
use test_support::Outcome;

use crate::agreement::{close_floats, unit, within};
use crate::table::{Trap, check};
use crate::values::{B, f32s, floats, noise};

pub const TRAPS: &[Trap] = &[
    check("64 samples there and back (wrong on macOS 14.4.1)", || there_and_back(&[64])),
    check("5, 7 and 15 samples there and back (came out reversed)", || there_and_back(&[5, 7, 15])),
    check("lengths that are products: 12, 100, 1000, 2048", || there_and_back(&[12, 100, 1000, 2048])),
    check("primes: 17, 131, 1009", || there_and_back(&[17, 131, 1009])),
    check("each axis of six (the first two end the process)", axes_of_six),
    check("a transposed operand", transposed),
    check("imaginary parts without a meaning are ignored", ends),
    check("f16 and bf16 of 512 samples", narrow),
];

/// Real and imaginary parts of the spectrum, by the definition.
fn spectrum(x: &[f64]) -> [Vec<f64>; 2] {
    let n = x.len();
    let part = |f: fn(f64) -> f64| {
        let bin =
            |k: usize| -> f64 { x.iter().enumerate().map(|(j, x)| x * f(-TAU * (j * k % n) as f64 / n as f64)).sum() };
        (0..n / 2 + 1).map(bin).collect()
    };
    [part(f64::cos), part(f64::sin)]
}

fn there_and_back(lengths: &[usize]) -> Outcome {
    Outcome::of(lengths.iter().flat_map(|&n| {
        let x = noise(2 * n, n as u64);
        // Burn's functions for tensors take powers of two only.
        let signal = f32s(&x, [2, n]).into_primitive().tensor();
        let (re, im) = B::rfft(signal, 1, None);
        let back = B::irfft(re.clone(), im.clone(), 1, Some(n));
        let read = |tensor| Tensor::<B, 2>::from_primitive(TensorPrimitive::Float(tensor)).into_data();
        let expected: Vec<[Vec<f64>; 2]> = x.chunks(n).map(spectrum).collect();
        let [reals, imaginaries] =
            [0, 1].map(|part| expected.iter().flat_map(|row| row[part].clone()).collect::<Vec<f64>>());
        let tolerance = within(2e-7 * n as f64, 1e-5);
        let bins = n / 2 + 1;
        [
            close_floats(&read(re), &[2, bins], &reals, tolerance),
            close_floats(&read(im), &[2, bins], &imaginaries, tolerance),
            close_floats(&read(back), &[2, n], &x, within(2e-6, 1e-5)),
        ]
    }))
}

/// The spectra of the rows along an axis of `shape`, as the real parts and then the imaginary ones.
fn along(x: &[f64], shape: &[usize], axis: usize) -> (Vec<usize>, [Vec<f64>; 2]) {
    let (n, inner): (usize, usize) = (shape[axis], shape[axis + 1..].iter().product());
    let (bins, outer) = (n / 2 + 1, x.len() / n / inner);
    let mut parts = [vec![0.0; outer * bins * inner], vec![0.0; outer * bins * inner]];
    for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
        let row: Vec<f64> = (0..n).map(|j| x[(o * n + j) * inner + i]).collect();
        let found = spectrum(&row);
        for (part, found) in parts.iter_mut().zip(found) {
            found.iter().enumerate().for_each(|(k, &value)| part[(o * bins + k) * inner + i] = value);
        }
    }
    let mut shape = shape.to_vec();
    shape[axis] = bins;
    (shape, parts)
}

fn axes_of_six() -> Outcome {
    let shape = [4, 2, 8, 2, 2, 4];
    let x = noise(shape.iter().product(), 1);
    Outcome::of((0..6).flat_map(|axis| {
        let (bins, [reals, imaginaries]) = along(&x, &shape, axis);
        let (re, im) = rfft(f32s(&x, shape), axis, None);
        [
            close_floats(&re.into_data(), &bins, &reals, within(2e-6, 1e-5)),
            close_floats(&im.into_data(), &bins, &imaginaries, within(2e-6, 1e-5)),
        ]
    }))
}

fn transposed() -> Outcome {
    let x = noise(16 * 6, 2);
    let turned: Vec<f64> = (0..96).map(|i| x[i % 16 * 6 + i / 16]).collect();
    let (bins, [reals, imaginaries]) = along(&turned, &[6, 16], 1);
    let (re, im) = rfft((f32s(&x, [16, 6]) * 1.0).transpose(), 1, None);
    Outcome::of([
        close_floats(&re.into_data(), &bins, &reals, within(4e-6, 1e-5)),
        close_floats(&im.into_data(), &bins, &imaginaries, within(4e-6, 1e-5)),
    ])
}

fn ends() -> Outcome {
    let got = irfft(f32s(&[10.0, -2.0, -2.0], [3]), f32s(&[7.0, 2.0, -5.0], [3]), 0, None);
    close_floats(&got.into_data(), &[4], &[1.0, 2.0, 3.0, 4.0], within(1e-6, 1e-6))
}

fn narrow() -> Outcome {
    let x = noise(512, 3);
    let [reals, imaginaries] = spectrum(&x);
    Outcome::of([DType::F16, DType::BF16].into_iter().flat_map(|dtype| {
        let (re, im) = rfft(floats(&x, [512], dtype), 0, None);
        let tolerance = within(1e-4, unit(dtype));
        [
            close_floats(&re.into_data(), &[257], &reals, tolerance),
            close_floats(&im.into_data(), &[257], &imaginaries, tolerance),
        ]
    }))
}
