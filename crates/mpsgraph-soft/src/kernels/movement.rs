//! Operations that put elements beside others, as strided copies: slice update, concatenation, padding, choice of rows.
//!
//! Operands are packed. Only bytes move, so of an element only its size matters. Operations that drop or reorder
//! elements are views, which the compiler resolves.

mod choice;

use super::Kernel;
use super::call::Call;
use super::rows::Indexing;
use super::strided::{self, MAX_RANK, Strided, copy_bytes};
use super::threads::COPIED;
use choice::Choice;
use serde::{Deserialize, Serialize};

/// Bytes from which on runs are copied one by one, without what a strided copy prepares: the steps of a sequence are
/// many small parts.
const LONG_RUN: usize = 64;
/// What an update replaces is not copied before if it is more than this part of all, and if rows of what is copied
/// around it have so many bytes: one copy of all is faster than many of short rows.
const REPLACED: usize = 16;
const LONG_ROW: usize = 256;

/// Which elements are put beside which; the operands and `out` have one dtype.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Movement {
    /// `[data, update]`; `update` replaces the region whose element `j` of axis `i` is `starts[i] + j * strides[i]`
    /// (strides may be negative).
    SliceUpdate { starts: Vec<usize>, strides: Vec<isize> },
    /// All inputs one after the other along `axis`.
    Concat { axis: usize },
    /// `[x]` with `before[i]` and, to fill the output shape, as many as needed after it; filled with the element of
    /// these bytes.
    Pad { before: Vec<usize>, value: [u8; 8] },
    /// `[chosen, new, old]`: what is at a place along `axis` is of `new` where `chosen` has a 1 for the place, and of
    /// `old` where it has a 0. `new` has as many places, or one that is repeated. `[chosen, numbers, new, old]`: `new`
    /// has any number of places, and each of the i32 numbers says which one of them takes a place.
    Choice { axis: usize },
}

impl Kernel for Movement {
    fn run(&self, call: Call<'_>) {
        let (inputs, to) = (call.inputs, call.ty.shape.as_slice());
        let size = call.ty.dtype.size();
        match self {
            Movement::SliceUpdate { starts, strides } => {
                slice_update(size, inputs[0].elements(), inputs[1].parts(), starts, strides, call.output, to);
            }
            Movement::Concat { axis } => {
                let (mut at, out) = (0, call.output);
                for part in inputs {
                    at += concat_part(size, part.parts(), *axis, at, out, to);
                }
            }
            Movement::Pad { before, value } => pad(size, inputs[0].parts(), before, value, call.output, to),
            Movement::Choice { axis } => {
                let row = size * to[axis + 1..].iter().product::<usize>();
                let (chosen, numbers, new, old) = match inputs {
                    [chosen, new, old] => (chosen, None, new, old),
                    [chosen, numbers, new, old] => {
                        // Panics if one is out of range.
                        Indexing::Axis { axis: *axis, batch: 0 }.rows(new.shape(), numbers, &call);
                        (chosen, Some(numbers.elements()), new, old)
                    }
                    _ => unreachable!("a choice has three operands or four"),
                };
                let of_new = new.shape()[*axis];
                let [chosen, new, old] = [chosen, new, old].map(|input| input.elements());
                Choice { chosen, numbers, new, of_new, old, row }.run(call.output);
            }
        }
    }
}

impl Movement {
    /// Where the operands, of these shapes and elements of `size` bytes, go in the packed result, in the order in which
    /// it is written; `None` if other elements are written, too.
    pub fn parts(&self, size: usize, operands: &[&[usize]], shape: &[usize]) -> Option<Vec<Part>> {
        let rank = shape.len();
        let steps = packed(shape)[..rank].to_vec();
        let all =
            |operand, region| Part { operand, starts: vec![0; rank], extents: operands[operand].to_vec(), region };
        match self {
            Movement::SliceUpdate { starts, strides } => {
                let mut parts = Vec::new();
                kept(size, shape, operands[1], (starts, strides), |starts, extents| {
                    let region = (place(starts, &steps), steps.clone());
                    parts.push(Part { operand: 0, starts: starts.to_vec(), extents: extents.to_vec(), region });
                });
                let (offset, strides) = region(shape, starts, strides);
                parts.push(all(1, (offset, strides[..rank].to_vec())));
                Some(parts)
            }
            Movement::Concat { axis } => {
                let mut at = 0;
                let part = |operand: usize| {
                    let offset = at * steps[*axis] as usize;
                    at += operands[operand][*axis];
                    all(operand, (offset, steps.clone()))
                };
                Some((0..operands.len()).map(part).collect())
            }
            Movement::Pad { .. } | Movement::Choice { .. } => None,
        }
    }
}

/// A part of an operand, and the region of the packed result that it fills, by its offset and strides.
pub struct Part {
    pub operand: usize,
    pub starts: Vec<usize>,
    pub extents: Vec<usize>,
    pub region: (usize, Vec<isize>),
}

/// One value per axis, without an allocation.
type Axes<T> = [T; MAX_RANK];

/// Row-major strides of `shape` in elements.
fn packed(shape: &[usize]) -> Axes<isize> {
    let mut strides = [1; MAX_RANK];
    strided::pack(shape, &mut strides[..shape.len()]);
    strides
}

