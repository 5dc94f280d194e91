//! A part of one axis, parts joined to a whole, and the last two exchanged.

use crate::ffi::{self, Graph};

/// The most axes that an `MPSNDArray` has.
pub(crate) const MOST_AXES: usize = 16;

/// The part `low..high` of one axis of `x`, whose shape is `shape`; `x` itself if that is all of it.
pub(crate) fn part(
    graph: &Graph,
    x: &ffi::Tensor,
    shape: &[usize],
    axis: usize,
    [low, high]: [usize; 2],
) -> ffi::Tensor {
    if [low, high] == [0, shape[axis]] {
        return x.clone();
    }
    let mut starts = vec![0; shape.len()];
    let mut ends: Vec<isize> = shape.iter().map(|&extent| extent as isize).collect();
    (starts[axis], ends[axis]) = (low as isize, high as isize);
    graph.slice(x, &starts, &ends, &vec![1; shape.len()])
}

/// At least one part, one after the other along `axis`.
pub(crate) fn joined(graph: &Graph, parts: &[ffi::Tensor], axis: usize) -> ffi::Tensor {
    match parts {
        [only] => only.clone(),
        _ => graph.concat(&parts.iter().collect::<Vec<_>>(), axis as isize),
    }
}

/// The permutation that exchanges the last two of `rank` axes.
pub(crate) fn turning(rank: usize) -> Vec<usize> {
    (0..rank - 2).chain([rank - 1, rank - 2]).collect()
}
