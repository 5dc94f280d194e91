//! Transforms of real signals and back. Burn's public functions and burn-flex take powers of two; other lengths are
//! held against sums in f64. Autodiff has no gradients of them.

use burn::tensor::backend::Backend;
use burn::tensor::signal::{irfft, rfft};
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Tolerance::RelativeOf;
use test_support::{FLOATS, Layout, Tolerance, floats};

/// burn-flex computes in f32, as we do; a result of 16 bits may be rounded from either side.
const CLOSE: Tolerance = RelativeOf([2e-5, 1e-3, 8e-3]);

cases! {
    sums(FLOATS, [Layout::Contiguous], CLOSE) {
        powers_of_two = |_layout, dtype| spectra::<B>(&[1, 2, 4, 8, 64, 128, 256, 512, 1024], dtype);
        and_back = |_layout, dtype| signals::<B>(&[2, 4, 8, 64, 128, 256, 512, 1024], dtype);
        every_axis_of_four = |_layout, dtype| axes::<B>(dtype);
        given_bins = |_layout, dtype| bins::<B>(dtype);
    }

    sums(FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast], CLOSE) {
        cut_and_filled = |layout, dtype| sizes::<B>(layout, dtype);
    }

    by_hand() {
        rfft = |x = [1.0, 2.0, 3.0, 4.0]| both(rfft(x, 0, None)) => [10.0, -2.0, -2.0, 0.0, 2.0, 0.0];
        irfft = |x = [10.0, -2.0, -2.0], y = [0.0, 2.0, 0.0]| irfft(x, y, 0, None) => [1.0, 2.0, 3.0, 4.0];
        no_phase_at_the_ends = |x = [10.0, -2.0, -2.0], y = [7.0, 2.0, -5.0]| irfft(x, y, 0, None)
            => [1.0, 2.0, 3.0, 4.0];
    }
}

fn both<B: Backend, const D: usize>((re, im): (Tensor<B, D>, Tensor<B, D>)) -> Tensor<B, D> {
    Tensor::cat(vec![re, im], 0)
}

fn numbers<B: Backend, const D: usize>(shape: [usize; D], salt: usize, dtype: DType) -> Tensor<B, D> {
    let number = |i: usize| ((i * i * 37 + i * 11 + salt) % 67) as f32 / 32.0 - 1.0;
    let numbers: Vec<f32> = (0..shape.iter().product()).map(number).collect();
    Tensor::from_data(TensorData::new(numbers, shape).convert_dtype(dtype), (&B::Device::default(), dtype))
}

fn spectra<B: Backend>(lengths: &[usize], dtype: DType) -> Vec<Tensor<B, 2>> {
    lengths.iter().map(|&n| both(rfft(numbers::<B, 2>([3, n], n, dtype), 1, None))).collect()
}

/// burn-flex lets the imaginary parts of the first and the last bin of an even length change the result; there are
/// none.
fn signals<B: Backend>(lengths: &[usize], dtype: DType) -> Vec<Tensor<B, 2>> {
    let signal = |&n: &usize| {
        let bins = n / 2 + 1;
        let inner = numbers::<B, 2>([3, bins], 1, dtype).slice([0..3, 1..bins - 1]);
        let none = || Tensor::zeros([3, 1], (&B::Device::default(), dtype));
        let im = if bins > 2 { vec![none(), inner, none()] } else { vec![none(), none()] };
        irfft(numbers::<B, 2>([3, bins], 2, dtype), Tensor::cat(im, 1), 1, None)
    };
    lengths.iter().map(signal).collect()
}

fn axes<B: Backend>(dtype: DType) -> Vec<Tensor<B, 4>> {
    let x = numbers::<B, 4>([2, 8, 4, 16], 3, dtype);
    (0..4).map(|dim| both(rfft(x.clone(), dim, None))).collect()
}

/// Fewer bins than the signal needs, and more.
fn bins<B: Backend>(dtype: DType) -> Vec<Tensor<B, 3>> {
    let re = numbers::<B, 3>([2, 6, 2], 4, dtype);
    [1, 2, 8, 16, 64].map(|n| irfft(re.clone(), re.zeros_like(), 1, Some(n))).into()
}

fn sizes<B: Backend>(layout: Layout, dtype: DType) -> Vec<Tensor<B, 3>> {
    let x = floats::<B>(layout, dtype, 0);
    let sizes = [(0, 2), (0, 4), (1, 1), (1, 4), (1, 8), (2, 2), (2, 256), (2, 512)];
    sizes.map(|(dim, n)| both(rfft(x.clone(), dim, Some(n)))).into()
}

#[cfg(test)]
mod any_length {
    use std::f64::consts::TAU;