/// Offset and strides of the region that starts at `starts` and takes `steps` in the packed `shape`.
fn region(shape: &[usize], starts: &[usize], steps: &[isize]) -> (usize, Axes<isize>) {
    let mut strides = packed(shape);
    let mut offset = 0;
    for axis in 0..shape.len() {
        offset += starts[axis] * strides[axis] as usize;
        strides[axis] *= steps[axis];
    }
    (offset, strides)
}

/// How far the element at this position is from the first one.
fn place(position: &[usize], strides: &[isize]) -> usize {
    position.iter().zip(strides).map(|(&at, &step)| at * step as usize).sum()
}

/// Calls `slab` with the position and the extents of each part of `shape` around the inner one at `starts`. There are
/// two along each axis: as long as the inner part along the axes before, whole along the axes after.
fn around(shape: &[usize], inner: &[usize], starts: &[usize], mut slab: impl FnMut(&[usize], &[usize])) {
    let rank = shape.len();
    let (mut position, mut extents) = ([0; MAX_RANK], [0; MAX_RANK]);
    extents[..rank].copy_from_slice(shape);
    for axis in 0..rank {
        let end = starts[axis] + inner[axis];
        for (first, extent) in [(0, starts[axis]), (end, shape[axis] - end)] {
            (position[axis], extents[axis]) = (first, extent);
            slab(&position[..rank], &extents[..rank]);
        }
        (position[axis], extents[axis]) = (starts[axis], inner[axis]);
    }
}

/// Calls `copy` with the position and the extents of each part of the data that an update of this shape leaves, or
/// once for all of the data where that is faster.
fn kept(
    size: usize,
    shape: &[usize],
    update: &[usize],
    (starts, steps): (&[usize], &[isize]),
    mut copy: impl FnMut(&[usize], &[usize]),
) {
    let replaced: usize = update.iter().product();
    let is_much = replaced * REPLACED > shape.iter().product() && steps.iter().all(|&step| step == 1);
    let mut shortest = usize::MAX;
    if is_much {
        // Elements that follow each other in a slab: from the last axis that it has only a part of.
        around(shape, update, starts, |_, extents| {
            let cut = (0..shape.len()).rev().find(|&axis| extents[axis] < shape[axis]).unwrap_or(0);
            shortest = match extents[cut..].iter().product() {
                0 => shortest,
                run => shortest.min(run),
            };
        });
    }
    if is_much && shortest.saturating_mul(size) >= LONG_ROW {
        around(shape, update, starts, copy);
    } else {
        copy(&[0; MAX_RANK][..shape.len()], shape);
    }
}

/// `data` with the region that `starts` and `steps` describe replaced by `update`.
pub fn slice_update(
    size: usize,
    data: &[u8],
    (update, update_shape): (&[u8], &[usize]),
    starts: &[usize],
    steps: &[isize],
    out: &mut [u8],
    shape: &[usize],
) {
    let rank = shape.len();
    let whole = packed(shape);
    kept(size, shape, update_shape, (starts, steps), |position, extents| {
        let same = Strided { offset: place(position, &whole), strides: &whole[..rank] };
        copy_bytes(size, extents, (data, same), (&mut *out, same));
    });
    let (offset, strides) = region(shape, starts, steps);
    let from = packed(update_shape);
    copy_bytes(
        size,
        update_shape,
        (update, Strided::new(&from[..rank])),
        (out, Strided { offset, strides: &strides[..rank] }),
    );
}

/// Writes one operand of a concatenation, which begins at `at` along `axis`; its extent there is returned.
pub fn concat_part(
    size: usize,
    (part, part_shape): (&[u8], &[usize]),
    axis: usize,
    at: usize,
    out: &mut [u8],
    shape: &[usize],
) -> usize {
    let rank = shape.len();
    let to = packed(shape);
    let offset = at * to[axis] as usize;
    let bytes = |shape: &[usize]| size * shape[axis..].iter().product::<usize>();
    let run = bytes(part_shape);
    if run >= LONG_RUN && !COPIED.is_met(part.len()) {
        let offset = offset * size;
        for (from, to) in part.chunks_exact(run).zip(out.chunks_exact_mut(bytes(shape))) {
            to[offset..offset + run].copy_from_slice(from);
        }
    } else {
        let from = packed(part_shape);
        let to = Strided { offset, strides: &to[..rank] };
        copy_bytes(size, part_shape, (part, Strided::new(&from[..rank])), (out, to));
    }
    part_shape[axis]
}

/// Surrounds `src` with `value`: `before[i]` elements before it along axis `i`, and what `out_shape` leaves after it.
pub fn pad(
    size: usize,
    (src, shape): (&[u8], &[usize]),
    before: &[usize],
    value: &[u8; 8],
    out: &mut [u8],
    out_shape: &[usize],
) {
    let rank = shape.len();
    let to = packed(out_shape);
    let inside = |starts: &[usize]| Strided { offset: place(starts, &to), strides: &to[..rank] };
    copy_bytes(size, shape, (src, Strided::new(&packed(shape)[..rank])), (&mut *out, inside(before)));
    around(out_shape, shape, before, |starts, extents| {
        copy_bytes(size, extents, (value, Strided::new(&[0; MAX_RANK][..rank])), (&mut *out, inside(starts)));
    });
}

/// All bytes in their order.
pub fn copy_flat(src: &[u8], out: &mut [u8]) {
    let packed = Strided::new(&[1]);
    copy_bytes(1, &[src.len()], (src, packed), (out, packed));
}

#[cfg(test)]
#[expect(unsafe_code, reason = "slices as operands")]
mod tests;
