//! From a program to an executable: a fresh graph, a placeholder per fed tensor and two for all scalars, each op's own
//! lowering, and one compilation.
//!
//! The graph is dropped afterwards, because one node that MPSGraph finds invalid makes its whole graph useless.

use std::collections::{HashMap, HashSet};

use burn_backend::{DType, Shape};
use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::program::{OperandRef, Program, ProgramNode, Source};
use crate::dtype::stored;
use crate::ffi::{self, DataType, Executable, Graph, GraphDevice, Optimization, ShapedType};
use crate::lowering::conversion::{low_bits, signed};
use crate::lowering::fed::FedScalars;
use crate::lowering::scalar::{Layout, ScalarKind};
use crate::lowering::shared::Shared;
use crate::lowering::{Lowering, Operand};
use crate::tensor_type::TensorType;

/// An executable with the order in which it takes and gives tensors.
pub(super) struct Compiled {
    pub executable: Executable,
    /// The types of what is fed; see [`Program::fed_types`].
    pub fed: Vec<TensorType>,
    /// For each of the executable's inputs, its number in `fed`.
    pub feed_order: Vec<usize>,
    /// Where in the lanes the scalars are.
    pub layout: Layout,
    /// For each of the executable's results, the number of the result.
    pub target_order: Vec<usize>,
    /// For each of the program's outputs, the number of its result. Outputs that are certain to be equal share one.
    pub results: Vec<usize>,
    /// Bytes that a run may need as scratch memory.
    pub scratch_bytes: usize,
}

/// The level for a program if level 1 is asked for: that is for f32 alone, because it moves what has 16 bits or fewer
/// to the Neural Engine (Metal.jl).
pub(super) fn level(program: &Program, layout: &Layout, asked: bool) -> Optimization {
    let is_f32 = |ty: &TensorType| ty.dtype == DType::F32;
    let is_fine = |node: &ProgramNode| is_f32(&node.output) && node.op.fits_level_1();
    let nodes = || program.schedule.iter().map(|&at| &program.nodes[at as usize]);
    let all_fine = asked && layout.integers == 0 && program.feeds.iter().all(is_f32) && nodes().all(is_fine);
    if all_fine { Optimization::Level1 } else { Optimization::Level0 }
}

/// Compiles `program`, whose ops were all checked when they were recorded.
pub(super) fn compile(program: &Program, layout: Layout, level: Optimization, device: &GraphDevice) -> Compiled {
    let fed = program.fed_types(&layout);
    let mut builder = GraphBuilder::begin(program, &layout, &fed);
    for &at in &program.schedule {
        builder.add(at as usize);
    }
    let (targets, results) = builder.targets();
    let GraphBuilder { graph, placeholders, .. } = builder;
    let given: Vec<(&ffi::Tensor, &ShapedType)> = placeholders.iter().map(|(tensor, ty)| (tensor, ty)).collect();
    let targets: Vec<&ffi::Tensor> = targets.iter().collect();
    let executable = graph.compile(device, &given, &targets, level);
    let tensors: Vec<&ffi::Tensor> = placeholders.iter().map(|(tensor, _)| tensor).collect();
    Compiled {
        fed,
        feed_order: executable.feed_order(&tensors),
        target_order: executable.target_order(&targets),
        executable,
        layout,
        results,
        scratch_bytes: program.inner_bytes(),
    }
}

/// `x` behind a barrier: the maximum with minus infinity, which is fed, so that the compiler does not know it. For
/// integers it is the sum with a 0 that is made of the fed number, because Apple does not document what minus infinity
/// is as an integer; of [`signed`] numbers, which have kernels.
fn hidden(graph: &Graph, x: &ffi::Tensor, dtype: DType, least: &ffi::Tensor) -> ffi::Tensor {
    if dtype.is_float() {
        let least = if dtype == DType::F32 { least.clone() } else { graph.cast(least, stored(dtype)) };
        return graph.maximum_with_nan_propagation(x, &least);
    }
    let is_positive = graph.greater_than(least, &graph.constant_with_scalar(0.0, &[1], DataType::F32));
    let bits = signed(dtype);
    let sum = graph.addition(&low_bits(graph, x, dtype, bits), &graph.cast(&is_positive, stored(bits)));
    low_bits(graph, &sum, bits, dtype)
}

/// A program's graph while its nodes are added one after the other.
struct GraphBuilder<'a> {
    program: &'a Program,
    graph: Graph,
    /// One for each type of [`Program::fed_types`].
    placeholders: Vec<(ffi::Tensor, ShapedType)>,
    fed: FedScalars,
    shared: Shared,
    /// For each node the first lanes of its scalars.
    lanes: Vec<SmallVec<[u32; 2]>>,
    /// Minus infinity, if an operand is read through a barrier.
    least: Option<ffi::Tensor>,
    /// The tensor of each node so far.
    values: Vec<Option<ffi::Tensor>>,
    /// Nodes by what they compute and the lanes of their scalars.
    known: HashMap<(ProgramNode, SmallVec<[u32; 2]>), u32, FixedState>,
    /// For each node so far the first one that computes the same.
    same_as: Vec<u32>,
    /// Tensors as they are read: in another shape, or behind a barrier. All who read one so read one node.
    views: HashMap<(ffi::Tensor, Option<Shape>), ffi::Tensor, FixedState>,
}