    use burn::tensor::TensorPrimitive;
    use burn::tensor::ops::{FloatTensorOps, ModuleOps};
    use burn_mpsgraph::{MpsGraph, MpsGraphDevice, MpsGraphTensor, eagerly};
    use test_support::{assert_refused, distinct};

    use super::*;

    type B = MpsGraph;

    const LENGTHS: [usize; 18] = [1, 2, 3, 5, 8, 12, 17, 64, 97, 100, 131, 1000, 1024, 1009, 2018, 4100, 9797, 131_072];

    fn float<const D: usize>(tensor: Tensor<B, D>) -> MpsGraphTensor {
        tensor.into_primitive().tensor()
    }

    fn read(tensor: MpsGraphTensor) -> Vec<f64> {
        Tensor::<B, 2>::from_primitive(TensorPrimitive::Float(tensor)).into_data().iter::<f64>().collect()
    }

    /// At most 50 of `count` places, the last among them.
    fn some(count: usize) -> impl Iterator<Item = usize> {
        (0..count).rev().step_by(count.div_ceil(50))
    }

    /// `scale` is what the sums are on average, as the square root of their mean square.
    #[track_caller]
    fn assert_near(what: &str, found: f64, expected: f64, scale: f64) {
        assert!((found - expected).abs() <= 2e-6 * scale, "{what}: {found}, not {expected} ({scale})");
    }

    /// The bins of `rows` are sums over the first `n` samples; samples that a row does not have are 0.
    fn check_forward(samples: usize, n: Option<usize>) {
        let x = numbers::<B, 2>([2, samples], 5, DType::F32);
        let rows: Vec<f64> = x.clone().into_data().iter::<f64>().collect();
        let size = n.unwrap_or(samples);
        let (re, im) = B::rfft(float(x), 1, n);
        let (re, im) = (read(re), read(im));
        let bins = size / 2 + 1;
        assert_eq!([re.len(), im.len()], [2 * bins; 2]);
        for row in 0..2 {
            let row_of = &rows[row * samples..(row + 1) * samples][..samples.min(size)];
            let scale = (row_of.iter().map(|x| x * x).sum::<f64>()).sqrt().max(1.0);
            for bin in some(bins) {
                let angle = |at: usize| TAU * (at * bin % size) as f64 / size as f64;
                let sum = |part: fn(f64) -> f64| row_of.iter().enumerate().map(|(at, x)| x * part(angle(at))).sum();
                let what = format!("bin {bin} of {samples} samples as {n:?}");
                assert_near(&what, re[row * bins + bin], sum(f64::cos), scale);
                assert_near(&what, -im[row * bins + bin], sum(f64::sin), scale);
            }
        }
    }

    /// Back from `bins` bins, of which missing ones are 0.
    fn check_back(bins: usize, n: usize) {
        let [re, im] = [6, 7].map(|salt| numbers::<B, 2>([2, bins], salt, DType::F32));
        let [x, y]: [Vec<f64>; 2] = [&re, &im].map(|part| part.clone().into_data().iter::<f64>().collect());
        let found = read(B::irfft(float(re), float(im), 1, Some(n)));
        assert_eq!(found.len(), 2 * n);
        for row in 0..2 {
            for sample in some(n) {
                let sum: f64 = (0..bins.min(n / 2 + 1))
                    .map(|bin| {
                        let (sin, cos) = (TAU * (sample * bin % n) as f64 / n as f64).sin_cos();
                        let weight = if bin == 0 || 2 * bin == n { 1.0 } else { 2.0 };
                        weight * (x[row * bins + bin] * cos - y[row * bins + bin] * sin)
                    })
                    .sum();
                assert_near(&format!("sample {sample} of {n}"), found[row * n + sample], sum / n as f64, 1.0);
            }
        }
    }

    #[test]
    fn spectra_of_every_length_are_those_of_the_definition() {
        LENGTHS.into_iter().for_each(|n| check_forward(n, None));
        eagerly(|| [12, 131, 1000, 1009].into_iter().for_each(|n| check_forward(n, None)));
    }

    #[test]
    fn forward_cut_or_filled() {
        for (samples, n) in [(12, 5), (5, 12), (100, 1000), (1000, 100), (3, 1009), (1200, 1009), (1, 4100), (7, 1)] {
            check_forward(samples, Some(n));
        }
    }

    #[test]
    fn signals_of_every_length_come_back_from_their_bins() {
        LENGTHS.into_iter().for_each(|n| check_back(n / 2 + 1, n));
        eagerly(|| [12, 131, 1000, 1009].into_iter().for_each(|n| check_back(n / 2 + 1, n)));
    }

    #[test]
    fn back_from_other_bins() {
        for (bins, n) in [(3, 12), (12, 3), (20, 1000), (501, 100), (7, 1009), (600, 1009), (2, 1)] {
            check_back(bins, n);
        }
    }

