//! What was assigned to a tensor, one region after the other, and what a slice of the last one reads.
//!
//! A sequence of n steps has n slices behind up to n assignments each. So every assignment knows one that is further
//! behind it, and the region that holds all that was written between the two: a slice of another region skips them.
//! Where each leads is chosen so that from any assignment any other behind it is reached in a number of steps that
//! grows with the logarithm of their distance.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::regions::assigned;
use crate::bridge::program::{OperandRef, Program, Source};
use crate::ops::tensor_shape::AxisRange;

/// The most assignments that are looked at for one slice. Regions in no order can rarely be skipped.
const LOOKS: usize = 1024;

/// The assignments so far, by their nodes.
#[derive(Default)]
pub(super) struct Written(HashMap<u32, Assignment, FixedState>);

struct Assignment {
    /// How many there are behind it.
    depth: usize,
    /// One behind it; the first of all has itself.
    further: u32,
    /// Holds what was written from this one on until that one, without that one.
    within: Vec<AxisRange>,
}

/// What a slice reads.
pub(super) struct Behind {
    /// The tensor that it is a slice of.
    pub data: Source,
    /// What was assigned to just the slice's region.
    pub part: Option<Source>,
}

impl Written {
    /// Notes a node if it is an assignment.
    pub fn note(&mut self, program: &Program, at: u32) {
        let node = &program.nodes[at as usize];
        let shape = &node.output.shape;
        let Some(region) = assigned(node).filter(|_| node.inputs[0].shape == *shape) else { return };
        let hull = |a: &[AxisRange], b: &[AxisRange]| -> Vec<AxisRange> {
            a.iter().zip(b).zip(shape.iter()).map(|((a, b), &extent)| a.hull(b, extent)).collect()
        };
        let own = hull(region, region);
        let known = |at: u32| self.0.get(&at).filter(|_| program.nodes[at as usize].output.shape == *shape);
        let before = node.inputs[0].source.node().and_then(|before| Some((before, known(before)?)));
        let Some((before_at, before)) = before else {
            self.0.insert(at, Assignment { depth: 0, further: at, within: own });
            return;
        };
        let further = &self.0[&before.further];
        let furthest = &self.0[&further.further];
        let same_length = before.depth - further.depth == further.depth - furthest.depth;
        let (leads, within) = if before.depth > 0 && same_length {
            (further.further, hull(&hull(&own, &before.within), &further.within))
        } else {
            (before_at, own)
        };
        self.0.insert(at, Assignment { depth: before.depth + 1, further: leads, within });
    }

    /// What a slice of `region` reads of `input`.
    pub fn behind(&self, program: &Program, input: &OperandRef, region: &[AxisRange]) -> Behind {
        let mut data = input.source;
        for _ in 0..LOOKS {
            let Source::Node(at) = data else { return Behind { data, part: None } };
            let node = &program.nodes[at as usize];
            let known = self.0.get(&at).filter(|_| node.output.shape == input.shape);
            let (Some(known), Some(written)) = (known, assigned(node)) else { return Behind { data, part: None } };
            if known.further != at && are_apart(region, &known.within) {
                data = Source::Node(known.further);
            } else if are_apart(region, written) {
                data = node.inputs[0].source;
            } else {
                let same = region == written && region.iter().all(|range| range.is_plain());
                return Behind { data, part: same.then_some(node.inputs[1].source) };
            }
        }
        Behind { data: input.source, part: None }
    }
}

fn are_apart(a: &[AxisRange], b: &[AxisRange]) -> bool {
    a.iter().zip(b).any(|(a, b)| a.is_apart_from(b))
}

#[cfg(test)]
mod tests;