impl<'a> GraphBuilder<'a> {
    /// The graph with its placeholders, which are for what is `fed`.
    fn begin(program: &'a Program, layout: &Layout, fed: &[TensorType]) -> Self {
        let graph = Graph::new();
        let placeholder = |ty: &TensorType| {
            let dtype = stored(ty.dtype);
            (graph.placeholder(&ty.shape, dtype), ShapedType::new(&ty.shape, dtype))
        };
        let placeholders: Vec<_> = fed.iter().map(placeholder).collect();
        let lanes = |dtype: DType| {
            let mut lanes = fed.iter().zip(&placeholders).skip(program.feeds.len());
            lanes.find(|(ty, _)| ty.dtype == dtype).map(|(ty, (lanes, _))| (lanes.clone(), ty.elements()))
        };
        let fed = FedScalars::new(lanes(DType::F32), lanes(DType::I32));
        let lanes = program.lanes(layout);
        // The scalar of the barriers comes last.
        let least = layout.first.get(lanes.iter().map(SmallVec::len).sum::<usize>());
        let least = least.map(|&lane| fed.number(&graph, ScalarKind::Float, lane, DType::F32));
        Self {
            lanes,
            values: vec![None; program.nodes.len()],
            known: HashMap::default(),
            same_as: (0..program.nodes.len() as u32).collect(),
            program,
            graph,
            placeholders,
            fed,
            shared: Shared::default(),
            least,
            views: HashMap::default(),
        }
    }

    /// Lowers a node whose operands are lowered, unless an earlier one computes the same.
    ///
    /// MPSGraph's compiler may merge such nodes, and nobody has reported whether a value that is two results then
    /// fills both buffers.
    fn add(&mut self, at: usize) {
        let program = self.program;
        let node = &program.nodes[at];
        let mut expression = node.clone();
        for input in &mut expression.inputs {
            if let Source::Node(producer) = &mut input.source {
                *producer = self.same_as[*producer as usize];
            }
        }
        let first = *self.known.entry((expression, self.lanes[at].clone())).or_insert(at as u32);
        self.same_as[at] = first;
        if first != at as u32 {
            return;
        }
        let inputs: Vec<Operand> = node.inputs.iter().map(|input| self.operand(input)).collect();
        let scalars = node.scalars.iter().copied().zip(self.lanes[at].iter().copied()).collect();
        let cx = Lowering::new(&self.graph, &self.fed, &self.shared, scalars);
        let value = node.op.lower(&cx, &inputs, &node.output);
        self.values[at] = Some(value);
    }

    /// The tensor of a lowered node.
    fn value(&self, node: u32) -> &ffi::Tensor {
        let first = self.same_as[node as usize];
        self.values[first as usize].as_ref().unwrap_or_else(|| unreachable!("operands are scheduled first"))
    }

    /// An operand in the shape in which the node reads it, behind a barrier if it needs one.
    fn operand(&mut self, input: &OperandRef) -> Operand {
        let (tensor, ty, is_zeros) = match input.source {
            Source::Feed(at) => (&self.placeholders[at as usize].0, &self.program.feeds[at as usize], false),
            Source::Node(at) => {
                let node = &self.program.nodes[at as usize];
                (self.value(at), &node.output, node.op.is_zeros())
            }
        };
        let mut tensor = tensor.clone();
        if ty.shape != input.shape {
            tensor = self.view(tensor, Some(&input.shape), |graph, whole| graph.reshape(whole, &input.shape));
        }
        if let Some(least) = self.least.clone().filter(|_| input.barrier) {
            tensor = self.view(tensor, None, |graph, seen| hidden(graph, seen, ty.dtype, &least));
        }
        Operand { tensor, ty: TensorType::new(ty.dtype, input.shape.clone()), is_zeros }
    }

    /// `tensor` in another shape, or behind a barrier if there is no shape: what `make` gives the first time.
    fn view(
        &mut self,
        tensor: ffi::Tensor,
        shape: Option<&Shape>,
        make: impl FnOnce(&Graph, &ffi::Tensor) -> ffi::Tensor,
    ) -> ffi::Tensor {
        let graph = &self.graph;
        let made = self.views.entry((tensor, shape.cloned()));
        made.or_insert_with_key(|(tensor, _)| make(graph, tensor)).clone()
    }

    /// The tensors of the results, and which of them each of the program's outputs is. The executable names its results
    /// by tensor, and a fed tensor cannot be a result: a lowering that added no node gets one here.
    fn targets(&self) -> (Vec<ffi::Tensor>, Vec<usize>) {
        let mut values: Vec<&ffi::Tensor> = Vec::new();
        let mut numbers: HashMap<&ffi::Tensor, usize> = HashMap::new();
        let results = self.program.outputs.iter().map(|&output| {
            let value = self.value(output);
            *numbers.entry(value).or_insert_with(|| {
                values.push(value);
                values.len() - 1
            })
        });
        let results = results.collect();
        let fed: HashSet<&ffi::Tensor> = self.placeholders.iter().map(|(feed, _)| feed).collect();
        let targets = values.into_iter().map(|value| match fed.contains(value) {
            true => self.graph.identity(value),
            false => value.clone(),
        });
        (targets.collect(), results)
    }
}
