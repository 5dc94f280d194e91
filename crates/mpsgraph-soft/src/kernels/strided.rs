//! Copies elements from one strided view to another: the common code of transpose, broadcast, slice, reverse, slice
//! update, concat and pad.
//!
//! The axes are brought into the destination's order, neighbours that step as one are merged, and short contiguous runs
//! become wider elements. The rest is a run of bytes (`memcpy`), a fill, a gather with a stride, or a transpose of two
//! axes ([`super::transpose`]), repeated over the outer axes. Bounds are checked once, up front.

#![expect(unsafe_code, reason = "strided memory behind pointers")]

mod rows;

use super::span::{Span, SpanMut};
use super::threads::{COPIED, MOVED, for_each};
use super::transpose::{Plane, transpose};

/// Highest rank of a view; Apple's limit for tensors.
pub const MAX_RANK: usize = 16;

/// Where the elements of a view are in their memory: the first one's place, and the step along each axis. Both count
/// elements.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a> {
    pub offset: usize,
    pub strides: &'a [isize],
}

impl<'a> Strided<'a> {
    /// From the memory's first element on.
    pub const fn new(strides: &'a [isize]) -> Self {
        Self { offset: 0, strides }
    }
}

/// Fills `strides` with the row-major strides of a packed tensor of this shape, in elements.
pub fn pack(shape: &[usize], strides: &mut [isize]) {
    let mut step = 1;
    for (stride, &extent) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step *= extent as isize;
    }
}

/// Copies elements of `size` bytes from one view of this shape to another.
///
/// Panics if a view reaches outside its span, or if an axis of the destination steps no further than all axes with
/// smaller strides reach together: of others it is not seen at once that no two elements are the same. Every view that
/// slices, steps through, reverses and permutes a packed tensor passes.
pub fn copy(size: usize, shape: &[usize], (src, from): (Span, Strided<'_>), (dst, to): (SpanMut, Strided<'_>)) {
    let mut dst = dst;
    copy_bytes(size, shape, (src.slice(), from), (dst.slice(), to));
}

