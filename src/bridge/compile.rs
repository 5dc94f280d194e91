//! From a program to an executable: a fresh graph, a placeholder per fed tensor and one for all numbers, each op's own
//! lowering, and one compilation.
//!
//! The graph is thrown away afterwards: a node that MPSGraph finds invalid poisons its whole graph.

use std::ops::Range;

use burn_backend::DType;

use super::program::{OperandRef, Program, Source};
use super::scalar::ScalarKind;
use crate::dtype::data_type;
use crate::ffi::{self, DataType, Executable, Graph, GraphDevice, ShapedType};
use crate::tensor::TensorType;

/// An executable with the order in which it takes and gives tensors.
pub(super) struct Compiled {
    pub executable: Executable,
    /// For each of the executable's inputs, the program's feed it is; the numbers come after the last feed.
    pub feed_order: Vec<usize>,
    /// For each of the executable's results, the program's output it is.
    pub target_order: Vec<usize>,
}

/// An input of a node: the tensor in the graph being built, and its type.
pub(crate) struct Operand {
    pub tensor: ffi::Tensor,
    pub ty: TensorType,
}

/// What an op's lowering builds with.
pub(crate) struct Lowering<'a> {
    graph: &'a Graph,
    /// The lanes of the program's numbers.
    lanes: Option<&'a ffi::Tensor>,
    /// The node's numbers and where their lanes start.
    scalars: Vec<(ScalarKind, usize)>,
}

/// Compiles `program`, whose ops were all checked when they were recorded.
pub(super) fn compile(program: &Program, device: &GraphDevice) -> Compiled {
    let graph = Graph::new();
    let mut feeds: Vec<(ffi::Tensor, ShapedType)> = program
        .feeds
        .iter()
        .map(|ty| {
            let dtype = stored(ty.dtype);
            (graph.placeholder(&ty.shape, dtype), ShapedType::new(&ty.shape, dtype))
        })
        .collect();
    let count = program.lanes();
    if count > 0 {
        feeds.push((graph.placeholder(&[count], DataType::F32), ShapedType::new(&[count], DataType::F32)));
    }
    let lanes = feeds.get(program.feeds.len()).map(|(tensor, _)| tensor.clone());
    // The number of the barriers comes last.
    let least = lanes
        .as_ref()
        .filter(|_| program.has_barrier())
        .map(|lanes| graph.slice(lanes, &[count as isize - 1], &[count as isize], &[1]));

    let mut values: Vec<ffi::Tensor> = Vec::with_capacity(program.nodes.len());
    let mut next_lane = 0;
    for node in &program.nodes {
        let inputs: Vec<Operand> =
            node.inputs.iter().map(|input| operand(&graph, program, &feeds, &values, least.as_ref(), input)).collect();
        let mut scalars = Vec::with_capacity(node.scalars.len());
        for &kind in &node.scalars {
            scalars.push((kind, next_lane));
            next_lane += kind.lanes();
        }
        let mut cx = Lowering { graph: &graph, lanes: lanes.as_ref(), scalars };
        values.push(node.op.lower(&mut cx, &inputs, &node.output));
    }

    let mut targets: Vec<ffi::Tensor> = Vec::with_capacity(program.outputs.len());
    for &output in &program.outputs {
        let tensor = &values[output as usize];
        // The executable names its results by tensor, and a fed tensor is no result: a lowering that had nothing to do
        // gets a node of its own here.
        let taken = targets.contains(tensor) || feeds.iter().any(|(feed, _)| feed == tensor);
        targets.push(if taken { graph.identity(tensor) } else { tensor.clone() });
    }
    let given: Vec<(&ffi::Tensor, &ShapedType)> = feeds.iter().map(|(tensor, ty)| (tensor, ty)).collect();
    let targets: Vec<&ffi::Tensor> = targets.iter().collect();
    let executable = graph.compile(device, &given, &targets);
    let placeholders: Vec<&ffi::Tensor> = feeds.iter().map(|(tensor, _)| tensor).collect();
    Compiled {
        feed_order: executable.feed_order(&placeholders),
        target_order: executable.target_order(&targets),
        executable,
    }
}

