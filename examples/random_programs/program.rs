//! What a random program is: steps, each of which is fed or computes one value from those of earlier steps.
//!
//! Ops are Burn's, as its traits for backends have them, because there the rank is no part of the type. They are in
//! groups by what they are defined for, and a group by what its ops need, so that one function runs each group.

use std::fmt;

use burn::tensor::quantization::QuantScheme;
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
    Image(Image),
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
    Linear {
        bias: bool,
    },
    /// To the power of integers.
    Powi,
    /// Of queries, keys and values, a mask and a bias if there are any.
    Attention {
        masked: bool,
        biased: bool,
        causal: bool,
        capped: bool,
    },
    /// One part of a spectrum, of so many samples.
    Rfft {
        dim: usize,
        samples: usize,
        imaginary: bool,
    },
    /// Of both parts of a spectrum.
    Irfft {
        dim: usize,
        samples: usize,
    },
    /// And back, with the last two axes exchanged in between if it is turned.
    Quantized {
        scheme: QuantScheme,
        turned: bool,
    },
}

/// Of floats that are signals, images or volumes: samples, channels, and up to three extents.
#[derive(Clone, Debug, PartialEq)]
pub enum Image {
    /// With a bias if it has three operands.
    Conv(Window),
    ConvTranspose(Window),
    /// Of one extent or two.
    AvgPool {
        window: Window,
        counts_padding: bool,
        ceil: bool,
    },
    MaxPool {
        window: Window,
        ceil: bool,
    },
    /// The positions of what `MaxPool` gives.
    MaxPoolIndices {
        window: Window,
        ceil: bool,
    },
    AdaptiveAvgPool2d([usize; 2]),
    Interpolate {
        size: [usize; 2],
        mode: Resize,
        aligned: bool,
    },
    GridSample {
        reflected: bool,
        aligned: bool,
    },
    /// Of images, offsets, filters and a mask.
    DeformConv2d(Window),
    Unfold4d(Window),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resize {
    Nearest,
    Bilinear,
    Bicubic,
    Lanczos3,
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

/// How a filter or a pool goes over images: an entry for each extent. Filters have a shape of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub size: Vec<usize>,
    pub stride: Vec<usize>,
    pub padding: Vec<usize>,
    pub dilation: Vec<usize>,
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
