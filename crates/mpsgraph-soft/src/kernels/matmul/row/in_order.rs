//! A few rows times a matrix that is read in order, of f32 or of 16-bit floats, which are converted in registers.
//!
//! Threads take parts of the matrix's rows. Each reads its part some rows at a time, so that the processor foresees
//! what comes next, and keeps sums for all columns in the nearest cache; columns side by side, as for a matrix in the
//! caches, would be read in short pieces of distant rows. So a matrix that comes from memory takes the time of its way,
//! which is half as long for 16-bit floats.

use std::cell::Cell;
use std::ops::Range;

use crate::kernels::elementwise::block_loop::{BLOCK, BlockLoop, Float, Read, Step, by_blocks};
use crate::kernels::elementwise::round::HalfFloat;
use crate::kernels::matmul::scratch::Scratch;
use crate::kernels::threads::{self, Columns};

/// Rows of the matrix that are added together.
const TOGETHER: usize = 8;
/// Columns of those that several rows are multiplied by before the next ones: they stay in the nearest cache.
const NEAR: usize = 32 * BLOCK;
/// Elements of a part, if there are not more parts than these.
const PART: usize = 1 << 16;
const MOST_PARTS: usize = 8;
/// Columns from which on threads take some of them instead: parts of such rows are long enough to be read in order, and
/// sums for all of them would have to be written by each thread.
const MANY_COLUMNS: usize = 1 << 13;
/// Columns that a thread takes then.
const PIECE: usize = 1 << 11;

thread_local! {
    /// The sums of each part, kept so that running allocates nothing.
    static SUMS: Cell<Scratch> = const { Cell::new(Scratch::new()) };
}

/// Rows, one behind the other, and a matrix whose rows are `between` apart.
pub struct FewRows<'a> {
    pub numbers: &'a [f32],
    pub count: usize,
    pub matrix: Elements<'a>,
    pub between: usize,
}

/// The elements of a matrix.
#[derive(Clone, Copy)]
pub enum Elements<'a> {
    Full(&'a [f32]),
    Half(HalfFloat, &'a [u16]),
}

impl FewRows<'_> {
    /// The most rows for which this is faster than `gemm`.
    pub const MOST: usize = 8;

    /// Adds the product to packed rows, on several threads if it is `shared`.
    pub fn run(&self, out: &mut [f32], shared: bool) {
        let (rows, columns) = (self.numbers.len() / self.count, out.len() / self.count);
        let parts = (rows * columns / PART).clamp(1, MOST_PARTS);
        if !shared || parts == 1 {
            self.add(0..rows, 0, Columns::all(out, columns));
        } else if columns >= MANY_COLUMNS || rows < MOST_PARTS * TOGETHER {
            let take = |first: usize, out: Columns<'_, f32>| self.add(0..rows, first, out);
            threads::share_columns(columns, PIECE, out, &take);
        } else {
            self.add_parts(rows.div_ceil(parts).next_multiple_of(TOGETHER), out);
        }
    }

    /// Lets threads make the sums of parts of so many rows, and adds them. How many parts there are does not depend on
    /// how many threads there are, because the order of summation does.
    fn add_parts(&self, part: usize, out: &mut [f32]) {
        let (rows, columns) = (self.numbers.len() / self.count, out.len() / self.count);
        let elements = rows.div_ceil(part) * out.len();
        let mut memory = SUMS.take();
        let [sums] = memory.parts([elements]);
        threads::share_reads(true, part * columns * size_of::<f32>(), out.len(), sums, |at, sums| {
            sums.fill(0.0);
            self.add(at * part..rows.min((at + 1) * part), 0, Columns::all(sums, columns));
        });
        for sums in sums.chunks_exact(out.len()) {
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
        }
        SUMS.set(memory);
    }

    /// Adds these rows of the matrix to sums of the columns from this one on.
    fn add(&self, rows: Range<usize>, first: usize, sums: Columns<'_, f32>) {
        let Self { numbers, count, matrix, between } = *self;
        let apart = numbers.len() / count;
        let (start, last) = (rows.start * between + first, (rows.end - 1) * between + first + sums.width());
        assert!(sums.rows() == count && rows.end <= apart, "rows {rows:?} of {apart}");
        let (float, matrix) = match matrix {
            Elements::Full(matrix) => (None, matrix[start..last].as_ptr().cast::<u8>()),
            Elements::Half(float, matrix) => (Some(float), matrix[start..last].as_ptr().cast()),
        };
        let part = Part { numbers, apart, rows, matrix, between, sums };
        // SAFETY: the rows of the matrix, and their numbers, are there.
        unsafe { by_blocks(float, part) };
    }
}

