//! The CTC loss and its gradient, for targets and inputs of different lengths. burn-flex computes 16-bit floats in 16
//! bits, step by step, so the tolerances are wide.

use burn::nn::loss::{CTCLossConfig, Reduction};
use burn::tensor::activation::log_softmax;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::ctc_loss;
use burn::tensor::{DType, Int, Tensor, TensorData};
use test_support::Tolerance::{Relative, RelativeOf};
use test_support::{FLOATS, Layout};

use crate::compare::{differentiate, gradient};

cases! {
    given_autodiff(FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Sliced], RelativeOf([1e-5, 5e-2, 4e-1])) {
        ctc_loss_and_its_gradient = |layout, dtype| differentiated::<B>(layout, dtype, 0, DType::I32);
        blank_in_the_middle = |layout, dtype| differentiated::<B>(layout, dtype, 2, DType::I64);
    }

    given_autodiff([DType::F32], [Layout::Contiguous], Relative(1e-5)) {
        module_and_its_gradient = |layout, dtype| module::<B>(layout, dtype);
        no_labels = |_layout, dtype| of_shape::<B>([4, 2, 3], 0, dtype);
        one_frame = |_layout, dtype| of_shape::<B>([1, 2, 3], 1, dtype);
        one_class = |_layout, dtype| of_shape::<B>([3, 2, 1], 0, dtype);
    }

    // The logarithms reach -400, where f32's numbers are 3e-5 apart.
    given_autodiff([DType::F32], [Layout::Contiguous], Relative(1e-4)) {
        many_frames = |_layout, dtype| of_shape::<B>([90, 2, 7], 11, dtype);
    }

    given([DType::F32], [Layout::Contiguous], Relative(1e-5)) {
        targets_without_a_path = |layout, dtype| hopeless::<B>(layout, dtype);
        impossible_classes = |layout, dtype| impossible::<B>(layout, dtype);
    }

    // Six of the paths of three frames say the label once; each weighs exp(-3).
    by_hand() {
        ctc_loss = |x = [[[-1.0, -1.0]], [[-1.0, -1.0]], [[-1.0, -1.0]]], y = [[1]], frames = [3], labels = [1]|
            ctc_loss(x, y, frames, labels, 0) => [1.208241];
    }

    // Of the three paths of two frames two are at the label in each frame.
    gradients_by_hand() {
        ctc_loss_backward = |x = [[[-1.0, -1.0]], [[-1.0, -1.0]]], y = [[1]], frames = [2], labels = [1]|
            ctc_loss(x, y, frames, labels, 0) => [[[-0.333333, -0.666667]], [[-0.333333, -0.666667]]];
    }
}

const FRAMES: usize = 12;
const SAMPLES: usize = 4;
const CLASSES: usize = 5;

fn numbers<B: Backend>(shape: [usize; 3], dtype: DType) -> Tensor<B, 3> {
    let number = |i: usize| ((i * 37 + 5) % 67) as f32 / 16.0 - 2.0;
    let numbers: Vec<f32> = (0..shape.iter().product()).map(number).collect();
    Tensor::from_data(TensorData::new(numbers, shape).convert_dtype(dtype), (&B::Device::default(), dtype))
}

fn logits<B: Backend>(layout: Layout, dtype: DType) -> Tensor<B, 3> {
    match layout {
        Layout::Transposed => numbers([SAMPLES, FRAMES, CLASSES], dtype).swap_dims(0, 1),
        Layout::Sliced => numbers([FRAMES + 1, SAMPLES, CLASSES + 2], dtype).slice([1..FRAMES + 1, 0..SAMPLES, 1..6]),
        _ => numbers([FRAMES, SAMPLES, CLASSES], dtype),
    }
}

fn integers<B: Backend, const D: usize>(data: impl Into<TensorData>, dtype: DType) -> Tensor<B, D, Int> {
    Tensor::from_data(data.into().convert_dtype(dtype), (&B::Device::default(), dtype))
}

/// How many frames and labels count: all, some and none.
fn lengths<B: Backend>(dtype: DType) -> [Tensor<B, 1, Int>; 2] {
    [integers([12, 7, 9, 1], dtype), integers([4, 3, 1, 0], dtype)]
}

