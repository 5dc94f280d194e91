//! Batched matrix products of strided operands, by the `gemm` crate.
//!
//! A right operand with consecutive columns is turned first ([`turned`]), a single row or column is multiplied without
//! `gemm` ([`row`], [`column`]), as tiny matrices are ([`tiny`]), small ones that do not suit it ([`small`]), single
//! numbers ([`inner_products`]) and those with one long extent ([`slim`]), and threads share a few rows times a deep
//! operand by its rows ([`deep`]). Batch extents are broadcast by strides of 0; a batch that walks the left operand's
//! rows while the right one stays is one taller product. 16-bit operands are converted to f32, multiplied there and
//! rounded once: sums have the precision of f32 on every processor.
//!
//! A constant matrix with equal columns, as those of Fourier transforms have them, is multiplied another way
//! ([`folded`]).

#![expect(unsafe_code, reason = "matrices behind pointers, and vector instructions")]

mod column;
mod deep;
mod folded;
mod inner_products;
mod kept;
mod lanes;
mod narrow;
mod product;
mod row;
mod scratch;
mod sharing;
mod slim;
mod small;
mod sums;
mod tiny;
mod turn;
mod turned;
mod widened;

use super::elementwise::load::Geometry;
use super::elementwise::round;
use super::span::{Span, SpanMut};
use super::threads;
use crate::ir::DType;
use folded::Folded;
use inner_products::InnerProducts;
pub use kept::keep as keep_for_thread;
pub use lanes::LANES as ROTATION_LANES;
use lanes::{LANES, Steps, Tables, Tiles};
use product::Product;
pub use product::{IN_PLACE, Matrix, product, product_of_part};
pub use sharing::{MULTIPLIED, PARALLEL_PRODUCT};
use sharing::{PIECE, Sharing};
use std::ops::Range;
use tiny::TinyProducts;
pub use turned::{ColumnsToTurn, turn};
use widened::{Halves, Widened};

/// One operand: a strided view of shape `[batch…, rows, columns]`.
#[derive(Clone, Debug)]
pub struct Operand {
    pub offset: usize,
    pub strides: Vec<isize>,
}

/// A matrix product made ready to run.
#[derive(Debug)]
pub struct MatMul {
    dtype: DType,
    m: usize,
    n: usize,
    k: usize,
    /// Row and column stride.
    lhs: (isize, isize),
    rhs: (isize, isize),
    /// First elements of the operands of each product.
    batch: Vec<(usize, usize)>,
    /// One past the last element that is read.
    ends: (usize, usize),
    /// The constant operand, if folding it pays.
    folded: Option<(Side, Folded)>,
}

/// An operand of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

impl MatMul {
    /// The product that fills the packed `shape` (`[batch…, m, n]`); both operands are broadcast to its batch.
    pub fn new(dtype: DType, shape: &[usize], k: usize, lhs: &Operand, rhs: &Operand) -> Self {
        let rank = shape.len();
        let (batch_shape, m, n) = (&shape[..rank - 2], shape[rank - 2], shape[rank - 1]);
        let matrix = |o: &Operand| (o.strides[rank - 2], o.strides[rank - 1]);
        let (lhs_matrix, rhs_matrix) = (matrix(lhs), matrix(rhs));
        let end = |o: &Operand, rows: usize, columns: usize| {
            let shape: Vec<usize> = batch_shape.iter().copied().chain([rows, columns]).collect();
            if shape.contains(&0) { 0 } else { Geometry::new(o.offset, &shape, &o.strides).end() }
        };
        let ends = (end(lhs, m, k), end(rhs, k, n));
        let batch = vec![(lhs.offset, rhs.offset)];
        let one = |m| Self { dtype, m, n, k, lhs: lhs_matrix, rhs: rhs_matrix, batch, ends, folded: None };
        // One taller product: the right operand stays, the left one's rows go on through the batch. So `[8, 3, 5]`
        // times `[5, 2]` is `[24, 5]` times `[5, 2]`.
        let mut rows = m;
        let tall = batch_shape.iter().zip(&lhs.strides).zip(&rhs.strides).rev().all(|((&extent, &l), &r)| {
            let follows = extent == 1 || (r == 0 && l == lhs_matrix.0 * rows as isize);
            rows *= extent;
            follows
        });
        if tall && (m > 1 || batch_shape.iter().all(|&extent| extent == 1)) {
            return one(rows);
        }
        let mut batch = vec![(lhs.offset, rhs.offset)];
        for ((&extent, &l), &r) in batch_shape.iter().zip(&lhs.strides).zip(&rhs.strides) {
            batch = batch
                .iter()
                .flat_map(|&(a, b)| {
                    (0..extent as isize).map(move |i| (a.wrapping_add_signed(i * l), b.wrapping_add_signed(i * r)))
                })
                .collect();
        }
        Self { batch, ..one(m) }
    }

