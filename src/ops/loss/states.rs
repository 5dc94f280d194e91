//! The states of a batch of targets, and the recursions over them.

use burn_backend::{DType, Slice};

use super::LossOp;
use crate::bridge::record;
use crate::dtype::BOOL;
use crate::lowering::scalar::ScalarInput;
use crate::ops::arithmetic::{self, BinaryOp, CompareOp, UnaryOp};
use crate::ops::{gather, memory, reduction, tensor_shape};
use crate::tensor::MpsGraphTensor;

const NOTHING: ScalarInput = ScalarInput::Float(f64::NEG_INFINITY);

/// The operands of the recursions; [`LossOp`] describes all but `classes`.
pub(super) struct States {
    /// The class of each state, i32 `(frames, samples, states)`.
    pub classes: MpsGraphTensor,
    emissions: MpsGraphTensor,
    skips: MpsGraphTensor,
    nothing: MpsGraphTensor,
    /// 0 for the states in which a path may end, minus infinity for the others.
    ends: MpsGraphTensor,
}

impl States {
    /// The states for `log_probs (frames, samples, classes)`, `targets (samples, length)` and
    /// `target_lengths (samples)`.
    pub fn new(
        log_probs: MpsGraphTensor,
        targets: MpsGraphTensor,
        target_lengths: MpsGraphTensor,
        blank: usize,
    ) -> Self {
        let (frames, [samples, length]) = (log_probs.shape[0], [targets.shape[0], targets.shape[1]]);
        let states = 2 * length + 1;
        let blanks = |shape: [usize; 3]| memory::full(shape.into(), ScalarInput::Int(blank as i64), DType::I32);
        let last = blanks([1, samples, 1]);
        let of_states = if length == 0 {
            last
        } else {
            let targets = narrowed(targets).with_shape([samples, length, 1].into());
            let pairs = tensor_shape::cat(vec![blanks([samples, length, 1]), targets], 2);
            tensor_shape::cat(vec![pairs.with_shape([1, samples, 2 * length].into()), last], 2)
        };
        let classes = tensor_shape::expand(of_states.clone(), [frames, samples, states].into());
        Self {
            emissions: gather::gather(2, log_probs, classes.clone()),
            classes,
            skips: skips(of_states, blank),
            nothing: full_of_nothing([1, samples, 2]),
            ends: ends(target_lengths, [1, samples, states]),
        }
    }

    /// Log-probabilities of the paths from the start, frame by frame.
    pub fn scores_from_start(&self) -> MpsGraphTensor {
        let frames = self.emissions.shape[0];
        let states = self.emissions.shape[2];
        let first = tensor_shape::slice(self.emissions.clone(), &[Slice::new(0, Some(1), 1)]);
        let position = memory::arange(0..states as i64, 1, DType::I32).with_shape([1, 1, states].into());
        let later = arithmetic::compare_scalar(CompareOp::Greater, position, ScalarInput::Int(1), BOOL);
        let mut scores = vec![arithmetic::mask_fill(first, later, NOTHING)];
        for frame in 1..frames {
            let inputs = [&scores[frame - 1], &self.emissions, &self.skips, &self.nothing];
            let output = scores[frame - 1].ty();
            scores.push(record(LossOp::FromStart { frame }.into(), &inputs, &[], output));
        }
        tensor_shape::cat(scores, 0)
    }

    /// Log-probabilities of the paths to the end, frame by frame; a frame's own emission is not in them.
    fn scores_to_end(&self, lengths: &MpsGraphTensor) -> MpsGraphTensor {
        let mut scores = vec![self.ends.clone()];
        for frame in (0..self.emissions.shape[0] - 1).rev() {
            let after = &scores[scores.len() - 1];
            let inputs = [after, &self.emissions, &self.skips, &self.nothing, &self.ends, lengths];
            let output = after.ty();
            scores.push(record(LossOp::ToEnd { frame }.into(), &inputs, &[], output));
        }
        scores.reverse();
        tensor_shape::cat(scores, 0)
    }

    /// The losses, shape `(1, samples, 1)`, from the scores of [`States::scores_from_start`] at each sample's last
    /// frame.
    pub fn loss(&self, from_start: &MpsGraphTensor, lengths: &MpsGraphTensor) -> MpsGraphTensor {
        let &[frames, samples, states] = from_start.shape.as_slice() else { unreachable!("frames, samples, states") };
        let frame = arithmetic::binary_scalar(BinaryOp::Sub, lengths.clone(), ScalarInput::Int(1));
        let row = arithmetic::binary_scalar(BinaryOp::Mul, frame, ScalarInput::Int(samples as i64));
        let sample = memory::arange(0..samples as i64, 1, DType::I32).with_shape([1, samples, 1].into());
        let row = arithmetic::binary(BinaryOp::Add, row, sample).with_shape([samples].into());
        let last = gather::select(from_start.clone().with_shape([frames * samples, states].into()), 0, row);
        let last = last.with_shape([1, samples, states].into());
        let scores = arithmetic::binary(BinaryOp::Add, last, self.ends.clone());
        let (shares, largest) = shares(scores);
        let total = arithmetic::unary(UnaryOp::Log, reduction::sum_dim(shares, 2));
        arithmetic::unary(UnaryOp::Neg, arithmetic::binary(BinaryOp::Add, total, largest))
    }

