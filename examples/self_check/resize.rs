//! Resizing. MPSGraph has neither bicubic nor Lanczos; its nearest neighbours are others than Burn's, and its gradient
//! took the axes for others before macOS 14.

use burn::backend::Autodiff;
use burn::tensor::module::interpolate;
use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
use burn::tensor::{DType, Tensor, TensorData};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{EXACT, F32, close_floats, rounded_to};
use crate::table::{Trap, check};
use crate::values::{FLOATS, f32s, floats, noise};

pub const TRAPS: &[Trap] = &[
    check("nearest, up and down (MPSGraph rounds half way up)", nearest),
    check("nearest where f32 rounds the coordinate: 49 of 98 elements", nearest_beside),
    check("bilinear, corners aligned", || weighted(InterpolateMode::Bilinear, true)),
    check("bilinear, edges aligned", || weighted(InterpolateMode::Bilinear, false)),
    check("bicubic, corners aligned (MPSGraph has none)", || weighted(InterpolateMode::Bicubic, true)),
    check("bicubic, edges aligned", || weighted(InterpolateMode::Bicubic, false)),
    check("an infinity stays with its neighbours (products with weights spread NaN)", infinity),
    check("bilinear of f16 and bf16", narrow),
    check("gradient of nearest", || gradient(InterpolateMode::Nearest, true)),
    check("gradient of bilinear, both conventions", || {
        Outcome::of([true, false].map(|corners| gradient(InterpolateMode::Bilinear, corners)))
    }),
    check("gradient of bicubic, both conventions", || {
        Outcome::of([true, false].map(|corners| gradient(InterpolateMode::Bicubic, corners)))
    }),
];

const FROM: [usize; 2] = [5, 7];
const SIZES: [[usize; 2]; 3] = [[8, 11], [3, 4], [13, 2]];

/// What element `new` of `to` is made of, of `from`: places and weights.
fn taps(mode: &InterpolateMode, corners: bool, from: usize, to: usize, new: usize) -> Vec<(usize, f64)> {
    let near = |at: i64| at.clamp(0, from as i64 - 1) as usize;
    let place = match corners {
        true => new as f64 * (from - 1) as f64 / (to - 1).max(1) as f64,
        false => (new as f64 + 0.5) * from as f64 / to as f64 - 0.5,
    };
    match mode {
        InterpolateMode::Nearest => vec![(new * from / to, 1.0)],
        InterpolateMode::Bilinear => {
            let place = place.max(0.0);
            let part = place - place.floor();
            vec![(near(place as i64), 1.0 - part), (near(place as i64 + 1), part)]
        }
        InterpolateMode::Bicubic => {
            let (base, a) = (place.floor(), -0.75);
            let kernel = |x: f64| {
                let x = x.abs();
                if x <= 1.0 {
                    ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
                } else {
                    ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
                }
            };
            (-1..3).map(|i| (near(base as i64 + i), kernel(place - base - i as f64))).collect()
        }
        InterpolateMode::Lanczos3 => unreachable!("no trap is of it"),
    }
}

/// Calls `f` with the places in the old and in the new image of each product, and its weight.
fn products(mode: &InterpolateMode, corners: bool, to: [usize; 2], mut f: impl FnMut(usize, usize, f64)) {
    for (row, column) in (0..to[0]).flat_map(|row| (0..to[1]).map(move |column| (row, column))) {
        for (from_row, a) in taps(mode, corners, FROM[0], to[0], row) {
            for &(from_column, b) in &taps(mode, corners, FROM[1], to[1], column) {
                f(from_row * FROM[1] + from_column, row * to[1] + column, a * b);
            }
        }
    }
}

fn resized(mode: &InterpolateMode, corners: bool, image: &[f64], to: [usize; 2]) -> Vec<f64> {
    let mut result = vec![0.0; to[0] * to[1]];
    products(mode, corners, to, |old, new, weight| result[new] += image[old] * weight);
    result
}

fn options(mode: &InterpolateMode, corners: bool) -> InterpolateOptions {
    InterpolateOptions::new(mode.clone()).with_align_corners(corners)
}

fn shape(size: [usize; 2]) -> [usize; 4] {
    [1, 1, size[0], size[1]]
}

fn nearest() -> Outcome {
    let x = noise(35, 1);
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let x = &x;
        SIZES.map(move |to| {
            let mode = InterpolateMode::Nearest;
            let got = interpolate(floats(x, shape(FROM), dtype), to, options(&mode, true));
            close_floats(&got.into_data(), &shape(to), &resized(&mode, true, x, to), EXACT)
        })
    }))
}

fn nearest_beside() -> Outcome {
    Outcome::of([(98, 49), (49, 98), (3, 41)].map(|(from, to)| {
        let x = noise(from, 2);
        let expected: Vec<f64> = (0..to).map(|new| x[new * from / to]).collect();
        let got = interpolate(f32s(&x, [1, 1, 1, from]), [1, to], options(&InterpolateMode::Nearest, true));
        close_floats(&got.into_data(), &[1, 1, 1, to], &expected, EXACT)
    }))
}

fn weighted(mode: InterpolateMode, corners: bool) -> Outcome {
    let x = noise(35, 3);
    Outcome::of(SIZES.map(|to| {
        let got = interpolate(f32s(&x, shape(FROM)), to, options(&mode, corners));
        close_floats(&got.into_data(), &shape(to), &resized(&mode, corners, &x, to), F32)
    }))
}

/// Only the pixels that lie between it and its neighbours have a part in it.
fn infinity() -> Outcome {
    let mut x = noise(8, 7);
    let resized = |x: &[f64]| interpolate(f32s(x, [1, 1, 1, 8]), [1, 16], options(&InterpolateMode::Bilinear, false));
    let mut expected: Vec<f64> = resized(&x).into_data().iter().collect();
    x[4] = f64::INFINITY;
    expected[7..11].fill(f64::INFINITY);
    close_floats(&resized(&x).into_data(), &[1, 1, 1, 16], &expected, EXACT)
}

fn narrow() -> Outcome {
    let (x, mode) = (noise(35, 4), InterpolateMode::Bilinear);
    Outcome::of([DType::F16, DType::BF16].into_iter().flat_map(|dtype| {
        SIZES.map(|to| {
            let got = interpolate(floats(&x, shape(FROM), dtype), to, options(&mode, false));
            close_floats(&got.into_data(), &shape(to), &resized(&mode, false, &x, to), rounded_to(dtype))
        })
    }))
}

fn gradient(mode: InterpolateMode, corners: bool) -> Outcome {
    type A = Autodiff<burn_mpsgraph::MpsGraph>;
    let of = |x: &[f64], size| -> Tensor<A, 4> {
        Tensor::from_data(TensorData::new(x.to_vec(), shape(size)), (&MpsGraphDevice, DType::F32))
    };
    Outcome::of(SIZES.map(|to| {
        let by = noise(to[0] * to[1], 5);
        let mut expected = vec![0.0; 35];
        products(&mode, corners, to, |old, new, weight| expected[old] += by[new] * weight);
        let x = of(&noise(35, 6), FROM).require_grad();
        let loss = (interpolate(x.clone(), to, options(&mode, corners)) * of(&by, to)).sum();
        match x.grad(&loss.backward()) {
            Some(gradient) => close_floats(&gradient.into_data(), &shape(FROM), &expected, F32),
            None => Outcome::fact("a gradient", "none", false),
        }
    }))
}
