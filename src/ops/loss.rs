//! The loss of connectionist temporal classification (CTC), and its gradient.
//!
//! A target's labels with a blank before, between and after them are its *states*. Recursions over the frames
//! ([`LossOp`]) give log-probabilities of paths through the states. Lengths are data on the device: a sample that ends
//! early is read at its last frame, and its gradient is masked.
//!
//! Everything is computed in f32 and in logarithms: a state that is less likely than the likeliest by more than f32's
//! range may still be the only one that leads to the end. MPSGraph has no CTC loss (`MPSGraphLossOps.h` has softmax
//! with cross entropy), and its loops end the process if the predicate is constant (doom-fish/mpsgraph-rs,
//! control_flow.rs). So each step is in the graph by itself, with about 20 nodes.

mod states;

use burn_backend::{DType, TensorMetadata};

use self::states::{States, frames_of};
use super::arithmetic::{self, BinaryOp, UnaryOp};
use super::{Operation, memory, scatter_nd};
use crate::dtype::Elements;
use crate::error::{Call, invalid};
use crate::ffi::{self, Graph};
use crate::lowering::axis::part;
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// A step of a recursion over frames. Scores of a frame are f32 `(1, samples, states)`.
///
/// `emissions (frames, samples, states)` are the log-probabilities of the states' labels, `skips (1, samples, states)`
/// is 0 for a state that may follow the one before the previous one and minus infinity for the others, and `nothing (1,
/// samples, 2)` is minus infinity.
///
/// The forward recursion gives, for each frame and state, the log-probability of all paths that begin at the start and
/// are in that state at that frame; the backward recursion that of all paths from there to the end. A step of a
/// recursion is one recorded op, so a program depends on the shapes only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LossOp {
    /// `[scores of the frame before, emissions, skips, nothing]`: paths from the start to this frame.
    FromStart { frame: usize },
    /// `[scores of the frame after, emissions, skips, nothing, ends (1, samples, states), lengths (1, samples, 1)]`:
    /// paths from this frame, which is not counted, to the end. From the last frame of a sample on it is `ends`.
    ToEnd { frame: usize },
}

impl Operation for LossOp {
    fn name(&self) -> &'static str {
        match self {
            LossOp::FromStart { .. } => "ctc_loss",
            LossOp::ToEnd { .. } => "ctc_loss_backward",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let graph = cx.graph();
        let tensor = |at: usize| &inputs[at].tensor;
        let (shape, states) = (&output.shape[..], output.shape[2]);
        let mut wide = shape.to_vec();
        wide[2] += 2;
        let emission = |frame: usize| part(graph, tensor(1), &inputs[1].ty.shape, 0, [frame, frame + 1]);
        match *self {
            LossOp::FromStart { frame } => {
                let before = graph.concat(&[tensor(3), tensor(0)], 2);
                let by_one = part(graph, &before, &wide, 2, [1, states + 1]);
                let by_two = graph.addition(&part(graph, &before, &wide, 2, [0, states]), tensor(2));
                graph.addition(&log_sum_exp(cx, [tensor(0), &by_one, &by_two]), &emission(frame))
            }
            LossOp::ToEnd { frame } => {
                let next = graph.addition(tensor(0), &emission(frame + 1));
                let skipped = graph.addition(&next, tensor(2));
                let by_one = part(graph, &graph.concat(&[&next, tensor(3)], 2), &wide, 2, [1, states + 1]);
                let by_two = part(graph, &graph.concat(&[&skipped, tensor(3)], 2), &wide, 2, [2, states + 2]);
                let scores = log_sum_exp(cx, [&next, &by_one, &by_two]);
                let last = cx.constant((frame + 1) as f64, DType::I32);
                graph.select(&graph.greater_than(tensor(5), &last), &scores, tensor(4))
            }
        }
    }

    fn provenance(&self, _inputs: &[Provenance]) -> Provenance {
        Provenance::NONE
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        Reshapes::Nothing
    }
}

/// `log(exp(a) + exp(b) + exp(c))`; minus infinity if all three are.
///
/// The largest is limited from below by a finite number, because minus infinity minus itself is NaN.
fn log_sum_exp(cx: &Lowering<'_>, terms: [&ffi::Tensor; 3]) -> ffi::Tensor {
    let graph: &Graph = cx.graph();
    let [a, b, c] = terms;
    let largest = graph.maximum(&graph.maximum(a, b), c);
    let finite = graph.maximum(&largest, &cx.constant(f32::MIN.into(), DType::F32));
    let [a, b, c] = terms.map(|term| graph.exponent(&graph.subtraction(term, &finite)));
    let sum = graph.addition(&graph.addition(&a, &b), &c);
    graph.addition(&graph.logarithm(&sum), &finite)
}

