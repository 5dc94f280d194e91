//! Which values are only another way to walk through a value that exists anyway.
//!
//! A [`View`] is a root with an offset and a stride per axis, in elements. Reshapes (where strides can express
//! them), transposes, broadcasts, slices and reversals are views; so are values that an operation leaves as they
//! are. Loops and matrix products read views in place, every other kernel gets a packed copy.

use crate::ir::{Graph, Node, Op, UnaryOp, ValueId};

/// A strided look at `root`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    pub root: ValueId,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
}

/// The view that each value is. Roots are views of themselves; a splat is one element with strides of 0.
pub fn resolve(graph: &Graph) -> Vec<View> {
    let mut views: Vec<View> = Vec::with_capacity(graph.nodes.len());
    for (at, node) in graph.nodes.iter().enumerate() {
        let view = node.inputs.first().and_then(|x| look(graph, node, &views[x.0 as usize], *x));
        views.push(view.unwrap_or_else(|| {
            let mut root = View::packed(ValueId(at as u32), &node.output.shape);
            if matches!(node.op, Op::Splat(_)) {
                root.strides.fill(0);
            }
            root
        }));
    }
    views
}

/// The value of `node` as a view of its input `x`, if it is one.
fn look(graph: &Graph, node: &Node, x: &View, id: ValueId) -> Option<View> {
    let (from, to) = (graph.ty(id), &node.output);
    match &node.op {
        Op::Unary(UnaryOp::Identity) => Some(x.clone()),
        Op::Cast if from.dtype == to.dtype => Some(x.clone()),
        Op::Reinterpret if from.dtype.size() == to.dtype.size() => x.reshape(&to.shape),
        Op::Reshape => x.reshape(&to.shape),
        Op::Transpose { perm } => Some(x.transpose(perm)),
        Op::Broadcast => Some(x.broadcast(&to.shape)),
        Op::Slice { starts, strides } => Some(x.slice(starts, strides, &to.shape)),
        Op::Reverse { axes } => Some(x.reverse(axes)),
        Op::Placeholder
        | Op::Constant(_)
        | Op::Splat(_)
        | Op::Unary(_)
        | Op::Binary(_)
        | Op::Select
        | Op::Clamp
        | Op::Cast
        | Op::Reinterpret
        | Op::Reduce { .. }
        | Op::ArgReduce { .. }
        | Op::MatMul
        | Op::SliceUpdate { .. }
        | Op::Concat { .. }
        | Op::Pad { .. }
        | Op::Gather { .. }
        | Op::GatherNd { .. }
        | Op::GatherAlongAxis { .. }
        | Op::Scatter { .. }
        | Op::ScatterNd { .. }
        | Op::ScatterAlongAxis { .. }
        | Op::Softmax { .. }
        | Op::Iota { .. }
        | Op::RandomUniform { .. }
        | Op::RandomState { .. } => None,
    }
}

/// Row-major strides.
pub fn packed_strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

impl View {
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

    fn transpose(&self, perm: &[usize]) -> Self {
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

    fn slice(&self, starts: &[usize], steps: &[isize], shape: &[usize]) -> Self {
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
    fn reshape(&self, to: &[usize]) -> Option<Self> {
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
mod tests {
    use super::*;

    #[test]
    fn reshapes_that_strides_can_express() {
        let x = View::packed(ValueId(0), &[4, 6]);
        assert_eq!(x.reshape(&[2, 2, 6]).unwrap().strides, [12, 6, 1]);
        let turned = x.transpose(&[1, 0]);
        assert_eq!(turned.reshape(&[2, 3, 1, 4]).unwrap().strides, [3, 1, 0, 6]);
        assert_eq!(turned.reshape(&[24]), None);
        assert_eq!(x.broadcast(&[3, 4, 6]).reshape(&[3, 24]).unwrap().strides, [0, 1]);
    }

    #[test]
    fn slices_of_reversals() {
        let x = View::packed(ValueId(0), &[4, 6]).reverse(&[1]).slice(&[1, 2], &[2, 3], &[2, 2]);
        assert_eq!((x.offset, &x.strides[..]), (9, &[12, -3][..]));
        assert!(!x.is_consecutive());
    }
}