    #[test]
    fn forward_and_back_is_the_signal() {
        for n in LENGTHS {
            for dim in 0..3 {
                let mut shape = [2, 3, 2];
                shape[dim] = n;
                let x = numbers::<B, 3>(shape, 8, DType::F32);
                let (re, im) = B::rfft(float(x.clone()), dim, None);
                let back = Tensor::<B, 3>::from_primitive(TensorPrimitive::Float(B::irfft(re, im, dim, Some(n))));
                let error = (back - x).abs().max().into_scalar();
                assert!(error <= 2e-6, "{n} along {dim}: {error}");
            }
        }
    }

    /// Numbers behind the axis stay there if there are enough of them.
    #[test]
    fn along_another_axis_as_along_the_last() {
        let compare = |n: usize| {
            let x = numbers::<B, 3>([2, n, 17], 10, DType::F32);
            let turned =
                |tensor: MpsGraphTensor| Tensor::<B, 3>::from_primitive(TensorPrimitive::Float(tensor)).swap_dims(1, 2);
            let (re, im) = B::rfft(float(x.clone()), 1, None);
            let (last_re, last_im) = B::rfft(float(x.clone().swap_dims(1, 2)), 2, None);
            let back = B::irfft(re.clone(), im.clone(), 1, Some(n + 1));
            let last_back = B::irfft(last_re.clone(), last_im.clone(), 2, Some(n + 1));
            let pairs = [(re, last_re), (im, last_im), (back, last_back)];
            for (part, (found, expected)) in pairs.into_iter().enumerate() {
                let expected = Tensor::<B, 3>::from_primitive(TensorPrimitive::Float(expected));
                let error = (turned(found) - expected).abs().max().into_scalar();
                assert!(error <= 2e-6 * (n as f32).sqrt().max(10.0), "{n}, part {part}: {error}");
            }
        };
        [1, 5, 256, 300, 1000, 1009, 2018].into_iter().for_each(compare);
        eagerly(|| [300, 1009].into_iter().for_each(compare));
    }

    /// 16-bit floats are rounded once.
    #[test]
    fn half_precision_is_that_of_f32_rounded() {
        for dtype in [DType::F16, DType::BF16] {
            for n in [100, 1000] {
                let of = |computed: DType| {
                    let x = numbers::<B, 2>([2, n], 9, dtype).cast(computed);
                    let (re, _) = B::rfft(float(x), 1, None);
                    Tensor::<B, 2>::from_primitive(TensorPrimitive::Float(re)).into_data().convert_dtype(dtype)
                };
                // Not recorded against eager: sums of tables that are constants of a program have another order.
                let compare = || of(DType::F32).assert_eq(&of(dtype), true);
                compare();
                eagerly(compare);
            }
        }
    }

    #[test]
    fn nothing_to_transform() {
        let none = Tensor::<B, 3>::zeros([2, 0, 3], &MpsGraphDevice);
        let (re, im) = rfft(none.clone(), 1, Some(4));
        re.into_data().assert_eq(&TensorData::zeros::<f32, _>([2, 3, 3]), true);
        im.into_data().assert_eq(&TensorData::zeros::<f32, _>([2, 3, 3]), true);
        let (re, _) = rfft(none.clone(), 0, None);
        assert_eq!(re.dims(), [2, 0, 3]);
        assert_eq!(irfft(none.clone(), none, 0, None).dims(), [2, 0, 3]);
    }

    #[test]
    fn mistakes_are_refused_by_the_name_of_the_op() {
        let float = |shape: &[usize]| B::float_from_data(distinct(shape.to_vec(), DType::F32), &MpsGraphDevice);
        let half = |shape: &[usize]| B::float_from_data(distinct(shape.to_vec(), DType::F16), &MpsGraphDevice);
        assert_refused(&["rfft", "dim 2", "[2, 3]"], || B::rfft(float(&[2, 3]), 2, None));
        assert_refused(&["rfft", "0 samples", "[2, 3]"], || B::rfft(float(&[2, 3]), 1, Some(0)));
        assert_refused(&["rfft", "0 samples", "[2, 0]"], || B::rfft(float(&[2, 0]), 1, None));
        assert_refused(&["irfft", "dim 2", "[2, 3]"], || B::irfft(float(&[2, 3]), float(&[2, 3]), 2, None));
        assert_refused(&["irfft", "[2, 3]", "[2, 4]"], || B::irfft(float(&[2, 3]), float(&[2, 4]), 1, None));
        assert_refused(&["irfft", "F32", "F16"], || B::irfft(float(&[2, 3]), half(&[2, 3]), 1, None));
        assert_refused(&["irfft", "0 samples", "1 bins"], || B::irfft(float(&[2, 1]), float(&[2, 1]), 1, None));
        assert_refused(&["irfft", "0 bins"], || B::irfft(float(&[2, 0]), float(&[2, 0]), 1, Some(4)));
    }
}
