//! Pooling. Apple does not document what its methods make of NaN, of equal elements and of windows in the padding.
//! Their averages are divided by a wrong number in ceil mode; their indices are wrong for operands that are not packed.

use burn::backend::Autodiff;
use burn::tensor::module::{
    adaptive_avg_pool2d, avg_pool1d, avg_pool2d, max_pool1d, max_pool1d_with_indices, max_pool2d,
    max_pool2d_with_indices,
};
use burn::tensor::{DType, Tensor, TensorData};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{EXACT, F32, close_floats, same_integers};
use crate::table::{Trap, check};
use crate::values::{B, FLOATS, f32s, floats, noise};

type A = Autodiff<B>;

pub const TRAPS: &[Trap] = &[
    check("averages in ceil mode, padding counted", || averages(true)),
    check("averages in ceil mode, padding not counted", || averages(false)),
    check("f16 and bf16 averages of 4096 elements", narrow_averages),
    check("averages of images of 2 by 2, eight times", small_averages),
    check("averages of 70000 padded images", many_images),
    check("gradient of averages, overlapping, padding counted", average_gradient),
    check("adaptive averages of parts that are not equal", adaptive),
    check("max of NaN and infinities", special),
    check("max and index of windows in the padding", padding_only),
    check("indices of equal elements: the first", equal_elements),
    check("indices in ceil mode, with dilation", dilated_indices),
    check("indices of a permuted operand", permuted_indices),
    check("gradient of max where windows overlap, equal elements", overlapping_gradient),
    check("gradient of max for 70000 elements", long_gradient),
];

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

/// The windows of an axis with a padding of 1, in ceil mode: beginning and end, from the beginning of the padding.
/// Elements beyond the padding are never counted.
fn spans(extent: usize, kernel: usize, stride: usize) -> Vec<[usize; 2]> {
    let padded = extent + 2;
    let count = (padded - kernel).div_ceil(stride) + 1;
    (0..count).map(|at| [at * stride, (at * stride + kernel).min(padded)]).collect()
}

fn averages(counted: bool) -> Outcome {
    let (planes, height, width) = (3, 6, 8);
    let x = noise(planes * height * width, 1);
    let (rows, columns) = (spans(height, 3, 2), spans(width, 2, 3));
    let mut expected = Vec::new();
    for plane in x.chunks(height * width) {
        for [top, bottom] in &rows {
            for [left, right] in &columns {
                let inside: Vec<f64> = (*top..*bottom)
                    .flat_map(|row| (*left..*right).map(move |column| [row, column]))
                    .filter(|[row, column]| (1..=height).contains(row) && (1..=width).contains(column))
                    .map(|[row, column]| plane[(row - 1) * width + column - 1])
                    .collect();
                let count = if counted { (bottom - top) * (right - left) } else { inside.len() };
                // The last window of a row is in the padding.
                expected.push(inside.iter().sum::<f64>() / count.max(1) as f64);
            }
        }
    }
    let got = avg_pool2d(f32s(&x, [1, planes, height, width]), [3, 2], [2, 3], [1, 1], counted, true);
    close_floats(&got.into_data(), &[1, planes, rows.len(), columns.len()], &expected, F32)
}

fn narrow_averages() -> Outcome {
    Outcome::of([DType::F16, DType::BF16].map(|dtype| {
        let got = avg_pool2d(floats(&[48.0; 8192], [1, 2, 64, 64], dtype), [64, 64], [1, 1], [0, 0], true, false);
        close_floats(&got.into_data(), &[1, 2, 1, 1], &[48.0; 2], EXACT)
    }))
}

fn small_averages() -> Outcome {
    let x = noise(64 * 4, 2);
    let expected: Vec<f64> = x.chunks(4).map(|plane| plane.iter().sum::<f64>() / 4.0).collect();
    Outcome::of((0..8).map(|_| {
        let got = avg_pool2d(f32s(&x, [4, 16, 2, 2]), [2, 2], [2, 2], [0, 0], true, false);
        close_floats(&got.into_data(), &[4, 16, 1, 1], &expected, F32)
    }))
}

