//! Operands of matrix products that MPSGraph's compiler must not see through.
//!
//! It looks at what made an operand and rewrites the product with it, and some of its rewrites are wrong; see
//! [`Trace::hides`]. Reshapes, concatenations, casts, and sums and products with constants that stand between are
//! folded away. What cannot be folded is the maximum with a number that only a run knows: minus infinity, which changes
//! no value and leaves NaN what it is. A program in which no operand needs it has neither the maximum nor the number.
//!
//! Traces follow the recorded ops of one program, so the barriers are part of its identity.

use burn_backend::DType;

use super::Op;
use super::activation::ActivationOp;
use super::arithmetic::{ArithmeticOp, BinaryOp, UnaryOp};
use super::matrix_multiplication::MatrixMultiplicationOp;
use super::memory::MemoryOp;
use super::tensor_shape::TensorShapeOp;
use crate::ffi::os_version;
use crate::tensor::TensorType;

/// What a value may be a part of, as far as MPSGraph's compiler could tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trace(u8);

impl Trace {
    /// Nothing, as of a value that is fed.
    pub const NOTHING: Trace = Trace(0);
    /// The value of some node.
    const MADE: Trace = Trace(1);
    /// e to the power of something.
    const POWERS: Trace = Trace(1 << 1);
    /// Sums of [`Trace::POWERS`].
    const TOTALS: Trace = Trace(1 << 2);
    /// One over [`Trace::TOTALS`].
    const SHARES: Trace = Trace(1 << 3);
    /// A softmax, by whatever name.
    const WEIGHTS: Trace = Trace(1 << 4);
    /// Repeated without being copied.
    const REPEATED: Trace = Trace(1 << 5);
    /// Cut out without being copied.
    const PART: Trace = Trace(1 << 6);

    /// Read where another value is, with that one's strides.
    const VIEW: Trace = Trace::REPEATED.and(Trace::PART);

    const fn and(self, other: Trace) -> Trace {
        Trace(self.0 | other.0)
    }

    const fn without(self, other: Trace) -> Trace {
        Trace(self.0 & !other.0)
    }

    const fn has(self, what: Trace) -> bool {
        self.0 & what.0 == what.0
    }

    /// The trace of the value that `op` makes of values with the traces `inputs`.
    pub fn of(op: &Op, inputs: &[Trace]) -> Trace {
        let all = inputs.iter().fold(Trace::NOTHING, |all, &one| all.and(one));
        let found = match op {
            Op::Activation(op) => of_activation(*op),
            Op::Arithmetic(op) => of_arithmetic(op, inputs, all),
            Op::TensorShape(op) => match op {
                TensorShapeOp::Permute { .. } => all,
                TensorShapeOp::Expand => all.and(Trace::REPEATED),
                TensorShapeOp::Slice { .. } => all.and(Trace::PART),
                TensorShapeOp::Flip { .. } | TensorShapeOp::SliceAssign { .. } | TensorShapeOp::Cat { .. } => {
                    all.without(Trace::VIEW)
                }
            },
            Op::Reduction(op) if op.is_sum() && all.has(Trace::POWERS) => Trace::TOTALS,
            Op::Memory(op) => match op {
                MemoryOp::Full => Trace::REPEATED,
                MemoryOp::Zeros | MemoryOp::Ones | MemoryOp::Coordinates | MemoryOp::Range => Trace::NOTHING,
            },
            Op::Gather(_) | Op::MatrixMultiplication(_) | Op::Random(_) | Op::Reduction(_) | Op::ScatterNd(_) => {
                Trace::NOTHING
            }
        };
        found.and(Trace::MADE)
    }

