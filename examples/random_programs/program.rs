//! What a random program is: steps, each of which is fed or computes one value from those of earlier steps.
//!
//! Ops are Burn's, as its traits for backends have them, because there the rank is no part of the type. They are in
//! groups by what they are defined for, and a group by what its ops need, so that one function runs each group.

use std::fmt;

use burn::tensor::{DType, IndexingUpdateOp, Slice, TensorData};

/// A value by the number of its step.
pub type Id = usize;

#[derive(Clone, Debug)]
pub struct Program {
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub made: Made,
    pub shape: Vec<usize>,
    pub dtype: DType,
}

#[derive(Clone, Debug)]
pub enum Made {
    Fed(Content),
    By(Op, Vec<Id>),
}

/// What is fed: one entry for each step, of which those that compute have none.
pub type Feeds = Vec<Option<TensorData>>;

/// What kind of numbers is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Floats up to 4, integers up to 33.
    Ordinary,
    /// With NaN, infinities, both zeros, subnormals and extremes; integers of all bits.
    Special,
    /// Integers below this one.
    Below(usize),
    /// The value of an op that was dropped from a program.
    Kept,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// From any dtype to any dtype.
    Cast(DType),
    Move(Move),
    Number(Number),
    Float(Float),
    Int(Int),
    Bool(Bool),
}

/// Of every kind of tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
    Reshape(Vec<usize>),
    Permute(Vec<usize>),
    Flip(Vec<usize>),
    Expand(Vec<usize>),
    Slice(Vec<Slice>),
    SliceAssign(Vec<Slice>),
    Repeat {
        dim: usize,
        times: usize,
    },
    Unfold {
        dim: usize,
        size: usize,
        step: usize,
    },
    Cat(usize),
    Gather(usize),
    Select(usize),
    /// Adds, of bools is `or`.
    Scatter(usize),
    SelectAssign(usize),
    MaskWhere,
    MaskFill(bool),
    Equal,
    NotEqual,
    EqualElem(bool),
    Any(Option<usize>),
    All(Option<usize>),
}

/// Of floats and of integers. Scalars are integers, which every dtype holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    Binary(Binary),
    WithScalar(Binary, i64),
    Neg,
    Abs,
    Sign,
    Clamp(i64, i64),
    ClampMin(i64),
    ClampMax(i64),
    Compare(Order),
    CompareElem(Order, i64),
    Reduce(Reduction, Option<usize>),
    Cumulative(Running, usize),
    ArgMax(usize),
    ArgMin(usize),
    Sort { dim: usize, descending: bool },
    Argsort { dim: usize, descending: bool },
    Topk { dim: usize, k: usize },
    GatherNd,
    ScatterNd(IndexingUpdateOp),
    Matmul,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Remainder,
    Pow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Greater,
    GreaterEqual,
    Lower,
    LowerEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    Sum,
    Mean,
    Prod,
    Max,
    Min,
    MaxAbs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    Sum,
    Prod,
    Max,
    Min,
}

/// Of floats.
#[derive(Clone, Debug, PartialEq)]
pub enum Float {
    Function(Function),
    IsNan,
    IsInf,
    Atan2,
    Softmax(usize),
    Softmin(usize),
    LogSoftmax(usize),
    LayerNorm,
    Cross(usize),
    Prelu,
    Linear { bias: bool },
    Conv2d(Window),
    ConvTranspose2d(Window),
    AvgPool2d(Window),
    MaxPool2d(Window),
}

/// Of one float each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Ceil,
    Cos,
    Cosh,
    Erf,
    Exp,
    Floor,
    Gelu,
    HardSigmoid,
    LeakyRelu,
    Log,
    Log1p,
    LogSigmoid,
    PowfScalar,
    Recip,
    Relu,
    Round,
    Sigmoid,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
    Trunc,
}

/// How a filter or a pool goes over images. Pools look at `size` pixels, filters have a shape of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub size: [usize; 2],
    pub stride: [usize; 2],
    pub padding: [usize; 2],
    pub dilation: [usize; 2],
    pub groups: usize,
}

/// Of integers.
#[derive(Clone, Debug, PartialEq)]
pub enum Int {
    Bits(Bits),
    BitsScalar(Bits, i64),
    Not,
    ShiftLeft(i64),
    ShiftRight(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    And,
    Or,
    Xor,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bool {
    And,
    Or,
    Xor,
    Not,
}

impl Program {
    /// Whether a later step reads each value.
    pub fn read(&self) -> Vec<bool> {
        let mut read = vec![false; self.steps.len()];
        for step in &self.steps {
            for &id in step.operands() {
                read[id] = true;
            }
        }
        read
    }
}

impl Step {
    pub fn operands(&self) -> &[Id] {
        match &self.made {
            Made::Fed(_) => &[],
            Made::By(_, operands) => operands,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.made {
            Made::Fed(content) => write!(f, "fed {content:?}")?,
            Made::By(op, operands) => {
                write!(f, "{op:?}")?;
                for id in operands {
                    write!(f, " %{id}")?;
                }
            }
        }
        write!(f, " -> {:?} {}", self.shape, self.dtype.name())
    }
}