/// Minus the log-probability that `log_probs (frames, samples, classes)` give to each sample's target: shape (samples).
/// The loss of a target without a path is infinite.
///
/// Of `targets (samples, length)`, and of the frames, as many count for a sample as its element of `target_lengths` and
/// of `input_lengths` says; an input length below 1 is 1, one beyond the frames is all of them. A class that does not
/// exist has the log-probability 0: the classes are data on the device and are not read back to check them.
pub(crate) fn ctc_loss(
    log_probs: MpsGraphTensor,
    targets: MpsGraphTensor,
    input_lengths: MpsGraphTensor,
    target_lengths: MpsGraphTensor,
    blank: usize,
) -> MpsGraphTensor {
    const NAME: &str = "ctc_loss";
    let _call = Call::begin(NAME, [&log_probs, &targets, &input_lengths, &target_lengths].map(MpsGraphTensor::typed));
    let [frames, samples, _] = check(NAME, &log_probs, &targets, [&input_lengths, &target_lengths], blank);
    let dtype = log_probs.dtype();
    if samples == 0 {
        return memory::zeros([0].into(), dtype);
    }
    let lengths = frames_of(input_lengths, frames);
    let states = States::new(arithmetic::cast(log_probs, DType::F32), targets, target_lengths, blank);
    let loss = states.loss(&states.scores_from_start(), &lengths);
    arithmetic::cast(loss.with_shape([samples].into()), dtype)
}

/// Gradient of [`ctc_loss`] for `log_probs`, given that for the loss: for each frame and class minus the probability
/// that a path of the target is there. 0 beyond a sample's frames and for a loss that is infinite.
///
/// It is the derivative by the log-probabilities themselves, as in Burn's own composition. Some backends return its
/// projection through a `log_softmax` instead; after the backward pass of a `log_softmax` the two are the same.
pub(crate) fn ctc_loss_backward(
    log_probs: MpsGraphTensor,
    targets: MpsGraphTensor,
    input_lengths: MpsGraphTensor,
    target_lengths: MpsGraphTensor,
    grad_loss: MpsGraphTensor,
    blank: usize,
) -> MpsGraphTensor {
    const NAME: &str = "ctc_loss_backward";
    let _call = Call::begin(NAME, [&log_probs, &targets, &input_lengths, &target_lengths].map(MpsGraphTensor::typed));
    let [frames, samples, classes] = check(NAME, &log_probs, &targets, [&input_lengths, &target_lengths], blank);
    let dtype = log_probs.dtype();
    if grad_loss.shape.as_slice() != [samples] || grad_loss.dtype() != dtype {
        let given = (grad_loss.dtype(), grad_loss.dims());
        invalid(
            NAME,
            format!("gradient {given:?} for {samples} losses of {dtype:?}: it must have their shape and dtype"),
        );
    }
    let shape = log_probs.shape.clone();
    if samples == 0 {
        return memory::zeros(shape, dtype);
    }
    let lengths = frames_of(input_lengths, frames);
    let states = States::new(arithmetic::cast(log_probs, DType::F32), targets, target_lengths, blank);
    let from_start = states.scores_from_start();
    let loss = states.loss(&from_start, &lengths);
    let posterior = states.posterior(from_start, loss, &lengths);
    let grad = arithmetic::cast(grad_loss, DType::F32).with_shape([1, samples, 1].into());
    let updates = arithmetic::binary(BinaryOp::Mul, posterior, arithmetic::unary(UnaryOp::Neg, grad));
    let none = memory::zeros([frames, samples, classes].into(), DType::F32);
    arithmetic::cast(scatter_nd::scatter_add(2, none, states.classes, updates), dtype)
}

/// Frames, samples and classes, if all shapes and dtypes fit.
fn check(
    name: &'static str,
    log_probs: &MpsGraphTensor,
    targets: &MpsGraphTensor,
    lengths: [&MpsGraphTensor; 2],
    blank: usize,
) -> [usize; 3] {
    let integer = |tensor: &MpsGraphTensor| Elements::Integers.has(tensor.dtype());
    let &[frames, samples, classes] = log_probs.shape.as_slice() else {
        invalid(name, format!("log_probs of shape {:?}: (frames, samples, classes)", log_probs.dims()));
    };
    let fits = log_probs.dtype().is_float()
        && targets.rank() == 2
        && targets.shape[0] == samples
        && lengths.iter().all(|lengths| lengths.shape.as_slice() == [samples] && integer(lengths))
        && integer(targets);
    if !fits {
        let [frames, labels] = lengths.map(|lengths| (lengths.dtype(), lengths.dims()));
        invalid(
            name,
            format!(
                "log_probs {:?} with targets {:?}, input_lengths {frames:?}, target_lengths {labels:?}: integers of \
                 the shapes (samples, length), (samples) and (samples)",
                (log_probs.dtype(), log_probs.dims()),
                (targets.dtype(), targets.dims())
            ),
        );
    }
    if blank >= classes || frames == 0 {
        let shape = log_probs.dims();
        invalid(
            name,
            format!("blank {blank} for log_probs of shape {shape:?}: at least one frame, and a blank below {classes}"),
        );
    }
    [frames, samples, classes]
}
