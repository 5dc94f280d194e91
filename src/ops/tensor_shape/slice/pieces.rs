//! Replacing a region before macOS 14.4, which has no `sliceUpdateDataTensor:`: the result is put together from pieces
//! of the data and the update, axis by axis, by slices, reshapes and concatenations, which are exact for every dtype.

use super::{AxisRange, take};
use crate::ffi;
use crate::lowering::axis::{joined, part};

/// `data` (of `shape`) with `update` in its region from `axis` on; the axes before are whole already.
pub(super) fn put(
    graph: &ffi::Graph,
    data: &ffi::Tensor,
    shape: &[usize],
    update: ffi::Tensor,
    region: &[AxisRange],
    axis: usize,
) -> ffi::Tensor {
    let Some(axis) = (axis..shape.len()).find(|&axis| !region[axis].covers(shape[axis])) else {
        return update;
    };
    let range = region[axis];
    let last = (axis + 1..shape.len()).all(|later| region[later].covers(shape[later]));
    let mut inner_shape = shape.to_vec();
    inner_shape[axis] = range.count;
    let inner = if last {
        update
    } else {
        let mut along: Vec<AxisRange> = shape.iter().map(|&extent| AxisRange::full(extent)).collect();
        along[axis] = AxisRange { reversed: false, ..range };
        put(graph, &take(graph, data, &along), &inner_shape, update, region, axis + 1)
    };

    let old = |low: usize, end: usize| (low < end).then(|| part(graph, data, shape, axis, [low, end]));
    let mut pieces: Vec<ffi::Tensor> = old(0, range.low).into_iter().collect();
    if range.step == 1 {
        pieces.push(inner);
    } else {
        pieces.push(weave(graph, data, shape, &inner, range, axis));
        pieces.push(part(graph, &inner, &inner_shape, axis, [range.count - 1, range.count]));
    }
    pieces.extend(old(range.end(), shape[axis]));
    joined(graph, &pieces, axis)
}

/// The elements of `data` from the first new one to before the last new one along `axis`: each new element of `inner`
/// is followed by `step - 1` old ones.
fn weave(
    graph: &ffi::Graph,
    data: &ffi::Tensor,
    shape: &[usize],
    inner: &ffi::Tensor,
    range: AxisRange,
    axis: usize,
) -> ffi::Tensor {
    // One row per new element: the new one in front, the old ones behind it.
    let rows = range.count - 1;
    let split = |width: usize| [&shape[..axis], &[rows, width], &shape[axis + 1..]].concat();
    let old = part(graph, data, shape, axis, [range.low, range.low + rows * range.step]);
    let old_shape = split(range.step);
    let behind = part(graph, &graph.reshape(&old, &old_shape), &old_shape, axis + 1, [1, range.step]);
    let mut inner_shape = shape.to_vec();
    inner_shape[axis] = range.count;
    let heads = graph.reshape(&part(graph, inner, &inner_shape, axis, [0, rows]), &split(1));
    let woven = graph.concat(&[&heads, &behind], axis as isize + 1);
    graph.reshape(&woven, &[&shape[..axis], &[rows * range.step], &shape[axis + 1..]].concat())
}