/// More planes than 2^16, from which on padding has been reported wrong (pytorch/pytorch#139823, #152094).
fn many_images() -> Outcome {
    const IMAGES: usize = 70_000;
    let x = noise(IMAGES * 4, 6);
    let at = |image: &[f64], place: usize| {
        let [row, column] = [place / 3, place % 3];
        let near = |at: usize| at.saturating_sub(1)..=at.min(1);
        near(row).flat_map(|r| near(column).map(move |c| image[2 * r + c])).sum::<f64>() / 4.0
    };
    let expected: Vec<f64> = x.chunks(4).flat_map(|image| (0..9).map(move |place| at(image, place))).collect();
    let got = avg_pool2d(f32s(&x, [IMAGES, 1, 2, 2]), [2, 2], [1, 1], [1, 1], true, false);
    close_floats(&got.into_data(), &[IMAGES, 1, 3, 3], &expected, F32)
}

fn leaf<const D: usize>(values: &[f64], shape: [usize; D]) -> Tensor<A, D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), (&MpsGraphDevice, DType::F32)).require_grad()
}

/// The gradient of `f(x)` times `by`.
fn gradient<const D: usize>(
    x: &[f64],
    shape: [usize; D],
    by: &[f64],
    f: impl Fn(Tensor<A, D>) -> Tensor<A, D>,
    expected: &[f64],
) -> Outcome {
    let leaf = leaf(x, shape);
    let output = f(leaf.clone());
    let by = Tensor::from_data(TensorData::new(by.to_vec(), output.shape()), (&MpsGraphDevice, DType::F32));
    match leaf.grad(&(output * by).sum().backward()) {
        Some(gradient) => close_floats(&gradient.into_data(), &shape, expected, F32),
        None => Outcome::fact("a gradient", "none", false),
    }
}

fn average_gradient() -> Outcome {
    let (extent, kernel) = (9, 4);
    let (x, by) = (noise(2 * extent, 1), noise(2 * 4, 2));
    // Windows begin at -1, 1, 3 and 5.
    let mut expected = vec![0.0; 2 * extent];
    for (i, by) in by.iter().enumerate() {
        let first = 2 * (i % 4);
        for at in (first..first + kernel).filter(|at| (1..=extent).contains(at)) {
            expected[i / 4 * extent + at - 1] += by / kernel as f64;
        }
    }
    gradient(&x, [1, 2, extent], &by, |x| avg_pool1d(x, kernel, 2, 1, true, false), &expected)
}

fn adaptive() -> Outcome {
    let (from, to) = ([7, 10], [3, 4]);
    let x = noise(2 * 70, 3);
    let part = |i: usize, axis: usize| i * from[axis] / to[axis]..((i + 1) * from[axis]).div_ceil(to[axis]);
    let mut expected = Vec::new();
    for plane in x.chunks(70) {
        for (i, j) in (0..to[0]).flat_map(|i| (0..to[1]).map(move |j| (i, j))) {
            let sum: f64 = part(i, 0).map(|row| part(j, 1).map(|column| plane[row * 10 + column]).sum::<f64>()).sum();
            expected.push(sum / (part(i, 0).len() * part(j, 1).len()) as f64);
        }
    }
    let got = adaptive_avg_pool2d(f32s(&x, [1, 2, 7, 10]), to);
    close_floats(&got.into_data(), &[1, 2, 3, 4], &expected, F32)
}

fn special() -> Outcome {
    let x = [1.0, NAN, 2.0, 4.0, INF, -INF, -INF, -INF, 0.0];
    Outcome::of(FLOATS.into_iter().flat_map(|dtype| {
        let x = || floats(&x, [1, 1, 9], dtype);
        let (values, at) = max_pool1d_with_indices(x(), 3, 2, 0, 1, false);
        [
            close_floats(
                &max_pool1d(x(), 2, 1, 0, 1, false).into_data(),
                &[1, 1, 8],
                &[NAN, NAN, 4.0, INF, INF, -INF, -INF, 0.0],
                EXACT,
            ),
            close_floats(&values.into_data(), &[1, 1, 4], &[NAN, INF, INF, 0.0], EXACT),
            same_integers(&at.into_data(), &[1, 1, 4], &[1, 4, 4, 8]),
        ]
    }))
}