/// Some labels repeat; beyond its length a target has arbitrary classes.
fn labels<B: Backend>(blank: usize, dtype: DType) -> Tensor<B, 2, Int> {
    let label = |class: i64| if class == blank as i64 { 0 } else { class };
    let rows = [[1, 3, 3, 4], [4, 4, 1, 1], [3, 1, 2, 4], [1, 2, 3, 4]];
    integers(rows.map(|row| row.map(label)), dtype)
}

/// The loss, and the gradient for the input of a `log_softmax`.
fn differentiated<B: AutodiffBackend>(layout: Layout, dtype: DType, blank: usize, index: DType) -> Vec<TensorData> {
    let leaf = logits::<B>(layout, dtype).require_grad();
    let [frames, lengths] = lengths(index);
    let output = ctc_loss(log_softmax(leaf.clone(), 2), labels(blank, index), frames, lengths, blank);
    differentiate(output, |gradients| vec![gradient(&leaf, gradients)])
}

/// As in burn-nn, infinite losses are 0, and so are their gradients.
fn module<B: AutodiffBackend>(layout: Layout, dtype: DType) -> Vec<TensorData> {
    let loss = CTCLossConfig::new().with_zero_infinity(true).init();
    let of = |reduction: Reduction| {
        let leaf = logits::<B>(layout, dtype).require_grad();
        let [frames, lengths] = [integers([12, 4, 9, 3], DType::I32), integers([4, 3, 1, 3], DType::I32)];
        let labels = labels(0, DType::I32);
        let output = loss.forward_with_reduction(log_softmax(leaf.clone(), 2), labels, frames, lengths, reduction);
        differentiate(output, |gradients| vec![gradient(&leaf, gradients)])
    };
    [of(Reduction::Mean), of(Reduction::Sum)].concat()
}

/// The gradient is the one for the log-probabilities, which need not be normalised.
fn of_shape<B: AutodiffBackend>(shape: [usize; 3], length: usize, dtype: DType) -> Vec<TensorData> {
    let leaf = numbers::<B>(shape, dtype).sub_scalar(2.5).require_grad();
    let labels: Vec<i64> = (0..shape[1] * length).map(|i| (i * i % (shape[2] - 1)) as i64 + 1).collect();
    let labels = integers(TensorData::new(labels, [shape[1], length]), DType::I64);
    let [frames, lengths] = [shape[0], length].map(|all| integers([all as i64; 2], DType::I64));
    let output = ctc_loss(leaf.clone(), labels, frames, lengths, 0);
    differentiate(output, |gradients| vec![gradient(&leaf, gradients)])
}

/// Too few frames for the labels, and for a blank between equal ones.
fn hopeless<B: Backend>(layout: Layout, dtype: DType) -> Tensor<B, 1> {
    let [frames, lengths] = [integers([3, 4, 1, 1], DType::I32), integers([4, 3, 1, 2], DType::I32)];
    ctc_loss(log_softmax(logits(layout, dtype), 2), labels(0, DType::I32), frames, lengths, 0)
}

/// Classes of probability 0: the first target needs one, the others do not.
fn impossible<B: Backend>(layout: Layout, dtype: DType) -> Tensor<B, 1> {
    let x = log_softmax(logits::<B>(layout, dtype), 2);
    let never = x.clone().slice([0..FRAMES, 0..SAMPLES, 3..4]).full_like(f32::NEG_INFINITY);
    let x = x.slice_assign([0..FRAMES, 0..SAMPLES, 3..4], never);
    let [frames, lengths] = lengths(DType::I32);
    ctc_loss(x, labels(0, DType::I32), frames, lengths, 0)
}

#[cfg(test)]
mod beyond_burn_flex {
    use burn::backend::Autodiff;
    use burn::tensor::ops::{FloatTensorOps, IntTensorOps, ModuleOps};
    use burn_mpsgraph::{MpsGraph, MpsGraphDevice, MpsGraphTensor};
    use test_support::{Tolerance, assert_refused, distinct};