    /// Makes use of what one operand is known to be: these f32 elements, which its offset and strides refer to.
    pub fn with_constant(mut self, side: Side, elements: &[u8]) -> Self {
        let (m, n, k) = (self.m, self.n, self.k);
        let of = |pair: &(usize, usize)| if side == Side::Left { pair.0 } else { pair.1 };
        // The constant as a left matrix, how many columns it is multiplied by, and the strides of those.
        let (rows, [row, column], lanes, others) = match side {
            Side::Left => (m, [self.lhs.0, self.lhs.1], n, [self.rhs.0, self.rhs.1]),
            Side::Right => (n, [self.rhs.1, self.rhs.0], m, [self.lhs.0, self.lhs.1]),
        };
        let first = self.batch.first().map(of);
        let same = self.batch.iter().all(|pair| Some(of(pair)) == first);
        let fits = rows <= folded::MOST && (1..=folded::MOST).contains(&k) && lanes >= LANES / 2;
        let (Some(first), true) = (first, same && fits && others.iter().all(|&stride| stride >= 0)) else {
            return self;
        };
        let place = |i: usize, j: usize| first.wrapping_add_signed(i as isize * row + j as isize * column);
        let (elements, _) = elements.as_chunks();
        let element = |i: usize, j: usize| f32::from_ne_bytes(elements[place(i, j)]);
        let matrix = (0..rows).flat_map(|i| (0..k).map(move |j| element(i, j))).collect();
        self.folded = Folded::of(matrix, [rows, k]).map(|folded| (side, folded));
        self
    }

    /// Whether a run uses several threads where there are any.
    pub fn is_parallel(&self) -> bool {
        if let Some((side, matrix)) = &self.folded {
            let lanes = if *side == Side::Left { self.n } else { self.m };
            let moved = self.batch.len() * lanes * (matrix.rows + matrix.columns);
            // Each element takes part in several sums.
            return moved * size_of::<f32>() > threads::PARALLEL_BYTES / 2;
        }
        self.sharing() == Sharing::Large || self.multiplications() >= PARALLEL_PRODUCT
    }

    /// Whether the products are those of tiny matrices.
    fn are_tiny(&self) -> bool {
        tiny::are_tiny((self.m, self.n, self.k))
    }

    /// Whether each product is that of a row and a column of consecutive numbers.
    fn are_inner_products(&self) -> bool {
        (self.m, self.n) == (1, 1) && (self.lhs.1, self.rhs.0) == (1, 1) && self.sharing() == Sharing::Whole
    }

    /// How threads share each product.
    fn sharing(&self) -> Sharing {
        Sharing::of((self.m, self.n, self.k), self.batch.len())
    }

    /// Those of all products, and what takes as long as some more.
    fn multiplications(&self) -> usize {
        let around = if self.are_tiny() { tiny::AROUND } else { 0 };
        self.batch.len() * (self.m * self.n * self.k + around)
    }

    /// Rows, columns and inner extent of one product, and how many there are.
    pub fn extents(&self) -> (usize, usize, usize, usize) {
        (self.m, self.n, self.k, self.batch.len())
    }

