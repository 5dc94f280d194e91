//! Where the elements of an operand are, in the order of the loop.
//!
//! A [`Geometry`] is a strided view with neighbouring axes merged, walked in row-major order. Its own extents need not
//! be those of the other operands: only the number of elements must agree, so that any loop can read a transposed,
//! sliced, reversed or broadcast operand in place.

use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Axes that groups of runs are counted along.
const OUTER: usize = 6;

/// A strided view; offset and strides count elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    offset: usize,
    axes: Vec<Axis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Axis {
    extent: usize,
    stride: isize,
}

impl Geometry {
    /// The view of `shape` that starts at `offset`.
    pub fn new(offset: usize, shape: &[usize], strides: &[isize]) -> Self {
        assert_eq!(shape.len(), strides.len(), "ranks of shape and strides");
        let mut axes: Vec<Axis> = Vec::with_capacity(shape.len());
        for (&extent, &stride) in shape.iter().zip(strides).filter(|(extent, _)| **extent != 1) {
            match axes.last_mut() {
                Some(outer) if outer.stride == stride * extent as isize => {
                    *outer = Axis { extent: outer.extent * extent, stride };
                }
                _ => axes.push(Axis { extent, stride }),
            }
        }
        Self { offset, axes }
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.axes.iter().map(|axis| axis.extent).product()
    }

    /// First element.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Whether consecutive elements are consecutive in memory.
    pub fn is_flat(&self) -> bool {
        matches!(self.axes[..], [] | [Axis { stride: 1, .. }])
    }

    /// Whether all elements are the same one.
    pub fn is_scalar(&self) -> bool {
        self.axes.iter().all(|axis| axis.stride == 0)
    }

    /// Whether so many elements are side by side along an axis.
    pub fn has_run_of(&self, length: usize) -> bool {
        self.axes.iter().any(|axis| axis.stride == 1 && axis.extent >= length)
    }

    /// Length of the innermost run with one stride.
    pub fn run(&self) -> usize {
        self.axes.last().map_or(1, |axis| axis.extent)
    }

    /// Step within the innermost run.
    pub fn step(&self) -> isize {
        self.axes.last().map_or(0, |axis| axis.stride)
    }

    /// After how many elements the view repeats itself, if it does.
    pub fn period(&self) -> Option<usize> {
        let first = self.axes.first().filter(|axis| axis.stride == 0)?;
        Some(self.elements() / first.extent)
    }

    /// Whether it is the first `rows` elements, each as often as the others.
    pub fn is_one_for_each_of(&self, rows: usize) -> bool {
        let repeated = |rest: &[Axis]| matches!(rest, [] | [Axis { stride: 0, .. }]);
        let [first, rest @ ..] = &self.axes[..] else { return rows == 1 && self.offset == 0 };
        self.offset == 0 && *first == Axis { extent: rows, stride: 1 } && repeated(rest)
    }

    /// One past the highest element that is read. Panics if an element lies before the memory's start.
    pub fn end(&self) -> usize {
        let (mut low, mut high) = (self.offset as i128, self.offset as i128);
        for axis in &self.axes {
            let reach = (axis.extent as i128 - 1) * axis.stride as i128;
            low += reach.min(0);
            high += reach.max(0);
        }
        assert!(low >= 0, "a view reaches {low} elements before its memory");
        high as usize + 1
    }

    /// Position of element `index`, and how many elements from it on are in the same innermost run.
    fn locate(&self, mut index: usize) -> (isize, usize) {
        let mut at = self.offset as isize;
        let mut left = 1;
        for (place, axis) in self.axes.iter().rev().enumerate() {
            let coordinate = index % axis.extent;
            index /= axis.extent;
            at += coordinate as isize * axis.stride;
            if place == 0 {
                left = axis.extent - coordinate;
            }
        }
        (at, left)
    }

    /// Position of element `index`.
    pub fn position(&self, index: usize) -> isize {
        self.locate(index).0
    }

    /// Elements `start..start + n` of the memory at `base`: in place where they are consecutive there, copied to
    /// `buffer` otherwise.
    ///
    /// # Safety
    /// From `base` on, `end()` elements of `size` bytes must be live, initialised and not written meanwhile, `buffer`
    /// writable for `n` and nobody else's, and both aligned.
    pub unsafe fn fetch(&self, size: usize, base: *const u8, start: usize, n: usize, buffer: *mut u8) -> *const u8 {
        let (at, left) = self.locate(start);
        if left >= n && self.step() == 1 {
            return base.wrapping_offset(at * size as isize);
        }
        // SAFETY: the caller's promise; the element types have the size that was asked for.
        unsafe {
            match size {
                1 => self.gather::<u8>(base.cast(), start, n, buffer.cast()),
                2 => self.gather::<u16>(base.cast(), start, n, buffer.cast()),
                4 => self.gather::<u32>(base.cast(), start, n, buffer.cast()),
                _ => self.gather::<u64>(base.cast(), start, n, buffer.cast()),
            }
        }
        buffer
    }