    /// Probability of each state at each frame among the paths of the target; 0 where there is none.
    pub fn posterior(
        &self,
        from_start: MpsGraphTensor,
        loss: MpsGraphTensor,
        lengths: &MpsGraphTensor,
    ) -> MpsGraphTensor {
        let frames = self.emissions.shape[0];
        let frame = memory::arange(0..frames as i64, 1, DType::I32).with_shape([frames, 1, 1].into());
        let beyond = arithmetic::compare(CompareOp::GreaterEqual, frame, lengths.clone(), BOOL);
        let hopeless = arithmetic::is_inf(loss, BOOL);
        let none = arithmetic::binary(BinaryOp::LogicalOr, beyond, hopeless);
        // A path is in one state at each frame, so the shares of a frame add up to 1; the loss would have the rounding
        // of all frames in it.
        let paths = arithmetic::binary(BinaryOp::Add, from_start, self.scores_to_end(lengths));
        let (shares, _) = shares(paths);
        let total = reduction::sum_dim(shares.clone(), 2);
        arithmetic::mask_fill(arithmetic::binary(BinaryOp::Div, shares, total), none, ScalarInput::Float(0.0))
    }
}

/// The exponentials of the states' scores, over that of the largest, and the largest: a finite number, because minus
/// infinity minus itself is NaN.
fn shares(scores: MpsGraphTensor) -> (MpsGraphTensor, MpsGraphTensor) {
    let least = Some(ScalarInput::Float(f32::MIN.into()));
    let largest = arithmetic::clamp(reduction::max_dim(scores.clone(), 2), least, None);
    (arithmetic::unary(UnaryOp::Exp, arithmetic::binary(BinaryOp::Sub, scores, largest.clone())), largest)
}

/// 0 for a label that differs from the one before it, minus infinity for other states.
fn skips(classes: MpsGraphTensor, blank: usize) -> MpsGraphTensor {
    let &[_, samples, states] = classes.shape.as_slice() else { unreachable!("one, samples, states") };
    let blank = ScalarInput::Int(blank as i64);
    let none = full_of_nothing([1, samples, states]);
    if states < 4 {
        return none;
    }
    let before = memory::full([1, samples, 2].into(), blank, DType::I32);
    let part = [Slice::full(), Slice::full(), Slice::new(0, Some(states as isize - 2), 1)];
    let before = tensor_shape::cat(vec![before, tensor_shape::slice(classes.clone(), &part)], 2);
    let differs = arithmetic::compare(CompareOp::NotEqual, classes.clone(), before, BOOL);
    let label = arithmetic::compare_scalar(CompareOp::NotEqual, classes, blank, BOOL);
    let may = arithmetic::binary(BinaryOp::LogicalAnd, differs, label);
    arithmetic::mask_fill(none, may, ScalarInput::Float(0.0))
}

/// 0 for a target's last label and the blank behind it.
fn ends(target_lengths: MpsGraphTensor, [one, samples, states]: [usize; 3]) -> MpsGraphTensor {
    let lengths = narrowed(target_lengths).with_shape([one, samples, 1].into());
    let last = arithmetic::binary_scalar(BinaryOp::Mul, lengths, ScalarInput::Int(2));
    let position = memory::arange(0..states as i64, 1, DType::I32).with_shape([1, 1, states].into());
    // 0 for the blank, 1 for the label before it.
    let behind = arithmetic::binary(BinaryOp::Sub, last, position);
    let early = arithmetic::compare_scalar(CompareOp::Greater, behind.clone(), ScalarInput::Int(1), BOOL);
    let late = arithmetic::compare_scalar(CompareOp::Lower, behind, ScalarInput::Int(0), BOOL);
    let other = arithmetic::binary(BinaryOp::LogicalOr, early, late);
    arithmetic::mask_fill(memory::zeros([one, samples, states].into(), DType::F32), other, NOTHING)
}

/// Integers as i32. What does not fit is no class and no length, and becomes another number that is none.
fn narrowed(x: MpsGraphTensor) -> MpsGraphTensor {
    let least = (x.dtype() == DType::I64).then_some(ScalarInput::Int(-1));
    let is_wide = matches!(x.dtype(), DType::I64 | DType::U32 | DType::U64);
    let x = if is_wide { arithmetic::clamp(x, least, Some(ScalarInput::Int(i32::MAX.into()))) } else { x };
    arithmetic::cast(x, DType::I32)
}

/// Numbers of frames as i32 `(1, samples, 1)`, at least 1 and at most all.
pub(super) fn frames_of(lengths: MpsGraphTensor, frames: usize) -> MpsGraphTensor {
    let samples = lengths.shape[0];
    let [least, most] = [1, frames as i64].map(|bound| Some(ScalarInput::Int(bound)));
    arithmetic::cast(arithmetic::clamp(lengths, least, most), DType::I32).with_shape([1, samples, 1].into())
}

fn full_of_nothing(shape: [usize; 3]) -> MpsGraphTensor {
    memory::full(shape.into(), NOTHING, DType::F32)
}
