//! The graph between MPSGraph's methods and the compiler: typed values in the order they were made.
//!
//! `mpsgraph/ops/*` checks what Apple's rules demand and appends a [`Node`]; `compiler` turns the nodes that the
//! targets need into a plan. Nothing here uses Objective-C, and every value is a packed row-major tensor. Each node
//! yields one value, and the inputs of a node always stand before it. What kernels compute is listed in
//! [`kernels`](crate::kernels), each beside its code.

#![forbid(unsafe_code)]

mod elementwise;

pub use elementwise::{BinaryOp, ElementwiseOp, UnaryOp};

use crate::kernels::KernelOp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Element type of a value; the twelve `MPSDataType` cases that this implementation computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

    /// A signed integer.
    pub const fn is_signed(self) -> bool {
        matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }

    /// A signed or unsigned integer; bool is not one.
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, DType::Bool)
    }
}

/// Shape (slowest dimension first) and element type of a value. Rank 0 means a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ValueId(pub u32);

/// All nodes of a graph, under construction or ready to compile.
#[derive(Clone, Debug, Default)]
pub struct Nodes(Vec<Node>);

impl Nodes {
    /// Appends a node and names its value.
    pub fn push(&mut self, node: Node) -> ValueId {
        let id = ValueId(u32::try_from(self.0.len()).expect("a graph has fewer than 2^32 nodes"));
        self.0.push(node);
        id
    }

    /// The node that makes `value`.
    pub fn node(&self, value: ValueId) -> &Node {
        &self.0[value.0 as usize]
    }

    /// Type of `value`.
    pub fn ty(&self, value: ValueId) -> &TensorType {
        &self.node(value).output
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The nodes in the order they were made, with the values they make.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ValueId, &Node)> {
        self.0.iter().enumerate().map(|(at, node)| (ValueId(at as u32), node))
    }
}

/// One operation and the type of its value.
#[derive(Clone, Debug)]
pub struct Node {
    pub op: Op,
    pub inputs: Vec<ValueId>,
    pub output: TensorType,
    /// The message that asked for the node; a failure at run time names it.
    pub method: &'static str,
}

/// What a node computes, by how the compiler goes about it. Inputs are named in the order of `Node::inputs`; the
/// methods checked their types.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Op {
    /// Exists before the first step.
    Leaf(Leaf),
    /// Computed element by element, fused with its neighbours into one loop.
    Elementwise(ElementwiseOp),
    /// The elements of its input in another order or number; mostly this needs no step.
    View(ViewOp),
    /// `[a (..., M, K), b (..., K, N)]`, batch extents NumPy-broadcast; floats only. The only operation besides loops
    /// that reads strided operands in place.
    MatMul,
    /// Every other operation: it has code of its own and works on packed operands.
    Kernel(KernelOp),
}

/// A value that nothing computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Leaf {
    /// Fed at run time.
    Placeholder,
    /// Packed bytes of the whole value.
    #[serde(with = "constant")]
    Constant(Arc<[u8]>),
    /// Every element has these bytes (the first `dtype.size()` of them).
    Splat([u8; 8]),
}

/// An operation of one operand that changes no element.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ViewOp {
    /// Same elements in the output shape.
    Reshape,
    /// Output axis `i` is input axis `perm[i]`.
    Transpose { perm: Vec<usize> },
    /// NumPy-broadcast to the output shape.
    Broadcast,
    /// Element `j` of axis `i` is `starts[i] + j * strides[i]` (strides may be negative).
    Slice { starts: Vec<usize>, strides: Vec<isize> },
    /// `axes` in reverse order.
    Reverse { axes: Vec<usize> },
    /// The same bits read as the output dtype, of another shape in the last axis.
    Reinterpret,
}

macro_rules! op_of {
    ($($kind:ident: $from:ty,)*) => {$(
        impl From<$from> for Op {
            fn from(op: $from) -> Self {
                Op::$kind(op.into())
            }
        }
    )*};
}
op_of!(Leaf: Leaf, Elementwise: ElementwiseOp, Elementwise: UnaryOp, Elementwise: BinaryOp, View: ViewOp,);

/// A constant's bytes as part of a file.
mod constant {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub fn serialize<S: Serializer>(bytes: &Arc<[u8]>, to: S) -> Result<S::Ok, S::Error> {
        (**bytes).serialize(to)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Arc<[u8]>, D::Error> {
        Vec::deserialize(from).map(Arc::from)
    }
}
