//! A few rows times a matrix that is read in order, of f32 or of 16-bit floats, which are converted in registers.
//!
//! Threads take parts of the matrix's rows. Each reads its part some rows at a time, so that the processor foresees
//! what comes next, and keeps sums for all columns in the nearest cache; columns side by side, as for a matrix in the
//! caches, would be read in short pieces of distant rows. So a matrix that comes from memory takes the time of its way,
//! which is half as long for 16-bit floats.

use std::cell::Cell;
use std::ops::Range;

use crate::kernels::elementwise::block_loop::{BLOCK, BlockLoop, FloatFormat, Read, Step, by_blocks};
use crate::kernels::elementwise::round::HalfFloat;
use crate::kernels::matmul::scratch::Scratch;
use crate::kernels::matmul::sums;
use crate::kernels::threads::{self, Columns};

/// Rows of the matrix that are added together.
const TOGETHER: usize = 8;
/// Sums that the elements of the matrix are added to once they are read, and rows of the matrix that are then added
/// together, where registers are many: the numbers of these rows fill half of them.
const SUMS: usize = 4;
const FEWER: usize = TOGETHER / 2;
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
    pub static PARTS: Cell<Scratch> = const { Cell::new(Scratch::new()) };
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
        let mut memory = PARTS.take();
        let [sums] = memory.parts([elements]);
        threads::share_reads(true, part * columns * size_of::<f32>(), out.len(), sums, |at, sums| {
            sums.fill(0.0);
            self.add(at * part..rows.min((at + 1) * part), 0, Columns::all(sums, columns));
        });
        for part in sums.chunks_exact(out.len()) {
            sums::add(out, part);
        }
        PARTS.set(memory);
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
    unsafe fn add<B: Read<F>, F: FloatFormat, const R: usize>(&mut self, first: usize) {
        let (count, width) = (self.sums.rows(), self.sums.width());
        let tiles = B::MANY && R == TOGETHER;
        let near = if count == 1 || tiles && count == SUMS { width } else { NEAR };
        for column in (0..width).step_by(near) {
            let columns = column..width.min(column + near);
            let mut at = 0;
            while at < count {
                // SAFETY: the caller's promise.
                unsafe {
                    if tiles && count - at >= SUMS {
                        for first in [first, first + FEWER] {
                            self.add_to::<B, F, FEWER, SUMS>(first, at, columns.clone());
                        }
                        at += SUMS;
                    } else {
                        self.add_to::<B, F, R, 1>(first, at, columns.clone());
                        at += 1;
                    }
                }
            }
        }
    }

    /// Adds some columns of `R` rows from this one on to the `N` rows of sums from `at` on.
    ///
    /// # Safety
    /// As for [`add`](Self::add).
    #[inline(always)]
    unsafe fn add_to<B: Read<F>, F: FloatFormat, const R: usize, const N: usize>(
        &mut self,
        first: usize,
        at: usize,
        columns: Range<usize>,
    ) {
        let row = self.matrix.wrapping_add((first - self.rows.start) * self.between * F::SIZE);
        let lines = Lines { first: row.wrapping_add(columns.start * F::SIZE), between: self.between * F::SIZE };
        let mut numbers = [[0.0; R]; N];
        for (row, numbers) in numbers.iter_mut().enumerate() {
            numbers.copy_from_slice(&self.numbers[(at + row) * self.apart + first..][..R]);
        }
        let Some(sums) = self.sums.rows_from::<N>(at) else { unreachable!("there are {N} rows from {at} on") };
        // SAFETY: the caller's promise.
        unsafe { lines.add::<B, F, R, N>(&numbers, sums, columns) };
    }
}

impl BlockLoop for Part<'_> {
    #[inline(always)]
    unsafe fn run<B: Read<F>, F: FloatFormat>(mut self) {
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
    /// Adds `R` lines to these columns of `N` rows of sums, each times its number for the row. What is left of a block
    /// is worked on in a whole one.
    ///
    /// # Safety
    /// The processor must have the block's instructions, and the lines be as long as the columns.
    #[inline(always)]
    unsafe fn add<B: Read<F>, F: FloatFormat, const R: usize, const N: usize>(
        self,
        numbers: &[[f32; R]; N],
        mut sums: [&mut [f32]; N],
        columns: Range<usize>,
    ) {
        // SAFETY: the caller's promise.
        let mut factors = [[unsafe { B::splat(0.0) }; R]; N];
        // In loops, because a function that takes a closure has other instructions than this one.
        for (factors, numbers) in factors.iter_mut().zip(numbers) {
            for (factor, &number) in factors.iter_mut().zip(numbers) {
                // SAFETY: as above.
                *factor = unsafe { B::splat(number) };
            }
        }
        let whole = columns.len() / BLOCK * BLOCK;
        let mut pointers = [std::ptr::null_mut(); N];
        for (pointer, sums) in pointers.iter_mut().zip(&mut sums) {
            *pointer = sums[columns.clone()].as_mut_ptr();
        }
        for at in (0..whole).step_by(BLOCK) {
            let lines = Self { first: self.first.wrapping_add(at * F::SIZE), ..self };
            // SAFETY: as above; there is a block of each line and of each row of sums.
            unsafe { lines.add_block::<B, F, R, N>(&factors, &pointers, at) };
        }
        let rest = columns.len() - whole;
        if rest == 0 {
            return;
        }
        let (mut ends, mut made) = ([[0.0_f32; BLOCK]; R], [[0.0; BLOCK]; N]);
        let behind = self.first.wrapping_add(whole * F::SIZE);
        for (at, end) in ends.iter_mut().enumerate() {
            let from = behind.wrapping_add(at * self.between);
            // SAFETY: so many elements are left of the line, and a block has room for them.
            unsafe { end.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from, rest * F::SIZE) };
        }
        for ((made, sums), pointer) in made.iter_mut().zip(&sums).zip(&mut pointers) {
            made[..rest].copy_from_slice(&sums[columns.end - rest..columns.end]);
            *pointer = made.as_mut_ptr();
        }
        let lines = Self { first: ends.as_ptr().cast(), between: size_of::<[f32; BLOCK]>() };
        // SAFETY: as above.
        unsafe { lines.add_block::<B, F, R, N>(&factors, &pointers, 0) };
        for (made, sums) in made.iter().zip(&mut sums) {
            sums[columns.end - rest..columns.end].copy_from_slice(&made[..rest]);
        }
    }

    /// Adds the first block of each line to the block at `at` of each row of sums.
    ///
    /// # Safety
    /// The processor must have the block's instructions, and there must be a block of each line and of each row.
    #[inline(always)]
    unsafe fn add_block<B: Read<F>, F: FloatFormat, const R: usize, const N: usize>(
        self,
        factors: &[[B; R]; N],
        sums: &[*mut f32; N],
        at: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut made = [B::splat(0.0); N];
            for (made, sums) in made.iter_mut().zip(sums) {
                *made = B::load(sums.add(at).cast());
            }
            for line in 0..R {
                let x = B::read(self.first.wrapping_add(line * self.between));
                for (made, factors) in made.iter_mut().zip(factors) {
                    *made = B::apply(Step::Add, *made, B::apply(Step::Mul, factors[line], x));
                }
            }
            for (made, sums) in made.iter().zip(sums) {
                B::store(*made, sums.add(at).cast());
            }
        }
    }
}
