//! Which values are views of another value in memory, and how the others are made.
//!
//! A [`View`] is a root with an offset and a stride per axis, in elements. Reshapes (where strides can express them),
//! transposes, broadcasts, slices and reversals are views; so are values that an operation leaves as they are. Loops,
//! matrix products and, where that changes no order, reductions read views in place; every other kernel gets a packed
//! copy.

use crate::ir::{ElementwiseOp, Leaf, Node, Nodes, Op, TensorType, UnaryOp, ValueId, ViewOp};
use crate::kernels::{KernelOp, strided};

/// A strided view of `root`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    pub root: ValueId,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
}

/// How a root is made.
#[derive(Clone, Copy, Debug)]
pub enum Work<'g> {
    /// By an operation of a loop.
    Loop(LoopOp),
    /// As a copy of its operand: the bits of elements of another size.
    Copy,
    MatMul,
    Kernel(&'g KernelOp),
}

/// What a loop computes for each element.
#[derive(Clone, Copy, Debug)]
pub enum LoopOp {
    Compute(ElementwiseOp),
    /// The operand's element, read in the order of its view: a reshape that strides cannot express.
    Reorder,
}

/// What the compiler makes of a node.
enum Value<'g> {
    /// Memory that exists already: a leaf's own, or part of an operand's.
    View(View),
    Made(Work<'g>),
}

/// The view that each value is, and how the roots are made. A root is a view of itself, and a leaf is not made; a splat
/// is one element with strides of 0.
pub fn resolve(nodes: &Nodes) -> (Vec<View>, Vec<Option<Work<'_>>>) {
    let mut views: Vec<View> = Vec::with_capacity(nodes.len());
    let mut works = Vec::with_capacity(nodes.len());
    for (id, node) in nodes.iter() {
        let (view, work) = match value(nodes, &views, id, node) {
            Value::View(view) => (view, None),
            Value::Made(work) => (View::packed(id, &node.output.shape), Some(work)),
        };
        views.push(view);
        works.push(work);
    }
    (views, works)
}

fn value<'g>(nodes: &Nodes, views: &[View], id: ValueId, node: &'g Node) -> Value<'g> {
    let TensorType { dtype, shape } = &node.output;
    let x = || &views[node.inputs[0].0 as usize];
    let from = || nodes.ty(node.inputs[0]).dtype;
    let view_or = |view: Option<View>, work| view.map_or(Value::Made(work), Value::View);
    match &node.op {
        Op::Leaf(Leaf::Placeholder | Leaf::Constant(_)) => Value::View(View::packed(id, shape)),
        Op::Leaf(Leaf::Splat(_)) => {
            Value::View(View { root: id, offset: 0, shape: shape.clone(), strides: vec![0; shape.len()] })
        }
        Op::View(ViewOp::Reshape) => view_or(x().reshape(shape), Work::Loop(LoopOp::Reorder)),
        Op::View(ViewOp::Transpose { perm }) => Value::View(x().transpose(perm)),
        Op::View(ViewOp::Broadcast) => Value::View(x().broadcast(shape)),
        Op::View(ViewOp::Slice { starts, strides }) => Value::View(x().slice(starts, strides, shape)),
        Op::View(ViewOp::Reverse { axes }) => Value::View(x().reverse(axes)),
        Op::View(ViewOp::Reinterpret) => {
            let same_size = from().size() == dtype.size();
            view_or(same_size.then(|| x().reshape(shape)).flatten(), Work::Copy)
        }
        Op::Elementwise(ElementwiseOp::Unary(UnaryOp::Identity)) => Value::View(x().clone()),
        Op::Elementwise(ElementwiseOp::Cast) if from() == *dtype => Value::View(x().clone()),
        Op::Elementwise(op) => Value::Made(Work::Loop(LoopOp::Compute(*op))),
        Op::MatMul => Value::Made(Work::MatMul),
        Op::Kernel(op) => Value::Made(Work::Kernel(op)),
    }
}

/// Row-major strides.
pub fn packed_strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    strided::pack(shape, &mut strides);
    strides
}