/// Rows of a matrix that are added to sums, each times its number.
struct Part<'a> {
    numbers: &'a [f32],
    /// How far the numbers of one sum are behind those of the one before.
    apart: usize,
    rows: Range<usize>,
    /// The first element of the first row.
    matrix: *const u8,
    between: usize,
    sums: Columns<'a, f32>,
}

impl Part<'_> {
    /// Adds `R` rows from this one on to all sums.
    ///
    /// # Safety
    /// The processor must have the block's instructions, and the rows and their numbers be there.
    #[inline(always)]
    unsafe fn add<B: Read<F>, F: Float, const R: usize>(&mut self, first: usize) {
        let (count, width) = (self.sums.rows(), self.sums.width());
        let near = if count == 1 { width } else { NEAR };
        let row = self.matrix.wrapping_add((first - self.rows.start) * self.between * F::SIZE);
        for column in (0..width).step_by(near) {
            for at in 0..count {
                let numbers = self.numbers[at * self.apart + first..].first_chunk::<R>().expect("there are so many");
                let Some(sums) = self.sums.row(at) else { unreachable!("there are {count} rows") };
                let sums = &mut sums[column..width.min(column + near)];
                let lines = Lines { first: row.wrapping_add(column * F::SIZE), between: self.between * F::SIZE };
                // SAFETY: the caller's promise.
                unsafe { lines.add::<B, F, R>(numbers, sums) };
            }
        }
    }
}

impl BlockLoop for Part<'_> {
    #[inline(always)]
    unsafe fn run<B: Read<F>, F: Float>(mut self) {
        let Range { start, end } = self.rows;
        let alone = end - (end - start) % TOGETHER;
        for first in (start..alone).step_by(TOGETHER) {
            // SAFETY: the maker's promise, and the caller's.
            unsafe { self.add::<B, F, TOGETHER>(first) };
        }
        for first in alone..end {
            // SAFETY: as above.
            unsafe { self.add::<B, F, 1>(first) };
        }
    }
}

/// Some columns of rows that are so many bytes apart.
#[derive(Clone, Copy)]
struct Lines {
    first: *const u8,
    between: usize,
}

impl Lines {
    /// Adds `R` lines, each times its number. What is left of a block is worked on in a whole one.
    ///
    /// # Safety
    /// The processor must have the block's instructions, and the lines be as long as the sums.
    #[inline(always)]
    unsafe fn add<B: Read<F>, F: Float, const R: usize>(self, numbers: &[f32; R], sums: &mut [f32]) {
        // SAFETY: the caller's promise.
        let mut factors = [unsafe { B::splat(numbers[0]) }; R];
        // In a loop, because a function that takes a closure has other instructions than this one.
        for (factor, &number) in factors.iter_mut().zip(numbers) {
            // SAFETY: as above.
            *factor = unsafe { B::splat(number) };
        }
        let (blocks, rest) = sums.as_chunks_mut::<BLOCK>();
        let behind = self.first.wrapping_add(blocks.len() * BLOCK * F::SIZE);
        for (at, sums) in blocks.iter_mut().enumerate() {
            let lines = Self { first: self.first.wrapping_add(at * BLOCK * F::SIZE), ..self };
            // SAFETY: as above; there is a block of each.
            unsafe { lines.add_block::<B, F, R>(factors, sums) };
        }
        if rest.is_empty() {
            return;
        }
        let (mut ends, mut sums) = ([[0.0_f32; BLOCK]; R], [0.0; BLOCK]);
        for (at, end) in ends.iter_mut().enumerate() {
            let from = behind.wrapping_add(at * self.between);
            // SAFETY: so many elements are left of the line, and a block has room for them.
            unsafe { end.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from, rest.len() * F::SIZE) };
        }
        sums[..rest.len()].copy_from_slice(rest);
        let lines = Self { first: ends.as_ptr().cast(), between: size_of::<[f32; BLOCK]>() };
        // SAFETY: as above.
        unsafe { lines.add_block::<B, F, R>(factors, &mut sums) };
        rest.copy_from_slice(&sums[..rest.len()]);
    }

    /// Adds the first block of each line.
    ///
    /// # Safety
    /// The processor must have the block's instructions, and there must be a block of each line.
    #[inline(always)]
    unsafe fn add_block<B: Read<F>, F: Float, const R: usize>(self, factors: [B; R], sums: &mut [f32; BLOCK]) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut made = B::load(sums.as_ptr().cast());
            for (at, &factor) in factors.iter().enumerate() {
                let x = B::read(self.first.wrapping_add(at * self.between));
                made = B::apply(Step::Add, made, B::apply(Step::Mul, factor, x));
            }
            B::store(made, sums.as_mut_ptr().cast());
        }
    }
}