fn padding_only() -> Outcome {
    let (values, at) = max_pool1d_with_indices(f32s(&[1.0, 2.0], [1, 1, 2]), 1, 1, 2, 1, false);
    let lowest = max_pool2d_with_indices(f32s(&[-INF; 4], [1, 1, 2, 2]), [2, 2], [1, 1], [1, 1], [1, 1], false).1;
    Outcome::of([
        close_floats(&values.into_data(), &[1, 1, 6], &[-INF, -INF, 1.0, 2.0, -INF, -INF], EXACT),
        same_integers(&at.into_data(), &[1, 1, 6], &[-1, -1, 0, 1, -1, -1]),
        // Elements of minus infinity win against the padding beside them.
        same_integers(&lowest.into_data(), &[1, 1, 3, 3], &[0, 0, 1, 0, 0, 1, 2, 2, 3]),
    ])
}

/// The place of the first largest element of each window, by loops over rows and columns.
fn first_largest(plane: &[f64], [height, width]: [usize; 2], kernel: usize, step: usize, dilation: usize) -> Vec<i128> {
    let reach = dilation * (kernel - 1) + 1;
    let starts = |extent: usize| (0..(extent - reach) / step + 1).map(move |i| i * step);
    let mut places = Vec::new();
    for (top, left) in starts(height).flat_map(|top| starts(width).map(move |left| (top, left))) {
        let window = (0..kernel * kernel).map(|i| (top + i / kernel * dilation) * width + left + i % kernel * dilation);
        let best = window.reduce(|best, at| if plane[at] > plane[best] { at } else { best });
        places.extend(best.map(|at| at as i128));
    }
    places
}

fn equal_elements() -> Outcome {
    // Few different numbers.
    let x: Vec<f64> = noise(2 * 63, 4).iter().map(|x| (x * 2.0).round()).collect();
    let expected: Vec<i128> = x.chunks(63).flat_map(|plane| first_largest(plane, [9, 7], 3, 2, 1)).collect();
    let (_, at) = max_pool2d_with_indices(f32s(&x, [1, 2, 9, 7]), [3, 3], [2, 2], [0, 0], [1, 1], false);
    same_integers(&at.into_data(), &[1, 2, 4, 3], &expected)
}

fn dilated_indices() -> Outcome {
    let x = noise(2 * 121, 5);
    let expected: Vec<i128> = x.chunks(121).flat_map(|plane| first_largest(plane, [11, 11], 3, 2, 2)).collect();
    let (_, at) = max_pool2d_with_indices(f32s(&x, [2, 1, 11, 11]), [3, 3], [2, 2], [0, 0], [2, 2], true);
    same_integers(&at.into_data(), &[2, 1, 4, 4], &expected)
}

fn permuted_indices() -> Outcome {
    let x = noise(3 * 48, 6);
    let expected: Vec<i128> = x.chunks(48).flat_map(|plane| first_largest(plane, [8, 6], 2, 2, 1)).collect();
    let last = f32s(&x, [1, 3, 8, 6]).permute([0, 2, 3, 1]) * 1.0;
    let (_, at) = max_pool2d_with_indices(last.permute([0, 3, 1, 2]), [2, 2], [2, 2], [0, 0], [1, 1], false);
    same_integers(&at.into_data(), &[1, 3, 4, 3], &expected)
}

fn overlapping_gradient() -> Outcome {
    let x: Vec<f64> = noise(63, 7).iter().map(|x| (x * 2.0).round()).collect();
    let places = first_largest(&x, [9, 7], 3, 1, 1);
    let by = noise(places.len(), 8);
    let mut expected = vec![0.0; 63];
    places.iter().zip(&by).for_each(|(&at, by)| expected[at as usize] += by);
    gradient(&x, [1, 1, 9, 7], &by, |x| max_pool2d(x, [3, 3], [1, 1], [0, 0], [1, 1], false), &expected)
}

fn long_gradient() -> Outcome {
    let count = 70_000;
    let x = noise(count, 9);
    let by = noise(count / 2, 10);
    let mut expected = vec![0.0; count];
    for (i, by) in by.iter().enumerate() {
        expected[2 * i + usize::from(x[2 * i + 1] > x[2 * i])] = *by;
    }
    gradient(&x, [1, 1, count], &by, |x| max_pool1d(x, 2, 2, 0, 1, false), &expected)
}
