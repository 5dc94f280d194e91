//! Products of 16-bit floats: operands are converted to f32, multiplied there, and rounded once.

use super::product::Product;
use crate::kernels::elementwise::tile::TileFn;
use std::cell::Cell;

thread_local! {
    /// Operands and result as f32, kept so that running allocates nothing.
    static WIDE: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

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
        let c = &mut rest[..parts[2]];
        // SAFETY: the caller's promise.
        let [a, b] = unsafe { [self.widened(self.a, (m, k), a), self.widened(self.b, (k, n), b)] };
        let product = Product { extents: (m, n, k), a, b, c: (c.as_mut_ptr(), n), accumulate: false };
        // SAFETY: the three parts of `wide` have the sizes of the matrices and do not overlap.
        unsafe { product.run(shared) };
        // SAFETY: `m * n` elements at both ends; the caller vouches for `c`.
        unsafe { (self.narrow)(self.c, [c.as_ptr().cast(); 3], m * n) };
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
    ) -> (*const f32, (isize, isize)) {
        let by_column = strides.0.abs() < strides.1.abs();
        let (length, across, along) =
            if by_column { (rows, strides.1, strides.0) } else { (columns, strides.0, strides.1) };
        let mut buffer = [0u16; 256];
        for (line, wide) in wide.chunks_exact_mut(length).enumerate() {
            for (part, wide) in wide.chunks_mut(buffer.len()).enumerate() {
                let at = line as isize * across + (part * buffer.len()) as isize * along;
                let from = matrix.wrapping_offset(at);
                let from = if along == 1 {
                    from
                } else {
                    for (i, element) in buffer[..wide.len()].iter_mut().enumerate() {
                        // SAFETY: an element of the operand, which the caller vouches for.
                        *element = unsafe { *from.wrapping_offset(i as isize * along) };
                    }
                    buffer.as_ptr()
                };
                // SAFETY: `wide.len()` elements at both ends, in different memory.
                unsafe { (self.widen)(wide.as_mut_ptr().cast(), [from.cast(); 3], wide.len()) };
            }
        }
        (wide.as_ptr(), if by_column { (1, rows as isize) } else { (columns as isize, 1) })
    }
}
