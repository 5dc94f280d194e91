//! The lanes of a program's scalars in the graph under construction.

use std::cell::RefCell;
use std::collections::HashMap;

use burn_backend::DType;
use foldhash::fast::FixedState;

use super::conversion::low_bits;
use super::scalar::ScalarKind;
use crate::dtype::stored;
use crate::ffi::{self, DataType, Graph};

/// The fed lanes, and the numbers that were read from them so far: ops whose scalars share lanes share the nodes too.
#[derive(Default)]
pub(crate) struct FedScalars {
    /// The placeholder of the f32 lanes and their number.
    pub floats: Option<(ffi::Tensor, usize)>,
    /// The same of the i32 lanes.
    pub integers: Option<(ffi::Tensor, usize)>,
    known: RefCell<HashMap<(ScalarKind, u32, DType), ffi::Tensor, FixedState>>,
}

impl FedScalars {
    /// The placeholders of the lanes of each kind and their numbers; none for a kind of which there are no scalars.
    pub fn new(floats: Option<(ffi::Tensor, usize)>, integers: Option<(ffi::Tensor, usize)>) -> Self {
        Self { floats, integers, known: RefCell::default() }
    }

    /// The scalar whose lanes begin with `first`, as a `[1]` tensor of `dtype`.
    pub fn number(&self, graph: &Graph, kind: ScalarKind, first: u32, dtype: DType) -> ffi::Tensor {
        let known = self.known.borrow().get(&(kind, first, dtype)).cloned();
        known.unwrap_or_else(|| {
            let number = self.read(graph, kind, first, dtype);
            self.known.borrow_mut().insert((kind, first, dtype), number.clone());
            number
        })
    }

    /// The random state whose lanes begin with `first`.
    pub fn random_state(&self, graph: &Graph, first: u32) -> ffi::Tensor {
        part(graph, self.integers.as_ref(), first, 7)
    }

    fn read(&self, graph: &Graph, kind: ScalarKind, first: u32, dtype: DType) -> ffi::Tensor {
        let not_zero = |own: DType| {
            let number = self.number(graph, kind, first, own);
            graph.not_equal(&number, &graph.constant_with_scalar(0.0, &[1], stored(own)))
        };
        match kind {
            ScalarKind::Float if dtype == DType::F32 => part(graph, self.floats.as_ref(), first, 1),
            ScalarKind::Float if dtype.is_float() => {
                graph.cast(&self.number(graph, kind, first, DType::F32), stored(dtype))
            }
            ScalarKind::Float if dtype.is_bool() => not_zero(DType::F32),
            ScalarKind::Integer if dtype == DType::I32 => part(graph, self.integers.as_ref(), first, 1),
            ScalarKind::Integer if dtype == DType::I64 => self.wide(graph, first),
            ScalarKind::Integer if dtype.is_int() || dtype.is_uint() => {
                // For fewer than 64 bits the low word has all of them.
                let own = if dtype.size() < 8 { DType::I32 } else { DType::I64 };
                low_bits(graph, &self.number(graph, kind, first, own), own, dtype)
            }
            ScalarKind::Integer if dtype.is_bool() => not_zero(DType::I64),
            ScalarKind::Float | ScalarKind::Integer => {
                unreachable!(
                    "ops feed floats as floats and integers as integers (scalar_for), not {kind:?} as {dtype:?}"
                )
            }
            ScalarKind::RandomState => unreachable!("a random state is asked for by random_state"),
        }
    }

    /// Two words as one i64, by exact arithmetic: MPSGraph lacks kernels for 64-bit bit operations.
    fn wide(&self, graph: &Graph, first: u32) -> ffi::Tensor {
        let word = |at: u32| graph.cast(&part(graph, self.integers.as_ref(), at, 1), DataType::I64);
        let radix = graph.constant_with_scalar(4_294_967_296.0, &[1], DataType::I64);
        graph.addition(&graph.multiplication(&word(first + 1), &radix), &word(first))
    }
}

/// `count` lanes from `first` on.
fn part(graph: &Graph, lanes: Option<&(ffi::Tensor, usize)>, first: u32, count: usize) -> ffi::Tensor {
    let (lanes, all) = lanes.unwrap_or_else(|| unreachable!("a program with scalars has lanes for them"));
    if *all == count {
        return lanes.clone();
    }
    let first = first as isize;
    graph.slice(lanes, &[first], &[first + count as isize], &[1])
}
