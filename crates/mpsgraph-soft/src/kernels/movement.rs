//! Ops that only move elements, as strided copies: transpose, broadcast, slice, slice update, concat, reverse, pad.
//!
//! Operands are packed. Each function takes the element size instead of the dtype and writes every byte of `out`.

use super::strided::{MAX_RANK, copy_bytes};

/// One value per axis, without an allocation.
type Axes<T> = [T; MAX_RANK];

/// Row-major strides of `shape` in elements.
fn packed(shape: &[usize]) -> Axes<isize> {
    let mut strides = [1; MAX_RANK];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

/// Copies the view `(offset, strides)` of `src` to the packed `out` of `shape`.
fn pack(size: usize, src: &[u8], offset: usize, strides: &[isize], shape: &[usize], out: &mut [u8]) {
    copy_bytes(size, src, offset, shape, strides, out, 0, &packed(shape)[..shape.len()]);
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

/// Output axis `i` is input axis `perm[i]`.
pub fn transpose(size: usize, src: &[u8], shape: &[usize], perm: &[usize], out: &mut [u8], out_shape: &[usize]) {
    let from = packed(shape);
    let mut strides = [0; MAX_RANK];
    for (stride, &axis) in strides.iter_mut().zip(perm) {
        *stride = from[axis];
    }
    pack(size, src, 0, &strides[..perm.len()], out_shape, out);
}

/// Repeats axes of extent 1, and the whole along new leading axes.
pub fn broadcast(size: usize, src: &[u8], shape: &[usize], out: &mut [u8], out_shape: &[usize]) {
    let from = packed(shape);
    let mut strides = [0; MAX_RANK];
    let leading = out_shape.len() - shape.len();
    for axis in 0..shape.len() {
        if shape[axis] != 1 {
            strides[leading + axis] = from[axis];
        }
    }
    pack(size, src, 0, &strides[..out_shape.len()], out_shape, out);
}

/// Reads the region of `out_shape` that `starts` and `steps` describe.
pub fn slice(
    size: usize,
    (src, shape): (&[u8], &[usize]),
    starts: &[usize],
    steps: &[isize],
    out: &mut [u8],
    out_shape: &[usize],
) {
    let (offset, strides) = region(shape, starts, steps);
    pack(size, src, offset, &strides[..shape.len()], out_shape, out);
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
    copy_flat(data, out);
    let (offset, strides) = region(shape, starts, steps);
    copy_bytes(size, update, 0, update_shape, &packed(update_shape)[..rank], out, offset, &strides[..rank]);
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
    copy_bytes(size, part, 0, part_shape, &packed(part_shape)[..rank], out, offset, &to[..rank]);
    part_shape[axis]
}

/// Turns `axes` around.
pub fn reverse(size: usize, src: &[u8], shape: &[usize], axes: &[usize], out: &mut [u8]) {
    let mut strides = packed(shape);
    let mut offset = 0;
    for &axis in axes {
        offset += (shape[axis] - 1) * strides[axis] as usize;
        strides[axis] = -strides[axis];
    }
    pack(size, src, offset, &strides[..shape.len()], shape, out);
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
    let offset = |starts: &[usize]| starts.iter().zip(&to).map(|(&at, &step)| at * step as usize).sum::<usize>();
    copy_bytes(size, src, 0, shape, &packed(shape)[..rank], out, offset(before), &to[..rank]);
    // The border in two slabs per axis: inside along the axes before it, whole along the axes after it.
    let (mut starts, mut extents) = ([0; MAX_RANK], [0; MAX_RANK]);
    extents[..rank].copy_from_slice(out_shape);
    for axis in 0..rank {
        let end = before[axis] + shape[axis];
        for (start, extent) in [(0, before[axis]), (end, out_shape[axis] - end)] {
            (starts[axis], extents[axis]) = (start, extent);
            let still = [0; MAX_RANK];
            let at = offset(&starts[..rank]);
            copy_bytes(size, value, 0, &extents[..rank], &still[..rank], out, at, &to[..rank]);
        }
        (starts[axis], extents[axis]) = (before[axis], shape[axis]);
    }
}

/// All bytes in their order.
pub fn copy_flat(src: &[u8], out: &mut [u8]) {
    copy_bytes(1, src, 0, &[src.len()], &[1], out, 0, &[1]);
}

#[cfg(test)]
mod tests;
