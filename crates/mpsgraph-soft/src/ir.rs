//! The graph between MPSGraph's selectors and the compiler: typed values in the order they were made.
//!
//! `mpsgraph/ops/*` checks what Apple's rules demand and appends a [`Node`]; `compiler` turns the nodes that
//! the targets need into a plan. Nothing here knows of Objective-C, and every value is a packed row-major
//! tensor. Each node yields one value, and the inputs of a node always stand before it.

use std::sync::Arc;

/// Element type of a value; the twelve `MPSDataType` cases that this implementation computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    F32,
    F16,
    BF16,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// One byte, 0 or 1.
    Bool,
}

impl DType {
    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            DType::I8 | DType::U8 | DType::Bool => 1,
            DType::F16 | DType::BF16 | DType::I16 | DType::U16 => 2,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::I64 | DType::U64 => 8,
        }
    }

    /// f32, f16 or bf16.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F16 | DType::BF16)
    }

    /// A signed or unsigned integer; bool is not one.
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, DType::Bool)
    }
}

/// Shape (slowest dimension first) and element type of a value. Rank 0 means a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    pub dtype: DType,
    pub shape: Vec<usize>,
}

impl TensorType {
    /// A type from its parts.
    pub fn new(dtype: DType, shape: impl Into<Vec<usize>>) -> Self {
        Self { dtype, shape: shape.into() }
    }

    /// Product of the extents; 1 for rank 0.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Packed size in bytes.
    pub fn bytes(&self) -> usize {
        self.elements() * self.dtype.size()
    }
}

/// Index of the node that makes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// A graph under construction or ready to compile.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
}

impl Graph {
    /// Appends a node and names its value.
    pub fn push(&mut self, op: Op, inputs: impl Into<Vec<ValueId>>, output: TensorType) -> ValueId {
        let id = ValueId(u32::try_from(self.nodes.len()).expect("a graph has fewer than 2^32 nodes"));
        self.nodes.push(Node { op, inputs: inputs.into(), output });
        id
    }

    /// The node that makes `value`.
    pub fn node(&self, value: ValueId) -> &Node {
        &self.nodes[value.0 as usize]
    }

    /// Type of `value`.
    pub fn ty(&self, value: ValueId) -> &TensorType {
        &self.node(value).output
    }
}

/// One operation and the type of its value.
#[derive(Clone, Debug)]
pub struct Node {
    pub op: Op,
    pub inputs: Vec<ValueId>,
    pub output: TensorType,
}

/// What a node computes. Inputs are named in the order of `Node::inputs`; types were checked by the selector.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Fed at run time.
    Placeholder,
    /// Packed bytes of the whole value.
    Constant(Arc<[u8]>),
    /// Every element has these bytes (the first `dtype.size()` of them).
    Splat([u8; 8]),
    /// `[x]`, same shape; the dtype is the input's but for the tests (`IsNan`, `IsInf`, `IsFinite`: bool).
    Unary(UnaryOp),
    /// `[a, b]` of one dtype, NumPy-broadcast to the output shape.
    Binary(BinaryOp),
    /// `[predicate (bool), on true, on false]`, NumPy-broadcast.
    Select,
    /// `[x, min, max]`, NumPy-broadcast; NaN rules of `fmin`/`fmax`.
    Clamp,
    /// `[x]` to the output dtype by value: float to integer truncates toward zero and saturates (NaN gives 0),
    /// integer to integer wraps, anything to bool is `x != 0`.
    Cast,
    /// `[x]` with the same bits read as the output dtype of another shape in the last axis.
    Reinterpret,
    /// `[x]` reduced over `axes` (sorted, distinct); reduced extents stay as 1.
    Reduce { op: ReduceOp, axes: Vec<usize> },
    /// `[x]`; i32 position of the largest (`max`) or smallest element, the first of equals, NaN never chosen, -1 if
    /// all are NaN. The reduced extent stays as 1.
    ArgReduce { max: bool, axis: usize },
    /// `[a (..., M, K), b (..., K, N)]`, batch extents NumPy-broadcast; floats only.
    MatMul,
    /// `[x]`, same elements in the output shape.
    Reshape,
    /// `[x]`; output axis `i` is input axis `perm[i]`.
    Transpose { perm: Vec<usize> },
    /// `[x]`, NumPy-broadcast to the output shape.
    Broadcast,
    /// `[x]`; element `j` of axis `i` is `starts[i] + j * strides[i]` (strides may be negative).
    Slice { starts: Vec<usize>, strides: Vec<isize> },
    /// `[data, update]`; `update` replaces the region that a `Slice` of its shape would read.
    SliceUpdate { starts: Vec<usize>, strides: Vec<isize> },
    /// All inputs one after the other along `axis`.
    Concat { axis: usize },
    /// `[x]` with `axes` in reverse order.
    Reverse { axes: Vec<usize> },
    /// `[x]` with `before[i]` and, to fill the output shape, as many as needed after it; filled with the element of
    /// these bytes.
    Pad { before: Vec<usize>, value: [u8; 8] },
    /// `[updates, indices]`: `gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:`. Indices i32 or i64;
    /// one out of range fails the run.
    Gather { axis: usize, batch: usize },
    /// `[updates, indices]`: `gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:`. An index out of range fails
    /// the run.
    GatherNd { batch: usize },
    /// `[updates, indices]`: `gatherAlongAxis:…`. Out of range reads 0.
    GatherAlongAxis { axis: usize },
    /// `[data, updates, indices (rank 1)]`: `scatterWithDataTensor:…`. An index out of range fails the run.
    Scatter { axis: usize, mode: ScatterMode },
    /// `[data, updates, indices]`: `scatterNDWithDataTensor:…`. An index out of range fails the run.
    ScatterNd { batch: usize, mode: ScatterMode },
    /// `[data, updates, indices]`: `scatterAlongAxis:withDataTensor:…`. Out of range is skipped.
    ScatterAlongAxis { axis: usize, mode: ScatterMode },
    /// `[x]`; floats only.
    Softmax { axis: usize },
    /// No input; i32 coordinate along `axis`.
    Iota { axis: usize },
    /// `[state (i32, 7)]`; f32 uniform in `[min, max)` by Philox4x32-10; bounds as f32 bits.
    RandomUniform { min: u32, max: u32 },
    /// `[state (i32, 7)]`; the state after drawing `elements` numbers.
    RandomState { elements: u64 },
}

