//! Many small products of 16-bit floats: their operands are converted together, and so are the results. What is around
//! a conversion takes longer than to convert a small matrix.

use super::lines::Halves;
use crate::kernels::elementwise::round::HalfFloat;
use crate::kernels::elementwise::tile::TileFn;
use crate::kernels::matmul::MatMul;
use crate::kernels::matmul::row::Few;
use crate::kernels::matmul::scratch::Scratch;
use crate::kernels::matmul::sharing::Sharing;
use crate::kernels::span::{Span, SpanMut};
use std::cell::Cell;
use std::ops::Range;

/// Elements of a small product: of its operands and of the result.
const SMALL: usize = 4096;
/// Elements that are converted together: as f32 they stay in the second cache.
const TOGETHER: usize = 1 << 15;

/// What a thread keeps, so that running allocates nothing.
#[derive(Default)]
pub struct Kept {
    /// Operands and results as f32.
    wide: Scratch,
    /// First elements of the operands of each product among those.
    batch: Vec<(usize, usize)>,
}

thread_local! {
    pub static KEPT: Cell<Kept> = const { Cell::new(Kept { wide: Scratch::new(), batch: Vec::new() }) };
}

/// Products that are small.
pub struct Many<'a> {
    products: &'a MatMul,
    float: HalfFloat,
    /// From f32 to the floats.
    narrow: TileFn,
    /// Elements from the first to the last of each operand of one product.
    reach: [usize; 2],
    /// Products that are converted together.
    group: usize,
}

impl MatMul {
    /// The products, if they are small, there are several, and their operands are near each other.
    pub(in crate::kernels::matmul) fn many(&self, float: HalfFloat, narrow: TileFn) -> Option<Many<'_>> {
        let (m, n, k) = (self.m, self.n, self.k);
        let elements = m * k + k * n + m * n;
        let far = |(row, column): (isize, isize), [rows, columns]: [usize; 2]| {
            let [row, column] = [usize::try_from(row).ok()?, usize::try_from(column).ok()?];
            Some((rows - 1) * row + (columns - 1) * column + 1)
        };
        // Those convert the matrix while they multiply.
        let is_row = Few::of((m, n, k), self.lhs, self.rhs, n).is_some();
        if self.batch.len() < 2 || elements > SMALL || k == 0 || is_row {
            return None;
        }
        let reach = [far(self.lhs, [m, k])?, far(self.rhs, [k, n])?];
        let many = Many { products: self, float, narrow, reach, group: TOGETHER / elements };
        let groups = self.batch.chunks(many.group);
        let are_near = |group: &[(usize, usize)]| {
            let read: usize = many.regions(group).iter().map(Range::len).sum();
            read <= 2 * group.len() * (m * k + k * n)
        };
        groups.into_iter().all(are_near).then_some(many)
    }
}

impl Many<'_> {
    /// From the first to the last element of each operand of these products.
    fn regions(&self, group: &[(usize, usize)]) -> [Range<usize>; 2] {
        let region = |firsts: &mut dyn Iterator<Item = usize>, reach: usize| {
            let (low, high) = firsts.fold((usize::MAX, 0), |(low, high), first| (low.min(first), high.max(first)));
            low..high + reach
        };
        let [a, b] = self.reach;
        [region(&mut group.iter().map(|pair| pair.0), a), region(&mut group.iter().map(|pair| pair.1), b)]
    }

    /// Multiplies, groups on several threads if they are much work.
    pub fn run(&self, lhs: Span, rhs: Span, output: &mut SpanMut) {
        let products = self.products;
        products.share(self.group, &|some| {
            for start in some.clone().step_by(self.group) {
                self.run_group([lhs, rhs], output, start..some.end.min(start + self.group));
            }
        });
    }

    /// Converts the operands of some products, multiplies, and converts the results.
    fn run_group(&self, operands: [Span; 2], output: &SpanMut, some: Range<usize>) {
        let products = self.products;
        let (batch, size) = (&products.batch[some.clone()], products.m * products.n);
        let regions = self.regions(batch);
        let mut kept = KEPT.take();
        let [a, b, results] = kept.wide.parts([regions[0].len(), regions[1].len(), some.len() * size]);
        let mut wide = [a, b];
        for ((wide, region), operand) in wide.iter_mut().zip(&regions).zip(operands) {
            let halves = &operand.slice::<u16>()[region.clone()];
            let halves = Halves { float: self.float, matrix: (halves.as_ptr(), (0, 1)) };
            // SAFETY: so many elements are in the slice.
            unsafe { halves.widen((1, region.len()), wide, Sharing::Whole) };
        }
        kept.batch.clear();
        kept.batch.extend(batch.iter().map(|&(a, b)| (a - regions[0].start, b - regions[1].start)));
        products.multiply(wide.map(|wide| &*wide), &kept.batch, results);
        let to = output.as_ptr().wrapping_add(some.start * size * size_of::<u16>());
        // SAFETY: the output has room for all products (checked by `MatMul::run`), and this group's are its alone.
        unsafe { (self.narrow)(to, [results.as_ptr().cast(); 3], results.len()) };
        KEPT.set(kept);
    }
}

#[cfg(test)]
mod tests;
