//! Makes copies of movements: each operand goes from where its view reads it straight to its place in the result.
//!
//! A concatenation that is nothing but a part of another one, as where a region of a tensor is replaced, is not made:
//! its operands are copied to their places in the other one.

use super::Assembler;
use crate::compiler::Job;
use crate::compiler::fusion::Group;
use crate::compiler::views::{View, packed_strides};
use crate::ir::{Op, ValueId};
use crate::kernels::KernelOp;
use crate::kernels::movement::{Movement, Part};
use std::collections::HashSet;

/// The most operands of a concatenation that is made together with the one that it is a part of, by a copy of each
/// operand; the replacement of a region has three along each axis. With more operands, which are small, one step for
/// all of them costs less than a copy of each.
const FEW: usize = 3;

/// Offset and strides, in elements of a result.
pub(super) type Region = (usize, Vec<isize>);

/// The axis of a concatenation of a few operands.
fn axis_of(job: &Job, id: ValueId) -> Option<usize> {
    let node = job.nodes.node(id);
    let Op::Kernel(KernelOp::Movement(Movement::Concat { axis })) = node.op else { return None };
    (node.inputs.len() <= FEW).then_some(axis)
}

/// The concatenations that are nothing but a part of another one; `readers` says how often each root is read.
pub(super) fn joined(job: &Job, views: &[View], groups: &[Group<'_>], readers: &[usize]) -> HashSet<ValueId> {
    let joins = groups.iter().flat_map(Group::values).filter(|&id| axis_of(job, id).is_some());
    let parts = joins.flat_map(|id| &job.nodes.node(id).inputs).filter_map(|part| {
        let view = &views[part.0 as usize];
        // As a whole, in its own shape.
        let is_whole = *view == views[view.root.0 as usize];
        let only = axis_of(job, view.root).is_some() && readers[view.root.0 as usize] == 1;
        (is_whole && only).then_some(view.root)
    });
    parts.collect()
}

impl Assembler<'_> {
    /// Copies the operands of a movement to their places; false if they are packed already, or if the movement writes
    /// more than them.
    pub(super) fn moved(&mut self, id: ValueId, movement: &Movement) -> bool {
        let node = self.job.nodes.node(id);
        let (shape, size) = (&node.output.shape, node.output.dtype.size());
        let views: Vec<&View> = node.inputs.iter().map(|input| &self.views[input.0 as usize]).collect();
        let joins = axis_of(self.job, id).filter(|_| views.iter().any(|view| self.joined.contains(&view.root)));
        let copies = if let Some(axis) = joins {
            let mut copies = Vec::new();
            self.places(id, axis, &(0, packed_strides(shape)), &mut copies);
            copies
        } else {
            if views.iter().all(|view| view.is_consecutive()) {
                return false;
            }
            let shapes: Vec<&[usize]> = views.iter().map(|view| &view.shape[..]).collect();
            let Some(parts) = movement.parts(size, &shapes, shape) else { return false };
            let steps = vec![1; shape.len()];
            let part = |Part { operand, starts, extents, region }: Part| {
                (views[operand].slice(&starts, &steps, &extents), region)
            };
            parts.into_iter().map(part).collect()
        };
        let to = self.made(id);
        for (view, region) in copies.into_iter().filter(|(view, _)| view.elements() > 0) {
            self.copy_into(&view, size, to, region);
        }
        true
    }

    /// Where what a concatenation along `axis` joins goes, if its result goes to `region`.
    fn places(&self, id: ValueId, axis: usize, region: &Region, copies: &mut Vec<(View, Region)>) {
        let (mut offset, strides) = (region.0, &region.1);
        for input in &self.job.nodes.node(id).inputs {
            let view = &self.views[input.0 as usize];
            let place = (offset, strides.clone());
            match axis_of(self.job, view.root).filter(|_| self.joined.contains(&view.root)) {
                Some(axis) => self.places(view.root, axis, &place, copies),
                None => copies.push((view.clone(), place)),
            }
            // Strides of a packed result are not negative.
            offset += view.shape[axis] * strides[axis] as usize;
        }
    }
}