    /// Copies elements `start..start + n` run by run, of all runs along an axis, and of all groups of such runs,
    /// without looking for each.
    ///
    /// # Safety
    /// As for `fetch`.
    unsafe fn gather<T: Copy>(&self, base: *const T, mut start: usize, n: usize, mut buffer: *mut T) {
        let end = start + n;
        let (extent, step) = (self.run(), self.step());
        let next = self.axes.len().checked_sub(2).map_or(Axis { extent: 1, stride: 0 }, |at| self.axes[at]);
        let group = extent * next.extent;
        while start < end {
            if start.is_multiple_of(group) && end - start >= 2 * group && self.axes.len() <= 2 + OUTER {
                let groups = (end - start) / group;
                // SAFETY: as below.
                unsafe {
                    self.gather_groups(base, start / group, groups, buffer);
                    buffer = buffer.add(groups * group);
                }
                start += groups * group;
                continue;
            }
            let (at, left) = self.locate(start);
            let run = left.min(end - start);
            let runs = if run == extent {
                (next.extent - start / extent % next.extent).min((end - start) / extent)
            } else {
                1
            };
            // SAFETY: the runs are inside the view, which ends where the caller says it may; `buffer` has room for the
            // elements that are left.
            unsafe {
                copy_runs(base.offset(at), [next.stride, step], [runs, run], buffer);
                buffer = buffer.add(runs * run);
            }
            start += runs * run;
        }
    }

    /// Copies whole groups of runs, which are all along the two innermost axes. Short runs are copied without a call.
    ///
    /// # Safety
    /// As for `fetch`, for the elements of so many groups; there are at most [`OUTER`] other axes.
    unsafe fn gather_groups<T: Copy>(&self, base: *const T, first: usize, groups: usize, buffer: *mut T) {
        let (outer, inner) = self.axes.split_at(self.axes.len().saturating_sub(2));
        let (next, last) = match *inner {
            [next, last] => (next, last),
            _ => (Axis { extent: 1, stride: 0 }, Axis { extent: self.run(), stride: self.step() }),
        };
        let (strides, counts) = ([next.stride, last.stride], [next.extent, last.extent]);
        let all = Groups { outer, first, groups, size: next.extent * last.extent };
        let base = base.wrapping_add(self.offset);
        // SAFETY: the caller's promise.
        unsafe {
            match (last.stride, last.extent) {
                (1, 1..4) => all.each(base, buffer, |from, to| copy_short::<T, 1>(from, strides, counts, to)),
                (1, 4..8) => all.each(base, buffer, |from, to| copy_short::<T, 4>(from, strides, counts, to)),
                (1, 8..16) => all.each(base, buffer, |from, to| copy_short::<T, 8>(from, strides, counts, to)),
                (1, 16..32) => all.each(base, buffer, |from, to| copy_short::<T, 16>(from, strides, counts, to)),
                _ => all.each(base, buffer, |from, to| copy_runs(from, strides, counts, to)),
            }
        }
    }
}

/// Groups of elements along the outer axes.
struct Groups<'a> {
    outer: &'a [Axis],
    first: usize,
    groups: usize,
    /// Elements of a group.
    size: usize,
}

impl Groups<'_> {
    /// Calls `copy` with where each group begins, in the memory from `base` on and in the buffer.
    #[inline(always)]
    fn each<T>(&self, base: *const T, mut buffer: *mut T, copy: impl Fn(*const T, *mut T)) {
        let (mut coordinates, mut at, mut rest) = ([0; OUTER], 0isize, self.first);
        for (coordinate, axis) in coordinates[..self.outer.len()].iter_mut().zip(self.outer).rev() {
            *coordinate = rest % axis.extent;
            rest /= axis.extent;
            at += *coordinate as isize * axis.stride;
        }
        for _ in 0..self.groups {
            copy(base.wrapping_offset(at), buffer);
            buffer = buffer.wrapping_add(self.size);
            for (coordinate, axis) in coordinates[..self.outer.len()].iter_mut().zip(self.outer).rev() {
                *coordinate += 1;
                at += axis.stride;
                if *coordinate < axis.extent {
                    break;
                }
                *coordinate = 0;
                at -= axis.extent as isize * axis.stride;
            }
        }
    }
}

