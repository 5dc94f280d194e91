//! Products of 16-bit floats: operands are converted to f32, multiplied there, and rounded once.
//!
//! Of a large product, threads share the conversions too: each of the operands before the first piece is multiplied,
//! because several pieces read them; of the results by pieces, as soon as one is made.

use super::product::Product;
use crate::kernels::elementwise::tile::TileFn;
use crate::kernels::threads;
use std::cell::Cell;
use std::ops::Range;

thread_local! {
    /// Operands and result as f32, kept so that running allocates nothing.
    static WIDE: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// Elements of packed lines that are converted together.
const TOGETHER: usize = 4096;

/// `c = a * b`, (m, k) times (k, n): the operands with their row and column strides, the result packed.
pub(super) struct Widened {
    pub extents: (usize, usize, usize),
    pub a: (*const u16, (isize, isize)),
    pub b: (*const u16, (isize, isize)),
    pub c: *mut u8,
    /// From the floats to f32, and back.
    pub widen: TileFn,
    pub narrow: TileFn,
}

// SAFETY: the pointers are only used by `run`, whose caller holds what they point to for as long as it takes.
unsafe impl Sync for Widened {}

impl Widened {
    /// Multiplies, on several threads if it is `shared`.
    ///
    /// # Safety
    /// All three must be live for the extents and strides and aligned, and `c` apart from both. `widen` and `narrow`
    /// are functions of one operand, of the floats' type.
    pub unsafe fn run(&self, shared: bool) {
        let (m, n, k) = self.extents;
        let mut wide = WIDE.take();
        let parts = [m * k, k * n, m * n];
        wide.resize(wide.len().max(parts.iter().sum()), 0.0);
        let (a, rest) = wide.split_at_mut(parts[0]);
        let (b, rest) = rest.split_at_mut(parts[1]);
        let c = Results(rest[..parts[2]].as_mut_ptr());
        // SAFETY: the caller's promise.
        let [a, b] = unsafe { [self.widened(self.a, (m, k), a, shared), self.widened(self.b, (k, n), b, shared)] };
        let product = Product { extents: (m, n, k), a, b, c: (c.0, n), accumulate: false };
        let narrow = |rows: Range<usize>, columns: Range<usize>| {
            let c = &c;
            // All of its rows follow each other if a piece has all columns.
            let (lines, length) = if columns.len() == n { (1, rows.len() * n) } else { (rows.len(), columns.len()) };
            for at in (0..lines).map(|line| (rows.start + line) * n + columns.start) {
                let (to, from) = (self.c.wrapping_add(at * size_of::<u16>()), c.0.wrapping_add(at).cast_const());
                // SAFETY: elements of a piece at both ends, which no other thread uses; the caller vouches for `c`.
                unsafe { (self.narrow)(to, [from.cast(); 3], length) };
            }
        };
        // SAFETY: the three parts of `wide` have the sizes of the matrices and do not overlap.
        unsafe { product.run_and(shared, &narrow) };
        WIDE.set(wide);
    }

    /// Fills `wide` with the matrix, and returns it with its strides. It is in the matrix's own order, so that rows are
    /// read in place, also if it is transposed.
    ///
    /// # Safety
    /// The matrix must be live for these rows and columns.
    unsafe fn widened(
        &self,
        (matrix, strides): (*const u16, (isize, isize)),
        (rows, columns): (usize, usize),
        wide: &mut [f32],
        shared: bool,
    ) -> (*const f32, (isize, isize)) {
        let by_column = strides.0.abs() < strides.1.abs();
        let (length, across, along) =
            if by_column { (rows, strides.1, strides.0) } else { (columns, strides.0, strides.1) };
        let matrix = Lines { first: matrix, along };
        let parallel = shared && size_of_val(wide) > threads::PARALLEL_BYTES;
        let is_packed = along == 1 && across == length as isize;
        let (length, across) = if is_packed { (TOGETHER, TOGETHER as isize) } else { (length, across) };
        threads::share(parallel, length, wide, |line, wide| {
            // SAFETY: a line of the matrix, or a part of all of them if they follow each other.
            unsafe { self.widen_line(&matrix, line as isize * across, wide) };
        });
        (wide.as_ptr(), if by_column { (1, rows as isize) } else { (columns as isize, 1) })
    }

    /// Fills `wide` with a line that begins so many elements behind the first.
    ///
    /// # Safety
    /// Its elements must be live.
    unsafe fn widen_line(&self, matrix: &Lines, start: isize, wide: &mut [f32]) {
        let mut buffer = [0u16; 256];
        let along = matrix.along;
        let together = if along == 1 { wide.len() } else { buffer.len() };
        for (part, wide) in wide.chunks_mut(together).enumerate() {
            let from = matrix.first.wrapping_offset(start + (part * together) as isize * along);
            let from = if along == 1 {
                from
            } else {
                for (i, element) in buffer[..wide.len()].iter_mut().enumerate() {
                    // SAFETY: the caller's promise.
                    *element = unsafe { *from.wrapping_offset(i as isize * along) };
                }
                buffer.as_ptr()
            };
            // SAFETY: `wide.len()` elements at both ends, in different memory.
            unsafe { (self.widen)(wide.as_mut_ptr().cast(), [from.cast(); 3], wide.len()) };
        }
    }
}

/// The first element of a matrix, and how far those of a line are apart.
struct Lines {
    first: *const u16,
    along: isize,
}

// SAFETY: only `widened` uses the pointer, whose caller holds what it points to.
unsafe impl Sync for Lines {}

/// Where the results are.
struct Results(*mut f32);

// SAFETY: only `run` uses the pointer, while it holds the memory.
unsafe impl Sync for Results {}
