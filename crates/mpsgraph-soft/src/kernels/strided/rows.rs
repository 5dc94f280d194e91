//! Rows along the innermost axis of a strided copy.

use super::{Axis, Walk};

impl Walk {
    /// Copies `row` at every position of `second`, the axis around it, and of the remaining axes.
    ///
    /// # Safety
    /// The elements of all these rows must be readable or writable, and no two of the destination the same.
    pub(super) unsafe fn copy_rows<const N: usize>(&self, row: Axis, second: Axis) {
        let (step, bytes) = (N as isize, row.extent * N);
        // Elements that are repeated a few times, such as the pixels of an image that grows.
        let repeats = row.src == 0 && row.dst == step && second.dst == bytes as isize;
        let is_contiguous = [row.src, row.dst] == [step; 2];
        // SAFETY: the caller's promise.
        unsafe {
            match row.extent {
                2 if repeats => self.for_each(|src, dst| repeat::<N, 2>(second, src, dst)),
                3 if repeats => self.for_each(|src, dst| repeat::<N, 3>(second, src, dst)),
                4 if repeats => self.for_each(|src, dst| repeat::<N, 4>(second, src, dst)),
                _ if is_contiguous => self.copy_runs(bytes, second),
                _ => self.for_each(|src, dst| {
                    places(second, src, dst).for_each(|(src, dst)| copy_row::<N>(row, src, dst));
                }),
            }
        }
    }

    /// The same for rows of so many contiguous bytes.
    ///
    /// # Safety
    /// As for `copy_rows`.
    unsafe fn copy_runs(&self, bytes: usize, second: Axis) {
        // SAFETY: the caller's promise.
        unsafe {
            match bytes {
                2..4 => self.for_each(|src, dst| short::<2>(bytes, second, src, dst)),
                4..8 => self.for_each(|src, dst| short::<4>(bytes, second, src, dst)),
                8..16 => self.for_each(|src, dst| short::<8>(bytes, second, src, dst)),
                16..32 => self.for_each(|src, dst| short::<16>(bytes, second, src, dst)),
                32..64 => self.for_each(|src, dst| short::<32>(bytes, second, src, dst)),
                _ => self.for_each(|src, dst| {
                    places(second, src, dst).for_each(|(src, dst)| src.copy_to_nonoverlapping(dst, bytes));
                }),
            }
        }
    }
}

/// The pointers of every position of an axis.
#[inline(always)]
fn places(axis: Axis, src: *const u8, dst: *mut u8) -> impl Iterator<Item = (*const u8, *mut u8)> {
    let place = move |i| (src.wrapping_offset(i * axis.src), dst.wrapping_offset(i * axis.dst));
    (0..axis.extent as isize).map(place)
}

/// Copies runs of at least `PART` bytes and less than twice as many, by their first and their last `PART`, which may
/// overlap. A call for each run would take several times as long.
///
/// # Safety
/// So many bytes at each position of `second` must be readable or writable, and the two disjoint.
#[inline(always)]
unsafe fn short<const PART: usize>(bytes: usize, second: Axis, src: *const u8, dst: *mut u8) {
    for i in 0..second.extent as isize {
        for at in [0, bytes - PART] {
            let from = src.wrapping_offset(i * second.src).wrapping_add(at).cast::<[u8; PART]>();
            let to = dst.wrapping_offset(i * second.dst).wrapping_add(at).cast::<[u8; PART]>();
            // SAFETY: a part of run `i`, which the caller vouches for; arrays of bytes need no alignment.
            unsafe { to.write(from.read()) };
        }
    }
}

/// Writes each element of a row `K` times.
///
/// # Safety
/// All `row.extent` elements from `src` must be readable, and `K` times as many from `dst` on writable, and the two
/// disjoint.
unsafe fn repeat<const N: usize, const K: usize>(row: Axis, src: *const u8, dst: *mut u8) {
    // SAFETY: the caller's promise; arrays of bytes may stand anywhere and hold anything.
    let to = unsafe { std::slice::from_raw_parts_mut(dst.cast::<[[u8; N]; K]>(), row.extent) };
    for (i, to) in to.iter_mut().enumerate() {
        let from = src.wrapping_offset(i as isize * row.src).cast::<[u8; N]>();
        // SAFETY: element `i` of the row.
        *to = [unsafe { from.read() }; K];
    }
}

/// Copies one row whose elements are apart on one side, or one element that fills it.
///
/// # Safety
/// All `row.extent` elements from `src` must be readable and those from `dst` writable, and the two disjoint.
#[inline(always)]
unsafe fn copy_row<const N: usize>(row: Axis, src: *const u8, dst: *mut u8) {
    if row.dst == N as isize && row.src == 0 {
        // SAFETY: the destination row is contiguous here and the caller vouches for it; arrays of bytes may stand
        // anywhere and hold anything.
        let (value, row) = unsafe {
            (src.cast::<[u8; N]>().read(), std::slice::from_raw_parts_mut(dst.cast::<[u8; N]>(), row.extent))
        };
        return row.fill(value);
    }
    for i in 0..row.extent as isize {
        let from = src.wrapping_offset(i * row.src).cast::<[u8; N]>();
        let to = dst.wrapping_offset(i * row.dst).cast::<[u8; N]>();
        // SAFETY: element `i` of both rows, which the caller vouches for; arrays of bytes need no alignment.
        unsafe { to.write(from.read()) };
    }
}