    use super::*;
    use crate::compare::assert_gives;

    type B = MpsGraph;
    type A = Autodiff<MpsGraph>;

    /// 16-bit floats are rounded once, at the end.
    #[test]
    fn half_precision_is_rounded_once() {
        for dtype in [DType::F16, DType::BF16] {
            let of = |computed: DType| {
                let x = Tensor::<A, 3>::from_data(
                    log_softmax(logits::<B>(Layout::Contiguous, dtype), 2).into_data().convert_dtype(computed),
                    (&MpsGraphDevice, computed),
                )
                .require_grad();
                let [frames, lengths] = lengths(DType::I32);
                let loss = ctc_loss(x.clone(), labels(0, DType::I32), frames, lengths, 0);
                let grad = gradient(&x, &loss.clone().sum().backward());
                [loss.into_data(), grad].map(|data| data.convert_dtype(dtype))
            };
            for (at, wide) in of(DType::F32).into_iter().enumerate() {
                assert_gives("rounded once", &wide, || of(dtype)[at].clone(), Tolerance::Ulps(1));
            }
        }
    }

    /// Numbers whose low 32 bits are a class, or a length, are none.
    #[test]
    fn classes_and_lengths_beyond_32_bits() {
        let x = || log_softmax(logits::<B>(Layout::Contiguous, DType::F32), 2);
        let frames = || lengths::<B>(DType::I64)[0].clone();
        let of = |class: i64, length: i64, dtype: DType| {
            let targets = integers([[1, 3], [class, 1], [3, 1], [1, 2]], dtype);
            let losses = ctc_loss(x(), targets, frames(), integers([2, 1, length, 0], dtype), 0);
            losses.into_data().iter::<f32>().collect::<Vec<f32>>()
        };
        let [few, none] = [of(2, 1, DType::I64), of(99, 99, DType::I64)];
        assert!(few.iter().all(|loss| loss.is_finite()) && few[1] != none[1] && none[2] == f32::INFINITY, "{none:?}");
        for beyond in [1 << 31, (1 << 32) + 1, (1 << 40) + 2, i64::MAX] {
            assert_eq!(of(beyond, beyond, DType::I64), none, "{beyond}");
            assert_eq!(of(beyond, beyond, DType::U64), none, "{beyond}, unsigned");
        }
        assert_eq!(of(-(1 << 32) + 2, -(1 << 32) + 1, DType::I64), of(-7, -7, DType::I64));
    }

    /// The derivative by each log-probability, by finite differences of the loss in f64.
    #[test]
    fn gradient_by_finite_differences() {
        let x = logits::<A>(Layout::Contiguous, DType::F32).sub_scalar(3).require_grad();
        let [frames, lengths] = lengths(DType::I32);
        let loss = ctc_loss(x.clone(), labels(0, DType::I32), frames, lengths, 0);
        let grad: Vec<f64> = gradient(&x, &loss.sum().backward()).iter::<f64>().collect();
        let x: Vec<f64> = x.into_data().iter::<f64>().collect();
        for at in 0..x.len() {
            let moved = |by: f64| {
                let mut x = x.clone();
                x[at] += by;
                total(&x)
            };
            let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((expected - grad[at]).abs() < 1e-5, "{at}: {expected} and {}", grad[at]);
        }
    }

    /// The sum of the losses, by the paths themselves.
    fn total(x: &[f64]) -> f64 {
        let rows = [[1, 3, 3, 4], [4, 4, 1, 1], [3, 1, 2, 4], [1, 2, 3, 4]];
        let samples = rows.iter().zip([12, 7, 9, 1]).zip([4, 3, 1, 0]).enumerate();
        let loss = |(sample, ((row, frames), length)): (usize, ((&[usize; 4], usize), usize))| {
            let mut states = vec![0];
            row[..length].iter().for_each(|&class| states.extend([class, 0]));
            let share = |frame: usize, state: usize| x[(frame * SAMPLES + sample) * CLASSES + states[state]].exp();
            let mut now: Vec<f64> = (0..states.len()).map(|s| if s < 2 { share(0, s) } else { 0.0 }).collect();
            for frame in 1..frames {
                now = (0..states.len())
                    .map(|s| {
                        let skip = s > 2 && states[s] != 0 && states[s] != states[s - 2];
                        let from = if skip { s - 2 } else { s.saturating_sub(1) };
                        now[from..=s].iter().sum::<f64>() * share(frame, s)
                    })
                    .collect();
            }
            -now[states.len().saturating_sub(2)..].iter().sum::<f64>().ln()
        };
        samples.map(loss).sum()
    }