    /// Whether [`run`](Self::run) takes tables.
    pub fn can_rotate(&self) -> bool {
        self.m.is_multiple_of(2) && matches!(self.folded, Some((Side::Left, _)))
    }

    /// Multiplies. With tables the result is the product times the first one, plus the product with the rows of each
    /// pair exchanged times the other one. Each is as large as one product, or has an element for so many neighbours in
    /// a row, a multiple of [`ROTATION_LANES`].
    ///
    /// Panics if an operand is too short or misaligned, or the output has another size than the products.
    pub fn run(&self, lhs: Span, rhs: Span, tables: Option<[Span; 2]>, output: &mut SpanMut) {
        let size = self.dtype.size();
        let (m, n) = (self.m, self.n);
        assert!(lhs.len() >= self.ends.0 * size && rhs.len() >= self.ends.1 * size, "an operand is too short");
        assert_eq!(output.len(), self.batch.len() * m * n * size, "bytes of a matrix product");
        let aligned = [lhs.as_ptr().addr(), rhs.as_ptr().addr(), output.as_ptr().addr()];
        assert!(aligned.iter().all(|address| address.is_multiple_of(size)), "an operand is misaligned");
        if let Some((side, folded)) = &self.folded {
            let other = if *side == Side::Left { rhs } else { lhs };
            return self.run_folded(*side, folded, other, tables, output);
        }
        assert!(tables.is_none(), "only folded products rotate");
        if self.dtype == DType::F32 && (self.are_tiny() || self.are_inner_products()) {
            return self.run_loop(lhs, rhs, output);
        }
        let (sharing, all) = (self.sharing(), 0..self.batch.len());
        if sharing == Sharing::Whole
            && let (Some(float), Some(narrow)) = (round::half_float(self.dtype), round::narrow(self.dtype))
            && let Some(many) = self.many(float, narrow)
        {
            return many.run(lhs, rhs, output);
        }
        let product = |at: usize| {
            let (a, b) = self.batch[at];
            let a = lhs.as_ptr().wrapping_add(a * size);
            let b = rhs.as_ptr().wrapping_add(b * size);
            let c = output.as_ptr().wrapping_add(at * m * n * size);
            // SAFETY: both operands are within their spans, which nobody writes, and the output has room for each
            // product, aligned (checked above); products write disjoint parts of the output, which is borrowed alone.
            unsafe { self.product(a, b, c, sharing) };
        };
        // Many small products share the threads; one large product is shared by them.
        if sharing == Sharing::Whole { self.share(1, &|some| some.for_each(product)) } else { all.for_each(product) }
    }

    /// Runs `part` on the numbers of all products, on several threads if they are much work. `together` are not taken
    /// apart, but for those that are left.
    fn share(&self, together: usize, part: &(dyn Fn(Range<usize>) + Sync)) {
        let count = self.batch.len();
        let is_shared = MULTIPLIED.is_met(self.multiplications());
        let pieces = if is_shared { threads::pieces(self.multiplications(), PIECE) } else { 1 };
        let piece = (count / pieces).max(1).next_multiple_of(together);
        let part = |at: usize| part(at * piece..count.min((at + 1) * piece));
        let pieces = count.div_ceil(piece);
        if is_shared { threads::for_each(pieces, 1, &part) } else { (0..pieces).for_each(part) }
    }

    /// All products of f32 that one loop makes.
    fn run_loop(&self, lhs: Span, rhs: Span, output: &SpanMut) {
        let size = self.m * self.n;
        self.share(1, &|some| {
            let out = output.as_ptr().cast::<f32>().wrapping_add(some.start * size);
            // SAFETY: the output is aligned and has room for all products (checked by `run`); parts are disjoint.
            let out = unsafe { std::slice::from_raw_parts_mut(out, some.len() * size) };
            self.multiply([lhs.slice(), rhs.slice()], &self.batch[some], out);
        });
    }

