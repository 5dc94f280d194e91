//! A row times a matrix of 16-bit floats, which are converted to f32 in registers: of a matrix that comes from memory,
//! this takes half of the time that one of f32 takes.

use std::ops::Range;

use super::Lone;
use super::parts::{MANY_COLUMNS, TOGETHER, add_parts};
use crate::kernels::elementwise::half_blocks::{BLOCK, BlockLoop, Convert, Step, by_blocks};
use crate::kernels::elementwise::round::HalfFloat;
use crate::kernels::threads;

/// Columns that a thread takes of a matrix with many.
const PIECE: usize = 1 << 11;

/// The numbers of the row, side by side, and a matrix of these floats, whose rows are `between` apart.
pub struct NarrowRow<'a> {
    pub numbers: &'a [f32],
    pub matrix: &'a [u16],
    pub between: usize,
    pub float: HalfFloat,
}

impl NarrowRow<'_> {
    /// Multiplies, on several threads if it is `shared`.
    pub fn run(&self, out: &mut [f32], shared: bool) {
        let rows = self.numbers.len();
        if shared && Lone::has_parts(rows, out.len()) {
            return add_parts(rows, out, false, &|rows, sums| self.make(rows, 0, sums));
        }
        let parallel = shared && out.len() >= MANY_COLUMNS;
        let read = rows * PIECE * size_of::<u16>();
        threads::share_reads(parallel, read, PIECE, out, |at, sums| self.make(0..rows, at * PIECE, sums));
    }

    /// Makes the sums of these rows, of the columns from this one on.
    fn make(&self, rows: Range<usize>, first: usize, sums: &mut [f32]) {
        sums.fill(0.0);
        let Self { between, float, .. } = *self;
        let (numbers, matrix) = (&self.numbers[rows.clone()], &self.matrix[rows.start * between + first..]);
        assert!(matrix.len() >= (rows.len() - 1) * between + sums.len(), "a matrix with fewer rows or columns");
        // SAFETY: so many rows of so many columns are there.
        unsafe { by_blocks(float, Rows { numbers, matrix, between, sums }) };
    }
}

/// Rows that are added to sums, each times its number. There are as many as numbers, and as long as the sums.
struct Rows<'a> {
    numbers: &'a [f32],
    matrix: &'a [u16],
    between: usize,
    sums: &'a mut [f32],
}

impl BlockLoop for Rows<'_> {
    #[inline(always)]
    unsafe fn run<B: Convert<Float>, Float>(self) {
        let Self { numbers, matrix, between, sums } = self;
        let (together, alone) = numbers.as_chunks::<TOGETHER>();
        let row = |at: usize| matrix.as_ptr().wrapping_add(at * between);
        for (at, &numbers) in together.iter().enumerate() {
            // SAFETY: the maker's promise, and the caller's.
            unsafe { add::<B, Float, TOGETHER>(numbers, std::array::from_fn(|i| row(at * TOGETHER + i)), sums) };
        }
        for (at, &number) in alone.iter().enumerate() {
            // SAFETY: as above.
            unsafe { add::<B, Float, 1>([number], [row(together.len() * TOGETHER + at)], sums) };
        }
    }
}

/// Adds rows. What is left of a block is worked on in a whole one.
///
/// # Safety
/// The processor must have the block's instructions, and the rows be as long as the sums.
#[inline(always)]
unsafe fn add<B: Convert<Float>, Float, const R: usize>(numbers: [f32; R], rows: [*const u16; R], sums: &mut [f32]) {
    // SAFETY: the caller's promise.
    let mut factors = [unsafe { B::splat(numbers[0]) }; R];
    // Functions that take a closure would have other instructions than this one.
    for at in 1..R {
        // SAFETY: as above.
        factors[at] = unsafe { B::splat(numbers[at]) };
    }
    let (blocks, rest) = sums.as_chunks_mut::<BLOCK>();
    let behind = blocks.len() * BLOCK;
    for (at, sums) in blocks.iter_mut().enumerate() {
        // SAFETY: as above; there is a block of each.
        unsafe { add_block::<B, Float, R>(factors, rows, at * BLOCK, sums) };
    }
    if rest.is_empty() {
        return;
    }
    let (mut ends, mut sums) = ([[0_u16; BLOCK]; R], [0.0; BLOCK]);
    for (end, row) in ends.iter_mut().zip(rows) {
        // SAFETY: so many elements are left of the row, and a block has room for them.
        unsafe { end.as_mut_ptr().copy_from_nonoverlapping(row.wrapping_add(behind), rest.len()) };
    }
    sums[..rest.len()].copy_from_slice(rest);
    // SAFETY: as above.
    unsafe { add_block::<B, Float, R>(factors, ends.each_ref().map(|end| end.as_ptr()), 0, &mut sums) };
    rest.copy_from_slice(&sums[..rest.len()]);
}

/// Adds a block of each row, from this column on.
///
/// # Safety
/// The processor must have the block's instructions, and there must be a block of each row.
#[inline(always)]
unsafe fn add_block<B: Convert<Float>, Float, const R: usize>(
    factors: [B; R],
    rows: [*const u16; R],
    column: usize,
    sums: &mut [f32; BLOCK],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut made = B::load(sums.as_ptr().cast());
        for at in 0..R {
            let x = B::widen(rows[at].wrapping_add(column).cast());
            made = B::apply(Step::Add, made, B::apply(Step::Mul, factors[at], x));
        }
        B::store(made, sums.as_mut_ptr().cast());
    }
}
