//! Replacing a region before macOS 14.4, which has no `sliceUpdateDataTensor:`: the result is put together from pieces
//! of the data and the update, axis by axis, by slices, reshapes and concatenations, which are exact for every dtype.

use super::{Span, take};
use crate::ffi;

/// `data` (of `shape`) with `update` in its region from `axis` on; the axes before are whole already.
pub(super) fn put(
    graph: &ffi::Graph,
    data: &ffi::Tensor,
    shape: &[usize],
    update: ffi::Tensor,
    region: &[Span],
    axis: usize,
) -> ffi::Tensor {
    let Some(axis) = (axis..shape.len()).find(|&axis| !region[axis].covers(shape[axis])) else {
        return update;
    };
    let along = |span: Span, shape: &[usize]| -> Vec<Span> {
        let mut whole: Vec<Span> = shape.iter().map(|&extent| Span::full(extent)).collect();
        whole[axis] = span;
        whole
    };
    let span = region[axis];
    let last = (axis + 1..shape.len()).all(|later| region[later].covers(shape[later]));
    let mut inner_shape = shape.to_vec();
    inner_shape[axis] = span.count;
    let inner = if last {
        update
    } else {
        let old = take(graph, data, &along(span, shape));
        put(graph, &old, &inner_shape, update, region, axis + 1)
    };

    let piece = |low: usize, end: usize| {
        (low < end).then(|| take(graph, data, &along(Span { low, step: 1, count: end - low, reversed: false }, shape)))
    };
    let mut pieces: Vec<ffi::Tensor> = piece(0, span.low).into_iter().collect();
    if span.step == 1 {
        pieces.push(inner);
    } else {
        // All but the last new element are followed by step - 1 old ones: one row each, the new one in front.
        let rows = span.count - 1;
        let split = |width: usize| [&shape[..axis], &[rows, width], &shape[axis + 1..]].concat();
        let old =
            take(graph, data, &along(Span { low: span.low, step: 1, count: rows * span.step, reversed: false }, shape));
        let old_shape = split(span.step);
        let mut behind: Vec<Span> = old_shape.iter().map(|&extent| Span::full(extent)).collect();
        behind[axis + 1] = Span { low: 1, step: 1, count: span.step - 1, reversed: false };
        let behind = take(graph, &graph.reshape(&old, &old_shape), &behind);
        let part = |low: usize, count: usize| {
            take(graph, &inner, &along(Span { low, step: 1, count, reversed: false }, &inner_shape))
        };
        let heads = graph.reshape(&part(0, rows), &split(1));
        let woven = graph.concat(&[&heads, &behind], axis as isize + 1);
        let flat = [&shape[..axis], &[rows * span.step], &shape[axis + 1..]].concat();
        pieces.push(graph.reshape(&woven, &flat));
        pieces.push(part(rows, 1));
    }
    pieces.extend(piece(span.end(), shape[axis]));
    let pieces: Vec<&ffi::Tensor> = pieces.iter().collect();
    if let [only] = pieces[..] { only.clone() } else { graph.concat(&pieces, axis as isize) }
}