fn operand(
    graph: &Graph,
    program: &Program,
    feeds: &[(ffi::Tensor, ShapedType)],
    values: &[ffi::Tensor],
    least: Option<&ffi::Tensor>,
    input: &OperandRef,
) -> Operand {
    let (tensor, ty) = match input.source {
        Source::Feed(at) => (&feeds[at as usize].0, &program.feeds[at as usize]),
        Source::Node(at) => (&values[at as usize], &program.nodes[at as usize].output),
    };
    let tensor = if ty.shape == input.shape { tensor.clone() } else { graph.reshape(tensor, &input.shape) };
    let tensor = match least.filter(|_| input.barrier) {
        Some(least) => {
            let least = match ty.dtype {
                DType::F32 => least.clone(),
                dtype => graph.cast(least, stored(dtype)),
            };
            graph.maximum_with_nan_propagation(&tensor, &least)
        }
        None => tensor,
    };
    Operand { tensor, ty: TensorType::new(ty.dtype, input.shape.clone()) }
}

/// The `MPSDataType` of a dtype that was checked when the op was recorded.
fn stored(dtype: DType) -> DataType {
    data_type("compile", dtype).unwrap_or_else(|error| unreachable!("checked when the op was recorded: {error}"))
}

impl Lowering<'_> {
    /// The graph to add nodes to.
    pub fn graph(&self) -> &Graph {
        self.graph
    }

    /// The node's `index`-th number as a `[1]` tensor of `dtype`.
    ///
    /// A float becomes a bool by `!= 0` and an integer by truncation; an integer keeps its low bits.
    pub fn scalar(&mut self, index: usize, dtype: DType) -> ffi::Tensor {
        let (kind, start) = self.scalars[index];
        let exact = match kind {
            ScalarKind::Float => self.lane(start..start + 1),
            ScalarKind::Integer => self.integer(start),
            ScalarKind::RandomState => unreachable!("a random state is asked for by random_state"),
        };
        if dtype.is_bool() {
            let zero = match kind {
                ScalarKind::Float | ScalarKind::RandomState => self.constant(0.0, DType::F32),
                ScalarKind::Integer => self.constant(0.0, DType::I64),
            };
            return self.graph.not_equal(&exact, &zero);
        }
        match (kind, dtype) {
            (ScalarKind::Float, DType::F32) | (ScalarKind::Integer, DType::I64) => exact,
            (ScalarKind::Float | ScalarKind::Integer | ScalarKind::RandomState, _) => {
                self.graph.cast(&exact, stored(dtype))
            }
        }
    }

    /// The node's `index`-th number, a random state, as the i32 `[7]` tensor that MPSGraph's random ops take.
    pub fn random_state(&mut self, index: usize) -> ffi::Tensor {
        let (kind, start) = self.scalars[index];
        debug_assert_eq!(kind, ScalarKind::RandomState);
        let [low, high] = [start, start + 7].map(|at| self.graph.cast(&self.lane(at..at + 7), DataType::I32));
        // A high digit is signed and at most 15 bits wide, so the product stays in i32.
        let radix = self.constant(65_536.0, DType::I32);
        self.graph.addition(&self.graph.multiplication(&high, &radix), &low)
    }

    /// A number fixed by the op's definition as a `[1]` tensor of `dtype`. Numbers of the caller are fed instead.
    ///
    /// It is finite: a constant of minus infinity has brought the compiler down (ChanLumerico/lucid, _C/compile).
    pub fn constant(&self, value: f64, dtype: DType) -> ffi::Tensor {
        assert!(value.is_finite(), "a graph constant is finite, not {value}");
        self.graph.constant_with_scalar(value, &[1], stored(dtype))
    }

    fn lane(&self, range: Range<usize>) -> ffi::Tensor {
        let lanes = self.lanes.unwrap_or_else(|| unreachable!("a program with numbers has lanes"));
        self.graph.slice(lanes, &[range.start as isize], &[range.end as isize], &[1])
    }

    /// Four 16-bit digits as one i64, highest first by Horner's rule.
    fn integer(&self, start: usize) -> ffi::Tensor {
        let digit = |at: usize| self.graph.cast(&self.lane(start + at..start + at + 1), DataType::I64);
        let radix = self.constant(65_536.0, DType::I64);
        (0..3)
            .rev()
            .fold(digit(3), |high, at| self.graph.addition(&self.graph.multiplication(&high, &radix), &digit(at)))
    }
}