/// [`copy`] between slices.
pub fn copy_bytes(
    size: usize,
    shape: &[usize],
    (src, from): (&[u8], Strided<'_>),
    (dst, to): (&mut [u8], Strided<'_>),
) {
    assert!(shape.len() <= MAX_RANK, "strided copy: rank {} is above {MAX_RANK}", shape.len());
    let ranks = [from.strides.len(), to.strides.len()];
    assert_eq!(ranks, [shape.len(); 2], "strided copy: ranks differ");
    if shape.contains(&0) {
        return;
    }
    check(size, src.len(), shape, from);
    check(size, dst.len(), shape, to);
    let mut walk = Walk {
        axes: [Axis { extent: 1, src: 0, dst: 0 }; MAX_RANK],
        rank: 0,
        src: src.as_ptr().wrapping_add(from.offset * size),
        dst: dst.as_mut_ptr().wrapping_add(to.offset * size),
    };
    let bytes = size as isize;
    for ((&extent, &src), &dst) in shape.iter().zip(from.strides).zip(to.strides) {
        walk.push(Axis { extent, src: src * bytes, dst: dst * bytes });
    }
    walk.axes[..walk.rank].sort_by_key(|axis| -axis.dst);
    walk.check_apart();
    walk.merge();
    let width = walk.widen(size);
    // SAFETY: `check` proved both views inside their slices, `check_apart` that no two elements of the destination are
    // the same, the exclusive borrow keeps the destination apart from the source, and `Walk`'s rearrangements visit the
    // same pairs of elements.
    unsafe {
        match width {
            1 => walk.run::<1>(),
            2 => walk.run::<2>(),
            4 => walk.run::<4>(),
            8 => walk.run::<8>(),
            16 => walk.run::<16>(),
            other => unreachable!("strided copy: no element type has {other} bytes"),
        }
    }
}

/// Panics unless every element of the view lies in `len` bytes.
fn check(size: usize, len: usize, shape: &[usize], view: Strided<'_>) {
    let (mut low, mut high) = (view.offset as i128, view.offset as i128);
    for (&extent, &stride) in shape.iter().zip(view.strides) {
        let reach = (extent as i128 - 1) * stride as i128;
        low += reach.min(0);
        high += reach.max(0);
    }
    assert!(
        low >= 0 && (high + 1) * size as i128 <= len as i128,
        "strided copy: elements {low}..={high} of {size} bytes are outside of {len} bytes"
    );
}

/// Extent and byte steps of one loop.
#[derive(Clone, Copy)]
struct Axis {
    extent: usize,
    src: isize,
    dst: isize,
}

/// Loops over both views, outermost first, and their first elements.
#[derive(Clone, Copy)]
struct Walk {
    axes: [Axis; MAX_RANK],
    rank: usize,
    src: *const u8,
    dst: *mut u8,
}

// SAFETY: the pointers are only used by `run`, whose caller holds the borrows for as long as it takes, and the pieces
// that go to other threads write disjoint elements.
unsafe impl Send for Walk {}
// SAFETY: as for `Send`; a shared `Walk` gives access to the memory by `run` only.
unsafe impl Sync for Walk {}

impl Walk {
    /// Adds an inner axis, turned so that the destination moves forward.
    fn push(&mut self, axis: Axis) {
        if axis.extent == 1 {
            return;
        }
        self.axes[self.rank] = axis;
        if axis.dst < 0 {
            let last = axis.extent as isize - 1;
            self.src = self.src.wrapping_offset(last * axis.src);
            self.dst = self.dst.wrapping_offset(last * axis.dst);
            self.axes[self.rank] = Axis { extent: axis.extent, src: -axis.src, dst: -axis.dst };
        }
        self.rank += 1;
    }

    /// Panics unless each axis of the destination, which are sorted, goes further than the inner ones reach together:
    /// then no two elements are the same, and threads may write them at the same time.
    fn check_apart(&self) {
        let mut reach = 0;
        for axis in self.axes[..self.rank].iter().rev() {
            assert!(axis.dst > reach, "strided copy: the destination overlaps itself");
            reach += (axis.extent as isize - 1) * axis.dst;
        }
    }

    /// Merges neighbours that one longer axis describes.
    fn merge(&mut self) {
        let mut kept = 0;
        for at in 1..self.rank {
            let (outer, inner) = (self.axes[kept], self.axes[at]);
            let extent = inner.extent as isize;
            if outer.src == inner.src * extent && outer.dst == inner.dst * extent {
                self.axes[kept] = Axis { extent: outer.extent * inner.extent, ..inner };
            } else {
                kept += 1;
                self.axes[kept] = inner;
            }
        }
        self.rank = self.rank.min(kept + 1);
    }

    /// Makes an innermost run of 2, 4, 8 or 16 bytes one element, and returns the new element size.
    fn widen(&mut self, size: usize) -> usize {
        let Some(last) = self.axes[..self.rank].last() else {
            return size;
        };
        let bytes = last.extent * size;
        let contiguous = last.src == size as isize && last.dst == size as isize;
        if contiguous && matches!(bytes, 2 | 4 | 8 | 16) {
            self.rank -= 1;
            return bytes;
        }
        size
    }

    /// Copies, on several threads if that pays.
    ///
    /// # Safety
    /// Every element of both views must be readable or writable, and no two of the destination the same.
    unsafe fn run<const N: usize>(self) {
        let elements: usize = self.axes[..self.rank].iter().map(|axis| axis.extent).product();
        let copies_rows = self.axes[..self.rank].last().is_some_and(|row| [row.src, row.dst] == [N as isize; 2]);
        // A small element by itself takes as long as a larger one.
        let each = if copies_rows { N } else { N.max(4) };
        if self.rank == 0 || !COPIED.is_met(elements * each) {
            // SAFETY: the caller's promise.
            return unsafe { self.run_here::<N>() };
        }
        let extents = self.extents_of_pieces::<N>(if copies_rows { COPIED.awake } else { MOVED.awake });
        let counts = self.axes[..self.rank].iter().zip(extents).map(|(axis, extent)| axis.extent.div_ceil(extent));
        let walk = &self;
        // SAFETY: the pieces divide the elements that the caller vouches for.
        for_each(counts.product(), 1, &|number| unsafe { walk.piece(&extents, number).run_here::<N>() });
    }

    /// The extents of pieces of less than `bytes` bytes, though not of less than one element.
    fn extents_of_pieces<const N: usize>(&self, bytes: usize) -> [usize; MAX_RANK] {
        let axes = &self.axes[..self.rank];
        let mut extents = self.axes.map(|axis| axis.extent);
        // Pieces along the outermost axis keep both sides streaming; a transpose needs some that are short both ways.
        let last = axes[self.rank - 1].src;
        let transposes = last != N as isize && last != 0 && axes.iter().any(|axis| axis.src == N as isize);
        while extents[..self.rank].iter().product::<usize>() * N >= bytes {
            let of = &mut extents[..self.rank];
            let divided =
                if transposes { of.iter_mut().rev().max() } else { of.iter_mut().find(|extent| **extent > 1) };
            let Some(extent) = divided.filter(|extent| **extent > 1) else { break };
            // Whole cache lines and tiles on both sides, where there is more than one.
            *extent = if *extent >= 256 { (*extent / 2).next_multiple_of(64) } else { extent.div_ceil(2) };
        }
        extents
    }

    /// The piece with this number, in the order of the destination, of those with these extents.
    fn piece(&self, extents: &[usize; MAX_RANK], number: usize) -> Self {
        let (mut piece, mut rest) = (*self, number);
        for (at, axis) in piece.axes[..self.rank].iter_mut().enumerate().rev() {
            let count = axis.extent.div_ceil(extents[at]);
            let first = rest % count * extents[at];
            rest /= count;
            axis.extent = extents[at].min(axis.extent - first);
            piece.src = piece.src.wrapping_offset(first as isize * axis.src);
            piece.dst = piece.dst.wrapping_offset(first as isize * axis.dst);
        }
        piece.rank = 0;
        for at in 0..self.rank {
            if piece.axes[at].extent > 1 {
                piece.axes[piece.rank] = piece.axes[at];
                piece.rank += 1;
            }
        }
        piece
    }

    /// Copies on this thread.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn run_here<const N: usize>(mut self) {
        let Some(&row) = self.axes[..self.rank].last() else {
            // SAFETY: rank 0 is one element, which the caller vouches for.
            return unsafe { self.dst.cast::<[u8; N]>().write(self.src.cast::<[u8; N]>().read()) };
        };
        self.rank -= 1;
        let step = N as isize;
        let across = self.axes[..self.rank].iter().position(|axis| axis.src == step);
        if let Some(across) = across.filter(|_| row.src != step && row.src != 0) {
            let column = self.axes[across];
            self.axes.copy_within(across + 1..self.rank, across);
            self.rank -= 1;
            let plane = Plane {
                rows: column.extent,
                columns: row.extent,
                src_step: row.src,
                dst_row: column.dst,
                dst_column: row.dst,
            };
            // SAFETY: each plane is a part of the views that the caller vouches for.
            return self.for_each(|src, dst| unsafe { transpose::<N>(&plane, src, dst) });
        }
        let second = match self.rank {
            0 => Axis { extent: 1, src: 0, dst: 0 },
            rank => self.axes[rank - 1],
        };
        self.rank = self.rank.saturating_sub(1);
        // SAFETY: all rows are parts of the views that the caller vouches for.
        unsafe { self.copy_rows::<N>(row, second) };
    }

    /// Calls `body` with the pointers of every position of the remaining axes.
    fn for_each(&self, mut body: impl FnMut(*const u8, *mut u8)) {
        let axes = &self.axes[..self.rank];
        let (mut src, mut dst) = (self.src, self.dst);
        let mut position = [0usize; MAX_RANK];
        loop {
            body(src, dst);
            let mut at = axes.len();
            loop {
                if at == 0 {
                    return;
                }
                at -= 1;
                let axis = axes[at];
                position[at] += 1;
                src = src.wrapping_offset(axis.src);
                dst = dst.wrapping_offset(axis.dst);
                if position[at] < axis.extent {
                    break;
                }
                position[at] = 0;
                src = src.wrapping_offset(-(axis.extent as isize * axis.src));
                dst = dst.wrapping_offset(-(axis.extent as isize * axis.dst));
            }
        }
    }
}

#[cfg(test)]
mod tests;
