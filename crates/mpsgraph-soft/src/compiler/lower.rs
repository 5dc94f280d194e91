//! Makes steps of groups and decides which values exist in memory at all.
//!
//! A value is stored if another group or the caller needs it; a target is written straight to the caller's memory
//! by the step that makes it, unless it is a view of something else, which a copy at the end resolves.

use super::Job;
use super::fusion::{self, Group};
use super::step::{Copy, Packed, Step, Storage, name};
use super::views::{View, packed_strides};
use crate::ir::{DType, Node, Op, TensorType, ValueId};
use crate::kernels::elementwise::load::Geometry;
use crate::kernels::elementwise::{Builder, Register};
use crate::kernels::matmul::{MatMul, Operand};
use std::collections::{HashMap, HashSet};

/// Steps, and the memory that they refer to.
#[derive(Debug, Default)]
pub struct Lowered {
    pub steps: Vec<Step>,
    /// Contents of `Storage::Constant`.
    pub constants: Vec<Vec<u8>>,
    /// Sizes of `Storage::Scratch`.
    pub scratch: Vec<usize>,
}

/// All steps of `job`.
pub fn lower(job: &Job, views: &[View], groups: &[Group]) -> Lowered {
    let mut lowering = Lowering {
        job,
        views,
        storage: HashMap::new(),
        copies: HashMap::new(),
        loads: HashMap::new(),
        stored: stored(job, views, groups),
        out: Lowered::default(),
    };
    lowering.bind_feeds_and_targets();
    for group in groups {
        let empty = job.graph.ty(group.nodes[0]).elements() == 0;
        match group.elementwise {
            _ if empty => {}
            true => lowering.elementwise(group),
            false => lowering.single(group.nodes[0]),
        }
    }
    lowering.copy_targets();
    lowering.out
}

/// A strided operand is read across cache lines: innermost runs longer than this, in total more elements than
/// `LARGE_COPY`, are turned round by a blocked copy first.
const LONG_STRIDED_RUN: usize = 512;
const LARGE_COPY: usize = 1 << 16;

struct Lowering<'a> {
    job: &'a Job,
    views: &'a [View],
    /// Where roots are.
    storage: HashMap<ValueId, Storage>,
    /// Packed copies of views, by element size.
    copies: HashMap<(View, usize), Storage>,
    /// Values from outside of the group being lowered.
    loads: HashMap<(View, DType), Register>,
    /// Roots that are needed in memory.
    stored: HashSet<ValueId>,
    out: Lowered,
}

