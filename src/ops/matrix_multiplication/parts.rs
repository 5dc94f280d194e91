//! Products cut into parts that the kernels get right: by rows and columns, by batches, by the inner extent.

use burn_backend::Shape;

use crate::ffi::{self, os_version};
use crate::lowering::axis::{self, joined, turning};

/// The largest inner extent of one product. From 32767 on, M1 and M2 read beyond the operands (pytorch/pytorch#177116),
/// and what they make of that depends on what lies there (#193487: 50,000 rows on an M2 Max).
pub(crate) const INNER: usize = 1 << 14;

/// The most rows and columns of one product's matrices on macOS 14.0 to 14.3, and how far apart in memory their rows
/// may be, also those of a slice. Products beyond this limit are wrong there (pytorch/pytorch#116769, #111634, #117549;
/// pytorch's mps/operations/LinearAlgebra.mm).
const EXTENT: usize = 1 << 15;

/// Whether rows that are so far apart have to be copied for a product on this system.
pub(in crate::ops) fn are_distant(apart: usize) -> bool {
    apart > EXTENT && !os_version::at_least(14, 4)
}

/// The most matrices in one product. MPSGraph's count of matrices wraps around beyond 2^16 (pytorch/pytorch#189495).
pub(super) const BATCH: usize = 1 << 15;

/// Whether one of the last two extents is more than [`EXTENT`] on a system where that matters.
pub(super) fn is_far(shapes: [&[usize]; 2]) -> bool {
    let far = |shape: &[usize]| shape.iter().rev().take(2).any(|&extent| extent > EXTENT);
    !os_version::at_least(14, 4) && shapes.into_iter().any(far)
}

/// Whether the product of matrices of these shapes has one row, on a system where that matters: on M1, macOS 26 loses
/// the bias that it fuses into such a product (see pytorch's mps/operations/Linear.mm); fixed in 27.
pub(super) fn is_fused_row(left: &[usize]) -> bool {
    left[left.len() - 2] == 1 && os_version::at_least(26, 0) && !os_version::at_least(27, 0)
}

/// Builds products of parts.
pub(super) struct Parts<'a> {
    pub graph: &'a ffi::Graph,
    /// Fed minus infinity in the operands' dtype, if a part may have rows that are too far apart, or the product has
    /// one row. The maximum of something and this number makes MPSGraph copy that; otherwise it may be read in place.
    pub least: Option<ffi::Tensor>,
}

