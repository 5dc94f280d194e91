//! The layer between `ops` and `ffi`: every family's lowering builds graphs with it.
//!
//! [`Lowering`] is the graph under construction together with the node's scalars; [`Operand`] is an input of the node.
//! The neighbours hold what several families share: [`axis`] takes parts of an axis, joins them and transposes,
//! [`conversion`] changes dtypes, [`rank`] folds axes, [`scalar`] lays out the numbers that are fed and [`fed`] reads
//! them in a graph, [`shared`] keeps what several nodes compute alike, and [`provenance`] knows which operands
//! MPSGraph's compiler must not see through. Nothing here records, allocates or runs anything.

pub(crate) mod axis;
pub(crate) mod conversion;
pub(crate) mod fed;
pub(crate) mod provenance;
pub(crate) mod rank;
pub(crate) mod scalar;
pub(crate) mod shared;

use burn_backend::DType;

use self::fed::FedScalars;
use self::scalar::ScalarKind;
use self::shared::Shared;
use crate::dtype::stored;
use crate::ffi::{self, DataType, Graph};
use crate::tensor_type::TensorType;

/// Bytes of a tensor inside of a graph. MPSGraph allocates it only when the program runs, and ends the process for a
/// larger one (pytorch/pytorch#149261).
pub(crate) const MOST_BYTES: usize = 1 << 32;

/// Elements of 32 bits that are so many bytes.
pub(crate) const MOST_ELEMENTS: usize = MOST_BYTES / 4;

/// What neither the elements of a tensor nor an option of a window (an extent, a step, a padding) may be: positions are
/// i32.
pub(crate) const POSITIONS: usize = 1 << 31;

/// An input of a node: the tensor in the graph under construction, and its type.
pub(crate) struct Operand {
    pub tensor: ffi::Tensor,
    pub ty: TensorType,
    /// Whether it is a recorded constant of zeros.
    pub is_zeros: bool,
}

/// What an op's lowering builds with.
pub(crate) struct Lowering<'a> {
    graph: &'a Graph,
    /// The lanes of all of the program's scalars.
    fed: &'a FedScalars,
    shared: &'a Shared,
    /// The node's scalars and where the lanes of each start.
    scalars: Vec<(ScalarKind, u32)>,
}

impl<'a> Lowering<'a> {
    /// Lowers one node, whose scalars start at the given lanes.
    pub fn new(graph: &'a Graph, fed: &'a FedScalars, shared: &'a Shared, scalars: Vec<(ScalarKind, u32)>) -> Self {
        Self { graph, fed, shared, scalars }
    }

    /// The graph to add nodes to.
    pub fn graph(&self) -> &Graph {
        self.graph
    }

    /// `what` of `x`, which other nodes of the program may have in common with this one.
    pub fn once(&self, what: &'static str, x: &ffi::Tensor, make: impl FnOnce() -> ffi::Tensor) -> ffi::Tensor {
        self.shared.once(what, x, make)
    }

    /// The constant of this shape and of `numbers`, which `what` describes wholly; the nodes of a program have one.
    pub fn table(&self, what: String, shape: &[usize], numbers: impl FnOnce() -> Vec<f32>) -> ffi::Tensor {
        self.shared.constant(what, shape, || {
            self.graph.constant_with_data(bytemuck::cast_slice(&numbers()), shape, DataType::F32)
        })
    }

    /// Whether the node has scalars.
    pub fn has_scalars(&self) -> bool {
        !self.scalars.is_empty()
    }

    /// The node's `index`-th scalar as a `[1]` tensor of `dtype`.
    ///
    /// An integer keeps its low bits. As a bool it is `!= 0`, and so is a float. Floats are not read as integers, nor
    /// integers as floats: `scalar_for` of `ops/arithmetic.rs` makes them what the tensor is of before they are fed.
    pub fn scalar(&self, index: usize, dtype: DType) -> ffi::Tensor {
        let (kind, first) = self.scalars[index];
        self.fed.number(self.graph, kind, first, dtype)
    }

    /// The node's `index`-th scalar, a random state, as the i32 `[7]` tensor that MPSGraph's random ops take.
    pub fn random_state(&self, index: usize) -> ffi::Tensor {
        let (kind, first) = self.scalars[index];
        debug_assert_eq!(kind, ScalarKind::RandomState);
        self.fed.random_state(self.graph, first)
    }

    /// A number fixed by the op's definition as a `[1]` tensor of `dtype`. Numbers that the caller gives are fed
    /// instead.
    ///
    /// The number must be finite: a constant of minus infinity has crashed MPSGraph's compiler (ChanLumerico/lucid,
    /// _C/compile).
    pub fn constant(&self, value: f64, dtype: DType) -> ffi::Tensor {
        assert!(value.is_finite(), "a graph constant is finite, not {value}");
        self.graph.constant_with_scalar(value, &[1], stored(dtype))
    }
}