    /// More steps than a recording holds. One label can begin at any frame and end at any later one.
    #[test]
    fn longer_than_a_recording() {
        let frames = 1100;
        let x = Tensor::<A, 3>::full([frames, 1, 2], -1.0, &MpsGraphDevice).require_grad();
        let one = |number: i64| integers([number], DType::I32);
        let loss = ctc_loss(x.clone(), integers([[1]], DType::I32), one(frames as i64), one(1), 0);
        let grad = gradient(&x, &loss.clone().backward());
        let frames = frames as f64;
        let paths = frames * (frames + 1.0) / 2.0;
        assert!((f64::from(loss.into_scalar()) - (frames - paths.ln())).abs() < 1e-2);
        let first = grad.iter::<f64>().nth(1).expect("the label at the first frame");
        assert!((first + frames / paths).abs() < 1e-4, "{first}");
    }

    /// An infinite loss moves nothing.
    #[test]
    fn no_gradient_of_an_infinite_loss() {
        let x = logits::<A>(Layout::Contiguous, DType::F32).require_grad();
        let [frames, lengths] = [integers([3; 4], DType::I32), integers([4; 4], DType::I32)];
        let loss = ctc_loss(x.clone(), labels(0, DType::I32), frames, lengths, 0);
        let grad = gradient(&x, &loss.sum().backward());
        assert!(grad.iter::<f64>().all(|number| number == 0.0), "{grad}");
    }

    #[test]
    fn no_samples() {
        let x = Tensor::<B, 3>::zeros([3, 0, 2], &MpsGraphDevice);
        let none = || Tensor::<B, 1, Int>::zeros([0], &MpsGraphDevice);
        let loss = ctc_loss(x, Tensor::zeros([0, 2], &MpsGraphDevice), none(), none(), 0);
        assert_eq!(loss.dims(), [0]);
    }

    #[test]
    fn mistakes() {
        let float = |shape: &[usize]| B::float_from_data(distinct(shape.to_vec(), DType::F32), &MpsGraphDevice);
        let int = |shape: &[usize]| B::int_from_data(distinct(shape.to_vec(), DType::I32), &MpsGraphDevice);
        let loss = |x: MpsGraphTensor, y: &[usize], frames: &[usize], labels: &[usize], blank: usize| {
            B::ctc_loss(x, int(y), int(frames), int(labels), blank)
        };
        let x = || float(&[3, 2, 4]);
        assert_refused(&["ctc_loss", "[3, 2]", "classes"], || loss(float(&[3, 2]), &[2, 1], &[2], &[2], 0));
        assert_refused(&["ctc_loss", "[3, 2, 4]", "[3, 1]"], || loss(x(), &[3, 1], &[2], &[2], 0));
        assert_refused(&["ctc_loss", "input_lengths", "[3]"], || loss(x(), &[2, 1], &[3], &[2], 0));
        assert_refused(&["ctc_loss", "target_lengths", "[2, 1]"], || loss(x(), &[2, 1], &[2], &[2, 1], 0));
        assert_refused(&["ctc_loss", "blank 4", "[3, 2, 4]"], || loss(x(), &[2, 1], &[2], &[2], 4));
        assert_refused(&["ctc_loss", "one frame", "[0, 2, 4]"], || loss(float(&[0, 2, 4]), &[2, 1], &[2], &[2], 0));
        assert_refused(&["ctc_loss_backward", "[3]", "2 losses"], || {
            B::ctc_loss_backward(x(), int(&[2, 1]), int(&[2]), int(&[2]), float(&[3]), 0)
        });
    }
}