/// Copies runs of at least `N` and less than `2 * N` elements that follow each other: the first `N`, and the last `N`.
///
/// # Safety
/// As for [`copy_runs`].
#[inline(always)]
unsafe fn copy_short<T: Copy, const N: usize>(
    from: *const T,
    [across, _]: [isize; 2],
    [runs, run]: [usize; 2],
    to: *mut T,
) {
    for at in 0..runs {
        // SAFETY: so many elements are readable and writable; an array needs no other alignment than its elements.
        unsafe {
            let (from, to) = (from.offset(at as isize * across), to.add(at * run));
            if N == 1 {
                (0..run).for_each(|i| *to.add(i) = *from.add(i));
            } else {
                let last = run - N;
                let (start, end) = (from.cast::<[T; N]>().read(), from.add(last).cast::<[T; N]>().read());
                to.cast::<[T; N]>().write(start);
                to.add(last).cast::<[T; N]>().write(end);
            }
        }
    }
}

/// Copies `runs` of `run` elements, of which the strides are `across` and `step`.
///
/// # Safety
/// From the lowest to the highest of them all must be live, initialised and not written meanwhile, also what lies
/// between elements that are apart, and as many elements writable from `to` on and nobody else's.
unsafe fn copy_runs<T: Copy>(from: *const T, [across, step]: [isize; 2], [runs, run]: [usize; 2], to: *mut T) {
    // SAFETY: the caller's promise.
    unsafe {
        match (step, run) {
            // Short runs of one element, such as the places in a word or a pixel that is repeated.
            (0, 2) => vectorised(Repeat::<T, 2> { from, across, runs, to }),
            (0, 4) => vectorised(Repeat::<T, 4> { from, across, runs, to }),
            (0, 8) => vectorised(Repeat::<T, 8> { from, across, runs, to }),
            (0, 16) => vectorised(Repeat::<T, 16> { from, across, runs, to }),
            (0, 32) => vectorised(Repeat::<T, 32> { from, across, runs, to }),
            // Such as the halves of wider elements, and reversed rows.
            (2 | -1, 32..) => vectorised(Shuffled { from, strides: [across, step], counts: [runs, run], to }),
            _ => (0..runs).for_each(|at| copy_run(from.offset(at as isize * across), step, run, to.add(at * run))),
        }
    }
}

/// Every one of `runs` elements `N` times; made by [`copy_runs`] only, whose promises it relies on.
struct Repeat<T, const N: usize> {
    from: *const T,
    across: isize,
    runs: usize,
    to: *mut T,
}

impl<T: Copy, const N: usize> VectorLoop for Repeat<T, N> {
    type Output = ();
    const WORTH_IT: bool = true;

    #[inline(always)]
    fn run(self) {
        for at in 0..self.runs {
            // SAFETY: so many elements are readable and writable; an array needs no other alignment than its elements.
            unsafe {
                let element = *self.from.offset(at as isize * self.across);
                self.to.cast::<[T; N]>().add(at).write([element; N]);
            }
        }
    }
}

/// Runs whose elements vectors bring into order; made by [`copy_runs`] only, whose promises it relies on.
struct Shuffled<T> {
    from: *const T,
    strides: [isize; 2],
    counts: [usize; 2],
    to: *mut T,
}

impl<T: Copy> VectorLoop for Shuffled<T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ([across, step], [runs, run]) = (self.strides, self.counts);
        for at in 0..runs {
            // SAFETY: so many elements are readable and writable.
            unsafe { copy_run(self.from.offset(at as isize * across), step, run, self.to.add(at * run)) };
        }
    }
}

/// # Safety
/// As for [`copy_runs`], for one run.
#[inline(always)]
unsafe fn copy_run<T: Copy>(from: *const T, step: isize, run: usize, to: *mut T) {
    // SAFETY: the caller's promise.
    unsafe {
        let to = std::slice::from_raw_parts_mut(to, run);
        match step {
            0 => to.fill(*from),
            1 => to.copy_from_slice(std::slice::from_raw_parts(from, run)),
            -1 => {
                let from = std::slice::from_raw_parts(from.offset(1 - run as isize), run);
                to.iter_mut().zip(from.iter().rev()).for_each(|(to, from)| *to = *from);
            }
            2 => {
                // Of pairs, which vectors take apart. The last element's partner may be beyond the end.
                let last = run.saturating_sub(1);
                for (to, pair) in to.iter_mut().zip(std::slice::from_raw_parts(from.cast::<[T; 2]>(), last)) {
                    *to = pair[0];
                }
                if let Some(to) = to.last_mut() {
                    *to = *from.add(2 * last);
                }
            }
            _ => {
                for (i, to) in to.iter_mut().enumerate() {
                    *to = *from.offset(i as isize * step);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