impl Lowering<'_> {
    fn ty(&self, id: ValueId) -> &TensorType {
        self.job.graph.ty(id)
    }

    fn bind_feeds_and_targets(&mut self) {
        for (at, &feed) in self.job.feeds.iter().enumerate() {
            self.storage.entry(feed).or_insert(Storage::Input(at));
        }
        for (at, &target) in self.job.targets.iter().enumerate() {
            let view = &self.views[target.0 as usize];
            let root = self.job.graph.node(view.root);
            let made = !matches!(root.op, Op::Placeholder | Op::Constant(_) | Op::Splat(_));
            let whole = view.offset == 0 && view.is_consecutive() && view.elements() == root.output.elements();
            if made && whole {
                self.storage.entry(view.root).or_insert(Storage::Output(at));
            }
        }
    }

    /// Targets that no step has written: views, feeds, constants and second mentions.
    fn copy_targets(&mut self) {
        for (at, &target) in self.job.targets.iter().enumerate() {
            let view = &self.views[target.0 as usize];
            let size = self.ty(target).dtype.size();
            if view.elements() != 0 && self.root(view.root) != Storage::Output(at) {
                self.copy(view, size, Storage::Output(at));
            }
        }
    }

    fn scratch(&mut self, bytes: usize) -> Storage {
        self.out.scratch.push(bytes);
        Storage::Scratch(self.out.scratch.len() - 1)
    }

    /// Where a value that a step makes goes.
    fn made(&mut self, id: ValueId) -> Storage {
        if let Some(&storage) = self.storage.get(&id) {
            return storage;
        }
        let storage = self.scratch(self.ty(id).bytes());
        self.storage.insert(id, storage);
        storage
    }

    /// Where a root is; constants get their place when first asked for.
    fn root(&mut self, id: ValueId) -> Storage {
        if let Some(&storage) = self.storage.get(&id) {
            return storage;
        }
        let Node { op, output, .. } = self.job.graph.node(id);
        let bytes = match op {
            Op::Constant(bytes) => bytes.to_vec(),
            Op::Splat(bytes) => bytes[..output.dtype.size()].to_vec(),
            other => unreachable!("{} is read before it is made", name(other)),
        };
        self.out.constants.push(bytes);
        let storage = Storage::Constant(self.out.constants.len() - 1);
        self.storage.insert(id, storage);
        storage
    }

    fn copy(&mut self, view: &View, size: usize, to: Storage) {
        let from = self.root(view.root);
        let View { offset, shape, strides, .. } = view.clone();
        let to_strides = packed_strides(&shape);
        self.out.steps.push(Step::Copy(Copy { size, from, offset, shape, strides, to, to_strides }));
    }

    /// A packed copy of `view`, made once.
    fn packed_copy(&mut self, view: &View, size: usize) -> Storage {
        let key = (view.clone(), size);
        if let Some(&storage) = self.copies.get(&key) {
            return storage;
        }
        let to = self.scratch(view.elements() * size);
        self.copy(view, size, to);
        self.copies.insert(key, to);
        to
    }

    /// A step for a node that is not elementwise.
    fn single(&mut self, id: ValueId) {
        let node = self.job.graph.node(id);
        if node.op == Op::MatMul {
            return self.matmul(id);
        }
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for &input in &node.inputs {
            let (view, ty) = (&self.views[input.0 as usize], self.ty(input).clone());
            let size = ty.dtype.size();
            inputs.push(if view.is_consecutive() {
                Packed { storage: self.root(view.root), offset: view.offset * size, ty }
            } else {
                Packed { storage: self.packed_copy(view, size), offset: 0, ty }
            });
        }
        let to = self.made(id);
        self.out.steps.push(Step::Kernel { op: node.op.clone(), inputs, to, ty: node.output.clone() });
    }

    fn matmul(&mut self, id: ValueId) {
        let node = self.job.graph.node(id);
        let rank = node.output.shape.len();
        let dtype = node.output.dtype;
        let batch = &node.output.shape[..rank - 2];
        let k = self.ty(node.inputs[0]).shape.last().copied().expect("a matrix has axes");
        let mut operand = |input: ValueId| {
            let view = &self.views[input.0 as usize];
            let to: Vec<usize> = batch.iter().chain(&view.shape[view.shape.len() - 2..]).copied().collect();
            let wide = view.broadcast(&to);
            let matrix = &wide.strides[rank - 2..];
            let extents = &wide.shape[rank - 2..];
            // One axis must be consecutive for fast packing, and repeated rows or columns are none at all.
            let direct = (0..2).any(|at| matrix[at] == 1 || extents[at] == 1)
                && (0..2).all(|at| matrix[at] != 0 || extents[at] == 1);
            if direct {
                return (self.root(view.root), Operand { offset: wide.offset, strides: wide.strides });
            }
            let storage = self.packed_copy(view, dtype.size());
            let packed = View { offset: 0, strides: packed_strides(&view.shape), ..view.clone() };
            (storage, Operand { offset: 0, strides: packed.broadcast(&to).strides })
        };
        let (lhs, left) = operand(node.inputs[0]);
        let (rhs, right) = operand(node.inputs[1]);
        let product = MatMul::new(dtype, &node.output.shape, k, &left, &right);
        let to = self.made(id);
        self.out.steps.push(Step::MatMul { product, lhs, rhs, to });
    }

    /// One loop for a group.
    fn elementwise(&mut self, group: &Group) {
        let graph = &self.job.graph;
        let last = *group.nodes.last().expect("a group has nodes");
        if let ([only], Op::Reshape) = (&group.nodes[..], &graph.node(last).op) {
            let view = self.views[graph.node(*only).inputs[0].0 as usize].clone();
            let to = self.made(*only);
            return self.copy(&view, self.ty(*only).dtype.size(), to);
        }
        let mut builder = Builder::new(self.ty(last).elements());
        let mut registers: HashMap<ValueId, Register> = HashMap::new();
        let (mut operands, mut outputs, mut names) = (Vec::new(), Vec::new(), Vec::new());
        self.loads.clear();
        for &id in &group.nodes {
            let node = graph.node(id);
            let mut sources = Vec::with_capacity(3);
            for (view, &input) in fusion::operands(graph, self.views, id).into_iter().zip(&node.inputs) {
                let dtype = graph.ty(input).dtype;
                let inside = registers.get(&view.root).copied();
                sources.push(inside.unwrap_or_else(|| self.load(&mut builder, &mut operands, view, dtype)));
            }
            let value = compute(&mut builder, node, graph.ty(node.inputs[0]).dtype, &sources);
            registers.insert(id, value);
            names.push(name(&node.op));
            if self.stored.contains(&id) {
                builder.store(node.output.dtype, value);
                outputs.push(self.made(id));
            }
        }
        let (program, shape) = (builder.finish(), self.ty(last).shape.clone());
        self.out.steps.push(Step::Loop { program, operands, outputs, names, shape });
    }

    /// An operand from outside of the group.
    fn load(&mut self, builder: &mut Builder, operands: &mut Vec<Storage>, view: View, dtype: DType) -> Register {
        if let Some(&register) = self.loads.get(&(view.clone(), dtype)) {
            return register;
        }
        let mut geometry = Geometry::new(view.offset, &view.shape, &view.strides);
        let mut storage = self.root(view.root);
        let strided = !matches!(geometry.step(), -1..=1) && geometry.run() > LONG_STRIDED_RUN;
        if strided && geometry.elements() >= LARGE_COPY {
            storage = self.packed_copy(&view, dtype.size());
            geometry = Geometry::new(0, &[view.elements()], &[1]);
        }
        let operand = operands.iter().position(|&known| known == storage).unwrap_or_else(|| {
            operands.push(storage);
            operands.len() - 1
        });
        let register = builder.load(operand, dtype, geometry);
        self.loads.insert((view, dtype), register);
        register
    }
}

/// `op` as instructions; `dtype` is that of the first operand.
fn compute(builder: &mut Builder, node: &Node, dtype: DType, x: &[Register]) -> Register {
    match &node.op {
        Op::Unary(op) => builder.unary(*op, dtype, x[0]),
        Op::Binary(op) => builder.binary(*op, dtype, x[0], x[1]),
        Op::Select => builder.select(node.output.dtype, x[0], x[1], x[2]),
        Op::Clamp => builder.clamp(dtype, x[0], x[1], x[2]),
        Op::Cast => builder.cast(dtype, node.output.dtype, x[0]),
        Op::Reshape => x[0],
        other => unreachable!("{} is not elementwise", name(other)),
    }
}

/// Roots that the caller or another group than their own needs.
fn stored(job: &Job, views: &[View], groups: &[Group]) -> HashSet<ValueId> {
    let mut stored: HashSet<ValueId> = job.targets.iter().map(|target| views[target.0 as usize].root).collect();
    for group in groups {
        for &id in &group.nodes {
            let roots = job.graph.node(id).inputs.iter().map(|input| views[input.0 as usize].root);
            stored.extend(roots.filter(|root| group.nodes.binary_search(root).is_err()));
        }
    }
    stored
}
