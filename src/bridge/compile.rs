//! From a program to an executable: a fresh graph, a placeholder per fed tensor and one for all scalars, each op's own
//! lowering, and one compilation.
//!
//! The graph is dropped afterwards, because one node that MPSGraph finds invalid makes its whole graph useless.

use burn_backend::DType;

use super::program::{OperandRef, Program, ProgramNode, Source};
use crate::dtype::stored;
use crate::ffi::{self, DataType, Executable, Graph, GraphDevice, ShapedType};
use crate::lowering::{Lowering, Operand};
use crate::tensor_type::TensorType;

/// An executable with the order in which it takes and gives tensors.
pub(super) struct Compiled {
    pub executable: Executable,
    /// For each of the executable's inputs, the number of the program's feed; the scalars' lanes count as the feed
    /// after the last.
    pub feed_order: Vec<usize>,
    /// For each of the executable's results, the number of the program's output.
    pub target_order: Vec<usize>,
}

/// Compiles `program`, whose ops were all checked when they were recorded.
pub(super) fn compile(program: &Program, device: &GraphDevice) -> Compiled {
    let mut construction = Construction::begin(program);
    for node in &program.nodes {
        construction.add(node);
    }
    let targets = construction.targets();
    let Construction { graph, placeholders, .. } = construction;
    let given: Vec<(&ffi::Tensor, &ShapedType)> = placeholders.iter().map(|(tensor, ty)| (tensor, ty)).collect();
    let targets: Vec<&ffi::Tensor> = targets.iter().collect();
    let executable = graph.compile(device, &given, &targets);
    let fed: Vec<&ffi::Tensor> = placeholders.iter().map(|(tensor, _)| tensor).collect();
    Compiled { feed_order: executable.feed_order(&fed), target_order: executable.target_order(&targets), executable }
}

/// A program's graph while its nodes are added one after the other.
struct Construction<'a> {
    program: &'a Program,
    graph: Graph,
    /// One per feed, and then one for the lanes of all scalars, if there are any.
    placeholders: Vec<(ffi::Tensor, ShapedType)>,
    /// The lanes of all scalars.
    lanes: Option<ffi::Tensor>,
    /// The lane in which the next node's scalars start.
    next_lane: usize,
    /// Minus infinity, if an operand is read through a barrier.
    least: Option<ffi::Tensor>,
    /// The tensor of each node so far.
    values: Vec<ffi::Tensor>,
}

impl<'a> Construction<'a> {
    /// The graph with its placeholders.
    fn begin(program: &'a Program) -> Self {
        let graph = Graph::new();
        let placeholder = |shape: &[usize], dtype| (graph.placeholder(shape, dtype), ShapedType::new(shape, dtype));
        let mut placeholders: Vec<_> =
            program.feeds.iter().map(|ty| placeholder(&ty.shape, stored(ty.dtype))).collect();
        let count = program.lanes();
        let lanes = (count > 0).then(|| {
            placeholders.push(placeholder(&[count], DataType::F32));
            placeholders[program.feeds.len()].0.clone()
        });
        // The scalar of the barriers comes last.
        let least = lanes
            .as_ref()
            .filter(|_| program.has_barrier())
            .map(|lanes| graph.slice(lanes, &[count as isize - 1], &[count as isize], &[1]));
        Self { program, graph, placeholders, lanes, next_lane: 0, least, values: Vec::new() }
    }

    /// Lowers the next node.
    fn add(&mut self, node: &ProgramNode) {
        let inputs: Vec<Operand> = node.inputs.iter().map(|input| self.operand(input)).collect();
        let mut scalars = Vec::with_capacity(node.scalars.len());
        for &kind in &node.scalars {
            scalars.push((kind, self.next_lane));
            self.next_lane += kind.lanes();
        }
        let cx = Lowering::new(&self.graph, self.lanes.as_ref(), scalars);
        let value = node.op.lower(&cx, &inputs, &node.output);
        self.values.push(value);
    }

    /// An operand in the shape in which the node reads it, behind a barrier if it needs one.
    fn operand(&self, input: &OperandRef) -> Operand {
        let (tensor, ty, is_zeros) = match input.source {
            Source::Feed(at) => (&self.placeholders[at as usize].0, &self.program.feeds[at as usize], false),
            Source::Node(at) => {
                let node = &self.program.nodes[at as usize];
                (&self.values[at as usize], &node.output, node.op.is_zeros())
            }
        };
        let seen = if ty.shape == input.shape { tensor.clone() } else { self.graph.reshape(tensor, &input.shape) };
        let tensor = match self.least.as_ref().filter(|_| input.barrier) {
            Some(least) => {
                let least = match ty.dtype {
                    DType::F32 => least.clone(),
                    dtype => self.graph.cast(least, stored(dtype)),
                };
                self.graph.maximum_with_nan_propagation(&seen, &least)
            }
            None => seen,
        };
        Operand { tensor, ty: TensorType::new(ty.dtype, input.shape.clone()), is_zeros }
    }

    /// The tensors of the program's outputs. The executable names its results by tensor, and a fed tensor cannot be a
    /// result: a lowering that added no node gets one here.
    fn targets(&self) -> Vec<ffi::Tensor> {
        let mut targets: Vec<ffi::Tensor> = Vec::with_capacity(self.program.outputs.len());
        for &output in &self.program.outputs {
            let tensor = &self.values[output as usize];
            let taken = targets.contains(tensor) || self.placeholders.iter().any(|(feed, _)| feed == tensor);
            targets.push(if taken { self.graph.identity(tensor) } else { tensor.clone() });
        }
        targets
    }
}