    /// Whether `op` has to read a value with this trace through a barrier: `made` is the value as it was made, read as
    /// `shape` to give an `output`.
    pub fn hides(self, op: &Op, made: &TensorType, shape: &[usize], output: &TensorType) -> bool {
        match op {
            Op::MatrixMultiplication(MatrixMultiplicationOp::Float) => {}
            Op::MatrixMultiplication(MatrixMultiplicationOp::Integer)
            | Op::Activation(_)
            | Op::Arithmetic(_)
            | Op::Gather(_)
            | Op::Memory(_)
            | Op::Random(_)
            | Op::Reduction(_)
            | Op::ScatterNd(_)
            | Op::TensorShape(_) => return false,
        }
        // softmax(QKᵀ)V becomes one kernel, which is wrong: on macOS 26 for 17 to 24 positions and three matrices or
        // more (ChanLumerico/lucid, _C/compile), for queries, keys and values that are slices of one computed tensor
        // (MIT-RLX/rlx, rlx-metal), for permuted ones (pytorch/pytorch#181133); on macOS 15 it leaks (pytorch's
        // mps/operations/Attention.mm).
        let attends = self.has(Trace::WEIGHTS);
        // A row or column that stands for many (stride 0) is taken for what follows it in memory: all but every 16th
        // row of the product is 0 on macOS 15.0 to 26.3, and again on 27.0 (pytorch/pytorch#180201).
        let repeats = self.has(Trace::REPEATED) && os_version::at_least(15, 0);
        // 16-bit products with at most 16 rows or columns read and write beyond rows that are wider than they are long
        // (pytorch/pytorch#178056), as those of a slice are.
        let few = output.shape.iter().rev().take(2).any(|&extent| extent <= 16);
        let overruns = self.has(Trace::PART) && few && matches!(made.dtype, DType::F16 | DType::BF16);
        // On macOS 27.0, and by some reports on 26, the compiler ends the process on reshape, product, reshape if one
        // of the shapes has two extents of 1 (pytorch/pytorch#187201, #187379). The last step of the node that made the
        // operand may be such a reshape.
        let aborts = os_version::at_least(26, 0)
            && (self.has(Trace::MADE) || made.shape[..] != *shape)
            && [&made.shape[..], shape, &output.shape].iter().any(|shape| has_lone_extents(shape));
        attends || repeats || overruns || aborts
    }
}

/// Whether more than one extent is 1.
pub(in crate::ops) fn has_lone_extents(shape: &[usize]) -> bool {
    shape.iter().filter(|&&extent| extent == 1).count() > 1
}

fn of_activation(op: ActivationOp) -> Trace {
    match op {
        ActivationOp::Softmax { .. } | ActivationOp::Softmin { .. } => Trace::WEIGHTS,
        ActivationOp::Relu
        | ActivationOp::ReluBackward
        | ActivationOp::LeakyRelu
        | ActivationOp::Prelu
        | ActivationOp::Gelu
        | ActivationOp::GeluBackward
        | ActivationOp::Sigmoid
        | ActivationOp::SigmoidBackward
        | ActivationOp::HardSigmoid
        | ActivationOp::LogSigmoid
        | ActivationOp::LogSigmoidBackward
        | ActivationOp::LogSoftmax { .. } => Trace::NOTHING,
    }
}

/// Functions of a softmax that a model may put before the product (masks, dropout, a scale) keep it a softmax.
fn of_arithmetic(op: &ArithmeticOp, inputs: &[Trace], all: Trace) -> Trace {
    let kept = all.without(Trace::VIEW);
    match op {
        ArithmeticOp::Unary(UnaryOp::Exp) => Trace::POWERS,
        ArithmeticOp::Unary(UnaryOp::Recip) if kept.has(Trace::TOTALS) => Trace::SHARES,
        ArithmeticOp::Unary(_) => Trace::NOTHING,
        ArithmeticOp::Binary(BinaryOp::Div) if inputs[0].has(Trace::POWERS) && inputs[1].has(Trace::TOTALS) => {
            Trace::WEIGHTS
        }
        ArithmeticOp::Binary(BinaryOp::Mul) if kept.has(Trace::POWERS.and(Trace::SHARES)) => Trace::WEIGHTS,
        ArithmeticOp::Binary(_)
        | ArithmeticOp::BinaryScalar(_)
        | ArithmeticOp::Cast
        | ArithmeticOp::MaskWhere
        | ArithmeticOp::MaskFill
        | ArithmeticOp::Clamp { .. } => kept,
        ArithmeticOp::PowerScalar { .. }
        | ArithmeticOp::Compare(_)
        | ArithmeticOp::CompareScalar(_)
        | ArithmeticOp::Test(_) => Trace::NOTHING,
    }
}