    /// Some products of f32 on this thread. If they are not tiny, no stride is negative.
    fn multiply(&self, [a, b]: [&[f32]; 2], batch: &[(usize, usize)], out: &mut [f32]) {
        let extents = (self.m, self.n, self.k);
        if self.are_tiny() {
            return TinyProducts { extents, a: (a, self.lhs), b: (b, self.rhs), batch, out }.run();
        }
        if self.are_inner_products() {
            return InnerProducts { a, b, length: self.k, batch, out }.run();
        }
        let strides = |(row, column): (isize, isize)| [row as usize, column as usize];
        let (left, right) = (strides(self.lhs), strides(self.rhs));
        for (&(first, second), c) in batch.iter().zip(out.chunks_exact_mut(self.m * self.n)) {
            let (a, b) = (&a[first..], &b[second..]);
            let [a, b] = [Matrix { elements: a, strides: left }, Matrix { elements: b, strides: right }];
            product(extents, a, b, (c, self.n), false);
        }
    }

    /// All products with a constant.
    fn run_folded(&self, side: Side, matrix: &Folded, other: Span, tables: Option<[Span; 2]>, output: &SpanMut) {
        assert!(tables.is_none() || self.can_rotate(), "the rows of a rotated product are pairs");
        let tables = tables.as_ref().map(|tables| {
            let tables = tables.each_ref().map(|table| table.slice::<f32>());
            Tables { tables, times: self.m * self.n / tables[0].len() }
        });
        let steps = |rows: isize, lanes: isize| Steps { rows: rows as usize, lanes: lanes as usize };
        let packed = self.n as isize;
        let (lanes, from, to_steps) = match side {
            Side::Left => (self.n, steps(self.rhs.0, self.rhs.1), steps(packed, 1)),
            Side::Right => (self.m, steps(self.lhs.1, self.lhs.0), steps(1, packed)),
        };
        let other = other.slice::<f32>();
        let operand = |at: usize| &other[if side == Side::Left { self.batch[at].1 } else { self.batch[at].0 }..];
        let all = self.batch.len() * lanes.div_ceil(LANES);
        let pieces = if self.is_parallel() { threads::pieces(self.multiplications(), PIECE) } else { 1 };
        let group = (all / pieces).max(1);
        let part = |at: usize| {
            let tiles = at * group..all.min((at + 1) * group);
            let to = output.as_ptr().cast();
            let tiles = Tiles { matrix, lanes, operands: &operand, from, tables, to, to_steps, tiles };
            // SAFETY: the output is aligned and has room for all results (checked by `run`), and is borrowed alone;
            // each part has other tiles.
            unsafe { lanes::run(tiles) };
        };
        if group == all { part(0) } else { threads::for_each(all.div_ceil(group), 1, &part) }
    }

    /// One product of the matrices at `a` and `b` into the packed one at `c`, on threads by `sharing`.
    ///
    /// # Safety
    /// All three must be live for the extents and strides of `self`, aligned to the dtype, and `c` apart from both and
    /// nobody else's. From the first to the last element of each operand all is initialised and not written meanwhile.
    unsafe fn product(&self, a: *const u8, b: *const u8, c: *mut u8, sharing: Sharing) {
        let (m, n, k) = (self.m, self.n, self.k);
        let (Some(float), Some(narrow)) = (round::half_float(self.dtype), round::narrow(self.dtype)) else {
            let (a, b, c) = ((a.cast(), self.lhs), (b.cast(), self.rhs), (c.cast(), n));
            // SAFETY: the caller's promise, for f32.
            return unsafe { Product { extents: (m, n, k), a, b, c, accumulate: false }.run(sharing) };
        };
        let halves = |matrix: *const u8, strides| Halves { float, matrix: (matrix.cast(), strides) };
        let (a, b) = (halves(a, self.lhs), halves(b, self.rhs));
        // SAFETY: the caller's promise; the function is that of the dtype.
        unsafe { Widened { extents: (m, n, k), a, b, c, narrow }.run(sharing) };
    }
}

#[cfg(test)]
mod tests;
