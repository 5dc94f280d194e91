//! Makes steps of groups and decides which values are stored in memory.
//!
//! A value is stored if another group or the caller needs it; the step that makes a target writes it straight to the
//! caller's memory, unless the target is a view of another value; then a copy at the end writes it.

mod loops;
mod movements;

use super::Job;
use super::fusion::Group;
use super::rotations::{self, Rotation};
use super::step::{Copy, Operand, Step};
use super::views::{View, packed_strides};
use crate::ir::{DType, Leaf, Node, Op, TensorType, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::matmul::{self, MatMul, Side};
use crate::kernels::storage::Storage;
use movements::Region;
use std::collections::{HashMap, HashSet};

/// Steps, and the memory that they refer to.
#[derive(Debug, Default)]
pub struct Parts {
    pub steps: Vec<Step>,
    /// Contents of `Storage::Constant`.
    pub constants: Vec<Vec<u8>>,
    /// Sizes of `Storage::Scratch`.
    pub scratch: Vec<usize>,
}

/// All steps of `job`.
pub fn assemble(job: &Job, views: &[View], groups: &[Group<'_>]) -> Parts {
    let readers = readers(job, views, groups);
    let mut assembler = Assembler {
        job,
        views,
        storage: HashMap::new(),
        copies: HashMap::new(),
        stored: stored_roots(job, views, groups),
        joined: movements::joined(job, views, groups, &readers),
        rotations: rotations::find(job, views, groups, &readers),
        rotated: HashSet::new(),
        out: Parts::default(),
    };
    assembler.bind_feeds_and_targets();
    for group in groups {
        if group.values().iter().any(|&id| job.nodes.ty(id).elements() == 0) {
            continue;
        }
        match group {
            Group::Loop(members) if members.iter().any(|(id, _)| assembler.rotated.contains(id)) => {}
            Group::Loop(members) => assembler.fused(members),
            Group::Copy(id) => assembler.reinterpreted(*id),
            Group::MatMul(id) => assembler.matmul(*id),
            Group::Kernel(id, _) if assembler.joined.contains(id) => {}
            Group::Kernel(id, op) => assembler.kernel(*id, op),
        }
    }
    assembler.copy_targets();
    assembler.out
}

struct Assembler<'a> {
    job: &'a Job,
    views: &'a [View],
    /// Where the roots are stored.
    storage: HashMap<ValueId, Storage>,
    /// Packed copies of views, by element size.
    copies: HashMap<(View, usize), Storage>,
    /// Roots that are needed in memory.
    stored: HashSet<ValueId>,
    /// Concatenations that are nothing but a part of another one.
    joined: HashSet<ValueId>,
    /// Of products, by those.
    rotations: HashMap<ValueId, Rotation>,
    /// Sums that a product has made.
    rotated: HashSet<ValueId>,
    out: Parts,
}

impl Assembler<'_> {
    fn ty(&self, id: ValueId) -> &TensorType {
        self.job.nodes.ty(id)
    }

    fn bind_feeds_and_targets(&mut self) {
        for (at, &feed) in self.job.feeds.iter().enumerate() {
            self.storage.entry(feed).or_insert(Storage::Input(at));
        }
        for (at, &target) in self.job.targets.iter().enumerate() {
            let view = &self.views[target.0 as usize];
            if !self.is_made(view.root) || !self.is_whole(view) {
                continue;
            }
            let place = *self.storage.entry(view.root).or_insert(Storage::Output(at));
            // The bits that the target is read from are made in its place.
            let bits = self
                .bits_of(view.root)
                .filter(|&bits| self.is_made(bits) && self.ty(bits).dtype.size() <= self.ty(target).dtype.size());
            if let Some(bits) = bits.filter(|_| place == Storage::Output(at)) {
                self.storage.entry(bits).or_insert(place);
            }
        }
    }

    /// Whether a step makes this root.
    fn is_made(&self, root: ValueId) -> bool {
        !matches!(self.job.nodes.node(root).op, Op::Leaf(_))
    }

    /// Whether the view is all of its root in its order.
    fn is_whole(&self, view: &View) -> bool {
        view.offset == 0 && view.is_consecutive() && view.elements() == self.ty(view.root).elements()
    }

    /// The root whose bits, all of them in their order, this root is made of.
    fn bits_of(&self, root: ValueId) -> Option<ValueId> {
        let Node { op, inputs, .. } = self.job.nodes.node(root);
        let input = inputs.first().filter(|_| *op == Op::View(ViewOp::Reinterpret))?;
        let view = &self.views[input.0 as usize];
        self.is_whole(view).then_some(view.root)
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

    /// The memory for a value that a step makes.
    fn made(&mut self, id: ValueId) -> Storage {
        if let Some(&storage) = self.storage.get(&id) {
            return storage;
        }
        let storage = self.scratch(self.ty(id).bytes());
        self.storage.insert(id, storage);
        storage
    }

    /// The memory of a root; constants get theirs when it is first asked for.
    fn root(&mut self, id: ValueId) -> Storage {
        if let Some(&storage) = self.storage.get(&id) {
            return storage;
        }
        let Node { op, output, .. } = self.job.nodes.node(id);
        let bytes = match op {
            Op::Leaf(Leaf::Constant(bytes)) => bytes.to_vec(),
            Op::Leaf(Leaf::Splat(bytes)) => bytes[..output.dtype.size()].to_vec(),
            Op::Leaf(Leaf::Placeholder) | Op::Elementwise(_) | Op::View(_) | Op::MatMul | Op::Kernel(_) => {
                unreachable!("{op:?} is read before it is made")
            }
        };
        self.out.constants.push(bytes);
        let storage = Storage::Constant(self.out.constants.len() - 1);
        self.storage.insert(id, storage);
        storage
    }

    fn copy(&mut self, view: &View, size: usize, to: Storage) {
        self.copy_into(view, size, to, (0, packed_strides(&view.shape)));
    }

    /// A copy to a region of `to`, which has an offset and strides.
    fn copy_into(&mut self, view: &View, size: usize, to: Storage, (to_offset, to_strides): Region) {
        let from = self.root(view.root);
        let View { offset, shape, strides, .. } = view.clone();
        self.out.steps.push(Step::Copy(Copy { size, from, offset, shape, strides, to, to_offset, to_strides }));
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

    /// A step for a kernel, whose operands are packed, but for those of reductions that can read them as they are.
    fn kernel(&mut self, id: ValueId, op: &KernelOp) {
        if let KernelOp::Movement(movement) = op
            && self.moved(id, movement)
        {
            return;
        }
        let node = self.job.nodes.node(id);
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for &input in &node.inputs {
            let (view, ty) = (&self.views[input.0 as usize], self.ty(input).clone());
            let size = ty.dtype.size();
            let strides = if view.is_consecutive() { None } else { strides_for(op, view) };
            inputs.push(if view.is_consecutive() || strides.is_some() {
                Operand { storage: self.root(view.root), offset: view.offset * size, ty, strides }
            } else {
                Operand { storage: self.packed_copy(view, size), offset: 0, ty, strides: None }
            });
        }
        let to = self.made(id);
        let types: Vec<&TensorType> = inputs.iter().map(|input| &input.ty).collect();
        let bytes = op.scratch_bytes(&types, &node.output);
        let scratch = (bytes > 0).then(|| self.scratch(bytes));
        let (op, ty) = (op.clone(), node.output.clone());
        self.out.steps.push(Step::Kernel { op, method: node.method, inputs, to, ty, scratch });
    }

    /// Bits as elements of another size: the same memory, where its alignment is certain.
    fn reinterpreted(&mut self, id: ValueId) {
        if let Some(bits) = self.bits_of(id) {
            let (from, own) = (self.root(bits), self.storage.get(&id).copied());
            let aligned = matches!(from, Storage::Scratch(_) | Storage::Constant(_))
                || self.ty(id).dtype.size() <= self.ty(bits).dtype.size();
            if own == Some(from) {
                return;
            }
            if own.is_none() && aligned {
                self.storage.insert(id, from);
                return;
            }
        }
        self.reread(id);
    }

    /// A copy of a node's operand, in the order in which its view reads it.
    fn reread(&mut self, id: ValueId) {
        let [input] = self.job.nodes.node(id).inputs[..] else { unreachable!("a view has one operand") };
        let to = self.made(id);
        self.copy(&self.views[input.0 as usize], self.ty(input).dtype.size(), to);
    }

    /// A matrix product, rotated if the loop behind it does that.
    fn matmul(&mut self, id: ValueId) {
        let Node { inputs, output, .. } = self.job.nodes.node(id);
        let TensorType { dtype, shape } = output;
        let &[left, right] = &inputs[..] else { unreachable!("a product has two operands") };
        let k = self.ty(left).shape.last().copied().expect("a matrix has axes");
        let [(lhs, a), (rhs, b)] = [left, right].map(|input| self.matrices(input, shape));
        let mut product = MatMul::new(*dtype, shape, k, &a, &b);
        for (side, input, storage) in [(Side::Left, left, lhs), (Side::Right, right, rhs)] {
            let root = self.views[input.0 as usize].root;
            // Of a constant, not of a copy of it.
            if let (DType::F32, Op::Leaf(Leaf::Constant(bytes))) = (dtype, &self.job.nodes.node(root).op)
                && self.storage.get(&root) == Some(&storage)
            {
                product = product.with_constant(side, bytes);
            }
        }
        let (mut made, mut tables) = (id, None);
        if let Some(&Rotation { sum, own, other }) = self.rotations.get(&id)
            && product.can_rotate()
        {
            (made, tables) = (sum, Some([own, other].map(|table| self.root(table))));
            self.rotated.insert(sum);
        }
        let to = self.made(made);
        self.out.steps.push(Step::MatMul { product, lhs, rhs, tables, to });
    }

    /// Where the matrices of an operand are, for a product of this shape to whose batch they are broadcast: where its
    /// view reads them if `gemm` packs such matrices fast, or in a packed copy.
    fn matrices(&mut self, input: ValueId, product: &[usize]) -> (Storage, matmul::Operand) {
        let view = &self.views[input.0 as usize];
        let rank = product.len();
        let to: Vec<usize> = product[..rank - 2].iter().chain(&view.shape[view.shape.len() - 2..]).copied().collect();
        let wide = view.broadcast(&to);
        let (strides, extents) = (&wide.strides[rank - 2..], &wide.shape[rank - 2..]);
        // One axis is consecutive, and no row or column is repeated (stride 0).
        let is_direct = (0..2).any(|at| strides[at] == 1 || extents[at] == 1)
            && (0..2).all(|at| strides[at] != 0 || extents[at] == 1);
        if is_direct {
            return (self.root(view.root), matmul::Operand { offset: wide.offset, strides: wide.strides });
        }
        let storage = self.packed_copy(view, self.ty(input).dtype.size());
        let packed = View { offset: 0, strides: packed_strides(&view.shape), ..view.clone() };
        (storage, matmul::Operand { offset: 0, strides: packed.broadcast(&to).strides })
    }
}

/// The strides of the view, if the kernel reads it as it is.
fn strides_for(op: &KernelOp, view: &View) -> Option<Vec<usize>> {
    let KernelOp::Reduce(reduce) = op else { return None };
    let strides: Vec<usize> = view.strides.iter().map(|&stride| usize::try_from(stride).ok()).collect::<Option<_>>()?;
    reduce.reads(&view.shape, &strides).then_some(strides)
}

/// How often groups read each root, or the caller asks for it.
fn readers(job: &Job, views: &[View], groups: &[Group<'_>]) -> Vec<usize> {
    let mut readers = vec![0; job.nodes.len()];
    let read = groups.iter().flat_map(Group::values).flat_map(|id| &job.nodes.node(id).inputs).chain(&job.targets);
    read.for_each(|id| readers[views[id.0 as usize].root.0 as usize] += 1);
    readers
}

/// Roots that the caller or a group other than their own needs.
fn stored_roots(job: &Job, views: &[View], groups: &[Group<'_>]) -> HashSet<ValueId> {
    let mut stored: HashSet<ValueId> = job.targets.iter().map(|target| views[target.0 as usize].root).collect();
    for group in groups {
        let own = group.values();
        for &id in &own {
            let roots = job.nodes.node(id).inputs.iter().map(|input| views[input.0 as usize].root);
            stored.extend(roots.filter(|root| own.binary_search(root).is_err()));
        }
    }
    stored
}
