//! A few rows times a matrix of 16-bit floats whose columns are consecutive, as a transposed one has them: each result
//! is a sum of products of consecutive numbers, which are converted in registers.

use crate::kernels::elementwise::block_loop::{BLOCK, BlockLoop, FloatFormat, Read, Step, by_blocks};
use crate::kernels::elementwise::round::HalfFloat;
use crate::kernels::threads::{self, Columns};

/// Columns of the matrix that are multiplied together, so that no addition waits for the one before.
const TOGETHER: usize = 4;
/// Pieces that threads take.
const PIECES: usize = 8;

/// Rows, one behind the other, and a matrix of these floats, whose columns are `between` apart.
pub struct Dots<'a> {
    pub numbers: &'a [f32],
    pub count: usize,
    pub float: HalfFloat,
    pub matrix: &'a [u16],
    pub between: usize,
}

impl Dots<'_> {
    /// The most rows for which this is faster than to convert the matrix first.
    pub const MOST: usize = 4;

    /// Multiplies into packed rows, on several threads if it is `shared`.
    pub fn run(&self, out: &mut [f32], shared: bool) {
        let columns = out.len() / self.count;
        let piece = if shared { columns.div_ceil(PIECES).next_multiple_of(TOGETHER) } else { columns };
        threads::share_columns(columns, piece, out, &|first, results| self.make(first, results));
    }

    /// Makes the results of the columns from this one on.
    fn make(&self, first: usize, results: Columns<'_, f32>) {
        let Self { numbers, count, float, matrix, between } = *self;
        let length = numbers.len() / count;
        let matrix = matrix[first * between..][..(results.width() - 1) * between + length].as_ptr();
        assert_eq!(results.rows(), count, "rows of results");
        let part = Part { numbers, length, matrix, between, results };
        // SAFETY: the columns are there.
        unsafe { by_blocks(Some(float), part) };
    }
}

/// Some columns of a matrix, and their results.
struct Part<'a> {
    numbers: &'a [f32],
    /// Numbers of a row, and of a column.
    length: usize,
    /// The first element of the first column.
    matrix: *const u16,
    between: usize,
    results: Columns<'a, f32>,
}

impl BlockLoop for Part<'_> {
    #[inline(always)]
    unsafe fn run<B: Read<F>, F: FloatFormat>(mut self) {
        let columns = self.results.width();
        let alone = columns - columns % TOGETHER;
        for first in (0..alone).step_by(TOGETHER) {
            // SAFETY: the maker's promise, and the caller's.
            unsafe { self.make::<B, F, TOGETHER>(first) };
        }
        for first in alone..columns {
            // SAFETY: as above.
            unsafe { self.make::<B, F, 1>(first) };
        }
    }
}

impl Part<'_> {
    /// Makes the results of `C` columns from this one on.
    ///
    /// # Safety
    /// The processor must have the block's instructions, and the matrix these floats.
    #[inline(always)]
    unsafe fn make<B: Read<F>, F: FloatFormat, const C: usize>(&mut self, first: usize) {
        for at in 0..self.results.rows() {
            let row = &self.numbers[at * self.length..][..self.length];
            // SAFETY: the caller's promise.
            let mut sums = [unsafe { B::splat(0.0) }; C];
            let (blocks, rest) = row.as_chunks::<BLOCK>();
            for (at, block) in blocks.iter().enumerate() {
                for (column, sum) in sums.iter_mut().enumerate() {
                    let from = self.matrix.wrapping_add((first + column) * self.between + at * BLOCK);
                    // SAFETY: as above; there is a block of each.
                    unsafe { *sum = add_products::<B, F>(*sum, block, from) };
                }
            }
            if !rest.is_empty() {
                let mut block = [0.0; BLOCK];
                block[..rest.len()].copy_from_slice(rest);
                for (column, sum) in sums.iter_mut().enumerate() {
                    let from = self.matrix.wrapping_add((first + column) * self.between + blocks.len() * BLOCK);
                    let mut end = [0_u16; BLOCK];
                    // SAFETY: so many elements are left of the column, and a block has room for them.
                    unsafe { end.as_mut_ptr().copy_from_nonoverlapping(from, rest.len()) };
                    // SAFETY: as above.
                    unsafe { *sum = add_products::<B, F>(*sum, &block, end.as_ptr()) };
                }
            }
            for (column, &sum) in sums.iter().enumerate() {
                let mut parts = [0.0_f32; BLOCK];
                // SAFETY: as above; there is room for a block.
                unsafe { B::store(sum, parts.as_mut_ptr().cast()) };
                if let Some(result) = self.results.element(at, first + column) {
                    *result = total(&parts);
                }
            }
        }
    }
}

/// Sums with the products of a block of numbers and of 16-bit floats.
///
/// # Safety
/// The processor must have the block's instructions, and there must be a block of floats.
#[inline(always)]
unsafe fn add_products<B: Read<F>, F: FloatFormat>(sums: B, numbers: &[f32; BLOCK], floats: *const u16) -> B {
    // SAFETY: the caller's promise.
    unsafe { B::apply(Step::Add, sums, B::apply(Step::Mul, B::load(numbers.as_ptr().cast()), B::read(floats.cast()))) }
}

/// The sum of the parts, in halves: one after the other, each addition would wait for the one before.
#[inline(always)]
fn total(parts: &[f32; BLOCK]) -> f32 {
    let mut sums = [0.0; 8];
    for eight in parts.as_chunks::<8>().0 {
        for (sum, part) in sums.iter_mut().zip(eight) {
            *sum += part;
        }
    }
    let sums: [f32; 4] = std::array::from_fn(|at| sums[at] + sums[at + 4]);
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}
