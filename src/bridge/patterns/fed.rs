//! What is fed comes in a shape in which it is read: a buffer has none of its own, so that saves a reshape. Patterns
//! change how values are read; so the shape is chosen again after them.

use burn_backend::Shape;

use crate::bridge::program::{Program, Source};

/// A feed gets the shape in which a product reads it, because a reshape in between may need a barrier; else the one
/// with the fewest axes, because elementwise ops put extents of 1 in front themselves.
pub(super) fn apply(program: &mut Program) {
    let Program { feeds, nodes, schedule, .. } = program;
    let mut read: Vec<Vec<(&Shape, bool)>> = vec![Vec::new(); feeds.len()];
    for node in schedule.iter().map(|&at| &nodes[at as usize]) {
        for input in &node.inputs {
            if let Source::Feed(at) = input.source {
                read[at as usize].push((&input.shape, node.op.is_rewritten()));
            }
        }
    }
    for (feed, read) in feeds.iter_mut().zip(read) {
        let mut factors = read.iter().filter(|(_, by_product)| *by_product).map(|&(shape, _)| shape);
        let best = match factors.next() {
            Some(first) if first != &feed.shape && !factors.any(|shape| shape == &feed.shape) => Some(first),
            Some(_) => None,
            None => read.iter().map(|&(shape, _)| shape).min_by_key(|shape| shape.num_dims()),
        };
        if let Some(best) = best {
            feed.shape = best.clone();
        }
    }
}