impl View {
    /// The view without repetitions: along axes where it repeats elements it has one of them.
    pub fn once(&self) -> Self {
        let shape = self.shape.iter().zip(&self.strides).map(|(&extent, &stride)| if stride == 0 { 1 } else { extent });
        Self { shape: shape.collect(), ..self.clone() }
    }

    /// Strides of another memory that has the elements of [`Self::once`], for all elements of the view.
    pub fn repeating(&self, strides: Vec<isize>) -> Vec<isize> {
        strides.into_iter().zip(&self.strides).map(|(other, &own)| if own == 0 { 0 } else { other }).collect()
    }

    /// All of `root`.
    pub fn packed(root: ValueId, shape: &[usize]) -> Self {
        Self { root, offset: 0, shape: shape.to_vec(), strides: packed_strides(shape) }
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the elements are consecutive, from `offset` on.
    pub fn is_consecutive(&self) -> bool {
        let packed = packed_strides(&self.shape);
        self.shape.iter().zip(&self.strides).zip(packed).all(|((&extent, &s), p)| extent == 1 || s == p)
    }

    pub fn transpose(&self, perm: &[usize]) -> Self {
        let shape = perm.iter().map(|&axis| self.shape[axis]).collect();
        let strides = perm.iter().map(|&axis| self.strides[axis]).collect();
        Self { shape, strides, ..*self }
    }

    /// NumPy's broadcast: axes are matched from the last one on, extents of 1 repeat.
    pub fn broadcast(&self, to: &[usize]) -> Self {
        let new = to.len().checked_sub(self.shape.len()).expect("a broadcast keeps or adds axes");
        let strides = (0..to.len()).map(|axis| match axis.checked_sub(new) {
            Some(own) if self.shape[own] == to[axis] => self.strides[own],
            Some(own) => {
                assert_eq!(self.shape[own], 1, "{:?} does not broadcast to {to:?}", self.shape);
                0
            }
            None => 0,
        });
        Self { strides: strides.collect(), shape: to.to_vec(), ..*self }
    }

    pub fn slice(&self, starts: &[usize], steps: &[isize], shape: &[usize]) -> Self {
        let start: isize = starts.iter().zip(&self.strides).map(|(&start, &s)| start as isize * s).sum();
        let strides = self.strides.iter().zip(steps).map(|(&s, &step)| s * step).collect();
        Self { offset: self.offset.wrapping_add_signed(start), strides, shape: shape.to_vec(), ..*self }
    }

    fn reverse(&self, axes: &[usize]) -> Self {
        let mut view = self.clone();
        for &axis in axes.iter().filter(|&&axis| self.shape[axis] > 1) {
            let last = (self.shape[axis] - 1) as isize * self.strides[axis];
            view.offset = view.offset.wrapping_add_signed(last);
            view.strides[axis] = -self.strides[axis];
        }
        view
    }

    /// The same elements in another shape, if strides can express it: every new axis must lie within a run of old
    /// axes that are one longer axis.
    pub fn reshape(&self, to: &[usize]) -> Option<Self> {
        let mut runs: Vec<(usize, isize)> = Vec::new();
        for (&extent, &stride) in self.shape.iter().zip(&self.strides).filter(|(extent, _)| **extent != 1) {
            match runs.last_mut() {
                Some(outer) if outer.1 == stride * extent as isize => *outer = (outer.0 * extent, stride),
                _ => runs.push((extent, stride)),
            }
        }
        let mut strides = vec![0; to.len()];
        let (mut left, mut step) = (1, 0);
        for (axis, &extent) in to.iter().enumerate().rev().filter(|(_, extent)| **extent != 1) {
            if left == 1 {
                (left, step) = runs.pop()?;
            }
            if !left.is_multiple_of(extent) {
                return None;
            }
            strides[axis] = step;
            step *= extent as isize;
            left /= extent;
        }
        Some(Self { strides, shape: to.to_vec(), ..*self })
    }
}

#[cfg(test)]
mod tests;
