//! Two phases, where loops that are no neighbours are reduced and the innermost one is short.
//!
//! To find where a short segment or row begins takes longer than to reduce it. So the outermost reduced loop is reduced
//! by itself first: its rows are all that is behind it, and come to a packed value in scratch memory. That is reduced
//! next, along one loop fewer, maybe in two phases again. Every result has the bits of these reductions one after the
//! other, but for products of floats, whose columns are not folded as segments. Extents alone decide how many phases
//! there are, so an operand that is read where it is has the order of steps of a packed copy.

use super::inner::Inner;
use super::{Loops, MAX_RANK, Nest};
use smallvec::SmallVec;

/// Elements of the longest segments and rows that are short. Longer ones are as fast in one phase, or faster, as that
/// writes nothing in between.
const SHORT: usize = 128;
/// Segments or rows that take as long as what is around a second phase.
const FEW: usize = 32;

/// Bytes of a cache line, at which each value in scratch memory begins.
const LINE: usize = 64;

impl Loops {
    /// The loops of both phases, if there are two.
    pub(super) fn phases(&self) -> Option<[Self; 2]> {
        if self.reduced.depth < 2 {
            return None;
        }
        let length = if self.segments { self.reduced.innermost() } else { self.kept.innermost() };
        if length > SHORT || self.kept.count() * self.count < FEW * length {
            return None;
        }
        let outer = self.outer();
        let rest = || self.alternating().enumerate().filter(|&(at, _)| at != outer).map(|(_, each)| each);
        let extents: SmallVec<[usize; MAX_RANK]> = rest().map(|(extent, ..)| extent).collect();
        let reduced = rest().enumerate().filter(|&(_, (.., is_reduced))| is_reduced);
        let axes: SmallVec<[usize; MAX_RANK]> = reduced.map(|(axis, _)| axis).collect();
        let second = Self::packed(&extents, &axes);

        let (mut kept, mut reduced) = (Nest::EMPTY, Nest::EMPTY);
        self.kept.loops[..outer].iter().for_each(|&(extent, step)| kept.push(extent, step));
        kept.push(extents[outer..].iter().product(), 1);
        let (count, step) = self.reduced.loops[0];
        reduced.push(count, step);
        Some([Self { kept, reduced, segments: false, as_segments: false, count }, second])
    }

    /// Kept loops around the outermost reduced one: one or none.
    fn outer(&self) -> usize {
        usize::from(self.kept.depth + usize::from(self.segments) > self.reduced.depth)
    }

    /// Extents and steps of all loops, outermost first, and whether they are reduced: every second one is.
    fn alternating(&self) -> impl DoubleEndedIterator<Item = (usize, usize, bool)> + ExactSizeIterator {
        (0..self.kept.depth + self.reduced.depth).rev().map(|at| {
            let is_reduced = at.is_multiple_of(2) == self.segments;
            let nest = if is_reduced { &self.reduced } else { &self.kept };
            let (extent, step) = nest.loops[nest.depth - 1 - at / 2];
            (extent, step, is_reduced)
        })
    }

    /// Whether all that is behind the outermost reduced loop is packed.
    pub(super) fn has_packed_rows(&self) -> bool {
        let mut width = 1;
        self.alternating().skip(self.outer() + 1).rev().all(|(extent, step, _)| {
            let is_next = step == width;
            width *= extent;
            is_next
        })
    }

    /// Bytes of the first phases' results.
    pub(super) fn scratch_bytes(&self, size: usize) -> usize {
        self.phases().map_or(0, |[first, second]| first.line_bytes(size) + second.scratch_bytes(size))
    }

    /// Bytes of the result, in whole lines.
    fn line_bytes(&self, size: usize) -> usize {
        (self.kept.count() * size).next_multiple_of(LINE)
    }

    /// Reduces `x` to `out`, in so many phases as it takes.
    pub(super) fn run(
        &self,
        inner: &Inner,
        x: &[u8],
        (out, scratch): (&mut [u8], &mut [u8]),
        finish: &(dyn Fn(&mut [u8]) + Sync),
    ) {
        let Some([first, second]) = self.phases() else { return self.run_at_once(inner, x, out, finish) };
        let (folded, scratch) = scratch.split_at_mut(first.line_bytes(inner.size));
        let folded = &mut folded[..first.kept.count() * inner.size];
        first.run_at_once(inner, x, folded, &|_| ());
        second.run(inner, folded, (out, scratch), finish);
    }
}