/// Elementwise functions of one argument. Floats are computed in f32 and rounded to the dtype. Denormals are kept,
/// where Apple's kernels for f32 read and write most of them as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Identity,
    Abs,
    Neg,
    Exp,
    Exp2,
    Exp10,
    Log,
    Log2,
    Log10,
    Square,
    Sqrt,
    Rsqrt,
    Recip,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Ceil,
    Floor,
    /// Half away from zero.
    Round,
    /// Half to even.
    Rint,
    Trunc,
    /// NaN gives 0.
    Sign,
    Signbit,
    Relu,
    Sigmoid,
    /// Logical not of `x != 0`, in the operand's dtype.
    Not,
    BitNot,
    Popcount,
    IsNan,
    IsInf,
    IsFinite,
}

/// Elementwise functions of two arguments of one dtype. Integers wrap; floats are computed in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Integers truncate toward zero; a zero divisor gives 0.
    Div,
    DivNoNan,
    /// C's `fmod`: sign of the dividend. A zero integer divisor gives 0.
    Mod,
    /// `a - floor(a / b) * b`: sign of the divisor, 0 for a zero integer divisor; NaN for a float one.
    FloorMod,
    Pow,
    /// `fmin`: NaN is ignored.
    Min,
    Max,
    /// NaN wins.
    MinNan,
    MaxNan,
    Atan2,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Xor,
    Nand,
    Nor,
    Xnor,
    BitAnd,
    BitOr,
    BitXor,
    /// The count is taken modulo the width.
    Shl,
    /// Arithmetic for signed types; the count is taken modulo the width.
    Shr,
    /// `[incoming, source (before sigmoid)]`.
    SigmoidGrad,
    /// `[incoming, source]`.
    ReluGrad,
    /// `[source, alpha]`.
    LeakyRelu,
}

impl BinaryOp {
    /// Whether the value is bool whatever the operands are.
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            BinaryOp::Equal
                | BinaryOp::NotEqual
                | BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual
        )
    }
}

/// How a reduction combines elements. 16-bit floats accumulate in their own width, as on the hardware, so the
/// caller casts up first; integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    Sum,
    Prod,
    /// NaN is skipped; all NaN gives the infinity that starts the search.
    Min,
    Max,
    MinNan,
    MaxNan,
    And,
    Or,
    Mean,
    /// Population variance; floats only.
    Variance,
}

/// How a scatter combines an update with what is there; the values of `MPSGraphScatterMode`. Setting one element to
/// different values fails the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScatterMode {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Set,
}
