//! The layer between `ops` and `ffi`: every family's lowering builds graphs with it.
//!
//! [`Lowering`] is the graph under construction together with the node's scalars; [`Operand`] is an input of the node.
//! The neighbours hold what several families share: [`axis`] takes parts of an axis and joins them, [`conversion`]
//! changes dtypes, [`rank`] folds axes, [`scalar`] lays out the numbers that are fed, and [`provenance`] knows which
//! operands MPSGraph's compiler must not see through. Nothing here records, allocates or runs anything.

pub(crate) mod axis;
pub(crate) mod conversion;
pub(crate) mod provenance;
pub(crate) mod rank;
pub(crate) mod scalar;

use std::ops::Range;

use burn_backend::DType;

use self::conversion::from_digits;
use self::scalar::{DIGIT_RADIX, ScalarKind};
use crate::dtype::stored;
use crate::ffi::{self, DataType, Graph};
use crate::tensor_type::TensorType;

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
    /// The f32 lanes of all of the program's scalars.
    lanes: Option<&'a ffi::Tensor>,
    /// The node's scalars and where the lanes of each start.
    scalars: Vec<(ScalarKind, usize)>,
}

impl<'a> Lowering<'a> {
    /// Lowers one node: `lanes` is the tensor of the program's scalars, of which those of the node start at the given
    /// places.
    pub fn new(graph: &'a Graph, lanes: Option<&'a ffi::Tensor>, scalars: Vec<(ScalarKind, usize)>) -> Self {
        Self { graph, lanes, scalars }
    }

    /// The graph to add nodes to.
    pub fn graph(&self) -> &Graph {
        self.graph
    }

    /// The node's `index`-th scalar as a `[1]` tensor of `dtype`.
    ///
    /// A float becomes a bool by `!= 0` and an integer by truncation; an integer keeps its low bits.
    pub fn scalar(&self, index: usize, dtype: DType) -> ffi::Tensor {
        let (kind, start) = self.scalars[index];
        let (exact, own) = match kind {
            ScalarKind::Float => (self.lane(start..start + 1), DType::F32),
            ScalarKind::Integer => (self.integer(start), DType::I64),
            ScalarKind::RandomState => unreachable!("a random state is asked for by random_state"),
        };
        if dtype.is_bool() {
            self.graph.not_equal(&exact, &self.constant(0.0, own))
        } else if dtype == own {
            exact
        } else {
            self.graph.cast(&exact, stored(dtype))
        }
    }

    /// The node's `index`-th scalar, a random state, as the i32 `[7]` tensor that MPSGraph's random ops take.
    pub fn random_state(&self, index: usize) -> ffi::Tensor {
        let (kind, start) = self.scalars[index];
        debug_assert_eq!(kind, ScalarKind::RandomState);
        let digits = [start, start + 7].map(|at| self.graph.cast(&self.lane(at..at + 7), DataType::I32));
        // A high digit is signed and at most 15 bits wide, so the product stays in i32.
        from_digits(self, &digits, DIGIT_RADIX, DType::I32)
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

    fn lane(&self, range: Range<usize>) -> ffi::Tensor {
        let lanes = self.lanes.unwrap_or_else(|| unreachable!("a program with scalars has lanes"));
        self.graph.slice(lanes, &[range.start as isize], &[range.end as isize], &[1])
    }

    /// Four digits as one i64.
    fn integer(&self, start: usize) -> ffi::Tensor {
        let digits: [ffi::Tensor; 4] =
            std::array::from_fn(|at| self.graph.cast(&self.lane(start + at..start + at + 1), DataType::I64));
        from_digits(self, &digits, DIGIT_RADIX, DType::I64)
    }
}
