//! Reading an image at points of a grid. MPSGraph's own sampling rounds halves to even, and PyTorch does not trust its
//! border padding.

use burn::tensor::DType;
use burn::tensor::ops::{GridSampleOptions, GridSamplePaddingMode, InterpolateMode};
use test_support::Outcome;

use crate::agreement::{EXACT, F32, close_floats, rounded_to};
use crate::table::{Trap, check};
use crate::values::{f32s, floats, noise};

use GridSamplePaddingMode::{Border, Reflection, Zeros};
use InterpolateMode::{Bilinear, Nearest};

pub const TRAPS: &[Trap] = &[
    check("bilinear, zeros outside, both conventions", || sampled(Bilinear, Zeros)),
    check("bilinear, border outside, both conventions", || sampled(Bilinear, Border)),
    check("bilinear, mirrored outside, both conventions", || sampled(Bilinear, Reflection)),
    check("nearest, zeros outside, both conventions", || sampled(Nearest, Zeros)),
    check("nearest, border outside, both conventions", || sampled(Nearest, Border)),
    check("nearest, mirrored outside, both conventions", || sampled(Nearest, Reflection)),
    check("nearest half way: away from 0 (MPSGraph: to even)", half_way),
    check("zeros outside next to infinities", infinities),
    check("bilinear of f16 and bf16", narrow),
];

const SIZE: [usize; 2] = [4, 6];

/// An image's element, or what is outside.
fn at(image: &[f64], outside: GridSamplePaddingMode, [row, column]: [f64; 2]) -> f64 {
    let inside = (0.0..SIZE[0] as f64).contains(&row) && (0.0..SIZE[1] as f64).contains(&column);
    match outside {
        Zeros if !inside => 0.0,
        Zeros | Border | Reflection => {
            let near = |x: f64, extent: usize| x.clamp(0.0, extent as f64 - 1.0) as usize;
            image[near(row, SIZE[0]) * SIZE[1] + near(column, SIZE[1])]
        }
    }
}

/// A point's place along an axis.
fn place(point: f64, extent: usize, corners: bool, outside: GridSamplePaddingMode) -> f64 {
    let last = extent as f64 - 1.0;
    let place = if corners { (point + 1.0) / 2.0 * last } else { ((point + 1.0) * extent as f64 - 1.0) / 2.0 };
    match outside {
        Zeros => place,
        Border => place.clamp(0.0, last),
        Reflection => {
            let (low, high) = if corners { (0.0, last) } else { (-0.5, last + 0.5) };
            let mut place = place;
            while place < low || place > high {
                place = if place < low { 2.0 * low - place } else { 2.0 * high - place };
            }
            place.clamp(0.0, last)
        }
    }
}

fn sample(
    image: &[f64],
    [x, y]: [f64; 2],
    mode: &InterpolateMode,
    outside: GridSamplePaddingMode,
    corners: bool,
) -> f64 {
    let (row, column) = (place(y, SIZE[0], corners, outside), place(x, SIZE[1], corners, outside));
    match mode {
        Nearest => at(image, outside, [row.round(), column.round()]),
        Bilinear => {
            let [top, left] = [row.floor(), column.floor()];
            let weight = |place: f64, low: f64, i: f64| 1.0 - (place - low - i).abs();
            [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]
                .map(|(i, j)| at(image, outside, [top + i, left + j]) * weight(row, top, i) * weight(column, left, j))
                .iter()
                .sum()
        }
        InterpolateMode::Bicubic | InterpolateMode::Lanczos3 => unreachable!("Burn refuses it"),
    }
}

/// Points inside and up to two images away.
fn points(count: usize) -> Vec<f64> {
    noise(2 * count, 2).iter().map(|x| x * 2.5 + 1.0 / 512.0).collect()
}

fn sampled(mode: InterpolateMode, outside: GridSamplePaddingMode) -> Outcome {
    let (image, points) = (noise(24, 1), points(30));
    Outcome::of([true, false].map(|corners| {
        let options = GridSampleOptions::new(mode.clone()).with_padding_mode(outside).with_align_corners(corners);
        let expected: Vec<f64> =
            points.as_chunks().0.iter().map(|&point| sample(&image, point, &mode, outside, corners)).collect();
        let got = f32s(&image, [1, 1, 4, 6]).grid_sample_2d(f32s(&points, [1, 5, 6, 2]), options);
        close_floats(&got.into_data(), &[1, 1, 5, 6], &expected, F32)
    }))
}

/// Points between the columns of an image, where halves are exact.
fn half_way() -> Outcome {
    let image: Vec<f64> = (0..8).map(f64::from).collect();
    let grid: Vec<f64> = (0..7).flat_map(|i| [f64::from(i + 1) / 4.0 - 1.0, 0.0]).collect();
    let options = GridSampleOptions::new(Nearest).with_align_corners(false);
    let got = f32s(&image, [1, 1, 1, 8]).grid_sample_2d(f32s(&grid, [1, 1, 7, 2]), options);
    close_floats(&got.into_data(), &[1, 1, 1, 7], &image[1..], EXACT)
}

fn infinities() -> Outcome {
    let inf = f64::INFINITY;
    let image = [inf, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, f64::NAN];
    let grid = [-3.0, -3.0, 1.5, 3.0];
    Outcome::of([Nearest, Bilinear].map(|mode| {
        let got = f32s(&image, [1, 1, 3, 3]).grid_sample_2d(f32s(&grid, [1, 1, 2, 2]), GridSampleOptions::new(mode));
        close_floats(&got.into_data(), &[1, 1, 1, 2], &[0.0, 0.0], EXACT)
    }))
}

fn narrow() -> Outcome {
    let image = noise(24, 3);
    Outcome::of([DType::F16, DType::BF16].map(|dtype| {
        let grid = floats(&noise(60, 4), [1, 5, 6, 2], dtype);
        let points: Vec<f64> = grid.to_data().iter::<f64>().collect();
        let expected: Vec<f64> =
            points.as_chunks().0.iter().map(|&point| sample(&image, point, &Bilinear, Zeros, false)).collect();
        let got = floats(&image, [1, 1, 4, 6], dtype).grid_sample_2d(grid, GridSampleOptions::new(Bilinear));
        close_floats(&got.into_data(), &[1, 1, 5, 6], &expected, rounded_to(dtype))
    }))
}