impl Parts<'_> {
    /// At most [`EXTENT`] rows by as many columns at a time.
    pub fn far(&self, [a, b]: [&ffi::Tensor; 2], [shape_a, shape_b]: [&Shape; 2]) -> ffi::Tensor {
        let (last_a, last_b) = (shape_a.num_dims() - 1, shape_b.num_dims() - 1);
        let last = last_a.max(last_b);
        let rows = cuts(shape_a[last_a - 1], EXTENT).map(|[low, high]| {
            let (left, left_shape) = self.part(a, shape_a, last_a - 1, [low, high]);
            let columns = cuts(shape_b[last_b], EXTENT).map(|[low, high]| {
                let (right, right_shape) = self.part(b, shape_b, last_b, [low, high]);
                self.batches([&left, &right], [&left_shape, &right_shape])
            });
            joined(self.graph, &columns.collect::<Vec<_>>(), last)
        });
        joined(self.graph, &rows.collect::<Vec<_>>(), last - 1)
    }

    /// At most [`BATCH`] matrices at a time.
    pub fn batches(&self, [a, b]: [&ffi::Tensor; 2], [shape_a, shape_b]: [&Shape; 2]) -> ffi::Tensor {
        let ranks = [shape_a, shape_b].map(|shape| shape.num_dims());
        // Ranks other than three are recorded only if there are few matrices.
        let count = shape_a[0].max(shape_b[0]);
        if ranks != [3, 3] || count <= BATCH {
            return self.one_product(a, b, shape_a, shape_b);
        }
        let products = cuts(count, BATCH).map(|bounds| {
            let part = |x: &ffi::Tensor, shape: &Shape| match shape[0] {
                1 => (x.clone(), shape.clone()),
                _ => self.part(x, shape, 0, bounds),
            };
            let ((a, shape_a), (b, shape_b)) = (part(a, shape_a), part(b, shape_b));
            self.one_product(&a, &b, &shape_a, &shape_b)
        });
        joined(self.graph, &products.collect::<Vec<_>>(), 0)
    }

    /// Products of at most [`BATCH`] matrices.
    fn one_product(&self, a: &ffi::Tensor, b: &ffi::Tensor, shape_a: &Shape, shape_b: &Shape) -> ffi::Tensor {
        let graph = self.graph;
        let [rank_a, rank_b] = [shape_a, shape_b].map(|shape| shape.num_dims());
        if !is_fused_row(shape_a) {
            return self.inner_parts(a, b, shape_a, shape_b);
        }
        if shape_b[rank_b - 1] == 1 {
            // The exchanged product would have one row too. So the row is doubled, and one row of the result is kept.
            let mut twice = shape_a.clone();
            twice[rank_a - 2] = 2;
            let rows = graph.concat(&[a, a], rank_a as isize - 2);
            let product = self.inner_parts(&rows, b, &twice, shape_b);
            return self.copied(graph.slice_dimension(&product, rank_a.max(rank_b) - 2, 0, 1));
        }
        // With the operands' roles exchanged the product has one column instead of one row. The result is copied, so
        // that nothing is fused into a product that the compiler has turned back.
        let turned = |x: &ffi::Tensor, shape: &Shape| {
            let last = shape.num_dims() - 1;
            let mut turned = shape.clone();
            (turned[last - 1], turned[last]) = (shape[last], shape[last - 1]);
            (graph.transpose(x, &turning(last + 1)), turned)
        };
        let ((left, shape_left), (right, shape_right)) = (turned(b, shape_b), turned(a, shape_a));
        let product = self.inner_parts(&left, &right, &shape_left, &shape_right);
        self.copied(graph.transpose(&product, &turning(rank_a.max(rank_b))))
    }

    /// The same, in memory of its own if the number for that is fed.
    fn copied(&self, x: ffi::Tensor) -> ffi::Tensor {
        match &self.least {
            Some(least) => self.graph.maximum_with_nan_propagation(&x, least),
            None => x,
        }
    }

    /// The sum of products of at most [`INNER`] columns and rows.
    fn inner_parts(&self, a: &ffi::Tensor, b: &ffi::Tensor, shape_a: &Shape, shape_b: &Shape) -> ffi::Tensor {
        let [last_a, last_b] = [shape_a, shape_b].map(|shape| shape.num_dims() - 1);
        let inner = shape_a[last_a];
        let products = cuts(inner, INNER).map(|bounds| {
            let (left, _) = self.part(a, shape_a, last_a, bounds);
            let (right, _) = self.part(b, shape_b, last_b - 1, bounds);
            self.graph.matrix_multiplication(&left, &right)
        });
        products
            .reduce(|sum, product| self.graph.addition(&sum, &product))
            .unwrap_or_else(|| unreachable!("an inner extent of 0 is answered when recorded"))
    }

    /// The part of one axis within `bounds`, and its shape.
    fn part(&self, x: &ffi::Tensor, shape: &Shape, axis: usize, bounds: [usize; 2]) -> (ffi::Tensor, Shape) {
        if bounds == [0, shape[axis]] {
            return (x.clone(), shape.clone());
        }
        let part = axis::part(self.graph, x, shape, axis, bounds);
        let part = if rows_are_distant(shape) { self.copied(part) } else { part };
        let mut shape = shape.clone();
        shape[axis] = bounds[1] - bounds[0];
        (part, shape)
    }
}

/// Whether the rows of a part of such matrices are further apart than [`EXTENT`], as the rows of the matrices are.
fn rows_are_distant(shape: &[usize]) -> bool {
    matches!(shape, [.., rows, columns] if *rows > 1 && *columns > EXTENT)
}

/// `0..extent` in pieces of at most `most`.
fn cuts(extent: usize, most: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..extent).step_by(most).map(move |low| [low, extent.min(low + most)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_cover_the_extent() {
        let of = |extent, most| cuts(extent, most).collect::<Vec<_>>();
        assert_eq!(of(5, 5), [[0, 5]]);
        assert_eq!(of(6, 5), [[0, 5], [5, 6]]);
        assert_eq!(of(1, 5), [[0, 1]]);
    }
}
