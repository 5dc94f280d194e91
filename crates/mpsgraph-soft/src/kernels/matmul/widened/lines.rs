//! Matrices of 16-bit floats as f32, line by line, a block at a time.
//!
//! Lines are rows or columns, whichever lie closer together in memory, and the converted matrix keeps that order.
//! Consecutive elements are converted a block at a time by the processor's vectors ([`BlockLoop`]); others are copied
//! into a block first. A packed matrix is one long line, which is cut anywhere.

use crate::kernels::elementwise::block_loop::{BLOCK, BlockLoop, FloatFormat, Read, by_blocks};
use crate::kernels::elementwise::round::HalfFloat;
use crate::kernels::matmul::sharing::Sharing;
use crate::kernels::threads;

/// Elements that are converted together, at least.
const TOGETHER: usize = 4096;

/// The first element of a matrix, and how far its rows and columns are apart.
pub type StridedMatrix<T> = (*const T, (isize, isize));

/// 16-bit floats somewhere in memory, with their row and column strides.
#[derive(Clone, Copy)]
pub struct Halves {
    pub float: HalfFloat,
    pub matrix: StridedMatrix<u16>,
}

// SAFETY: the pointer is only used by the unsafe functions, whose callers hold what it points to.
unsafe impl Sync for Halves {}

impl Halves {
    /// From this row and column on.
    pub fn from(self, [row, column]: [usize; 2]) -> Self {
        let (first, strides) = self.matrix;
        let first = first.wrapping_offset(row as isize * strides.0 + column as isize * strides.1);
        Self { matrix: (first, strides), ..self }
    }

    /// Whether so many rows and columns are read along the columns, rather than along the rows.
    fn is_by_column(&self, (rows, columns): (usize, usize)) -> bool {
        let (row, column) = self.matrix.1;
        rows > 1 && (columns == 1 || column != 1 && row.abs() < column.abs())
    }

    /// The strides of so many rows and columns that are converted: their order stays, so that rows are read where they
    /// are, also if the matrix is transposed.
    pub fn wide_strides(&self, extents: (usize, usize)) -> (isize, isize) {
        let (rows, columns) = extents;
        if self.is_by_column(extents) { (1, rows as isize) } else { (columns as isize, 1) }
    }

    /// Fills `wide` with so many rows and columns, and returns them with their strides. Threads share many elements, if
    /// all multiply by `sharing`.
    ///
    /// # Safety
    /// They must be live, initialised and not written meanwhile.
    pub unsafe fn widen(&self, extents: (usize, usize), wide: &mut [f32], sharing: Sharing) -> StridedMatrix<f32> {
        let (first, (row, column)) = self.matrix;
        let (length, across, along) =
            if self.is_by_column(extents) { (extents.0, column, row) } else { (extents.1, row, column) };
        let parallel = sharing == Sharing::Large && size_of_val(wide) > threads::PARALLEL_BYTES;
        let is_packed = along == 1 && across == length as isize;
        let (length, across) = if is_packed { (TOGETHER, TOGETHER as isize) } else { (length, across) };
        let lines = TOGETHER.div_ceil(length);
        let source = Lines { float: self.float, first, across, along, length };
        threads::share(parallel, lines * length, &mut *wide, |part, wide| {
            // SAFETY: lines of the matrix, or a part of all of them if they follow each other.
            unsafe { source.from(part * lines).widen(wide) };
        });
        (wide.as_ptr(), self.wide_strides(extents))
    }
}

/// Lines of so many elements, which are so far apart, and from one line to the next.
#[derive(Clone, Copy)]
struct Lines {
    float: HalfFloat,
    first: *const u16,
    across: isize,
    along: isize,
    length: usize,
}

// SAFETY: only `widen` uses the pointer, whose caller holds what it points to.
unsafe impl Sync for Lines {}

impl Lines {
    /// Those from this one on.
    fn from(self, line: usize) -> Self {
        Self { first: self.first.wrapping_offset(line as isize * self.across), ..self }
    }

    /// Fills `wide` with lines.
    ///
    /// # Safety
    /// Their elements must be live, initialised and not written meanwhile.
    unsafe fn widen(self, wide: &mut [f32]) {
        if self.along == 1 {
            // SAFETY: the caller's promise.
            return unsafe { by_blocks(Some(self.float), Consecutive { lines: self, wide }) };
        }
        for (at, wide) in wide.chunks_mut(self.length).enumerate() {
            let first = self.from(at).first;
            for (part, wide) in wide.chunks_mut(BLOCK).enumerate() {
                let mut block = [0; BLOCK];
                for (element, at) in block.iter_mut().zip(part * BLOCK..part * BLOCK + wide.len()) {
                    // SAFETY: the caller's promise.
                    *element = unsafe { *first.wrapping_offset(at as isize * self.along) };
                }
                let line = Self { first: block.as_ptr(), along: 1, length: wide.len(), ..self };
                // SAFETY: so many elements are in the block.
                unsafe { line.widen(wide) };
            }
        }
    }
}

/// Lines of consecutive elements.
struct Consecutive<'a> {
    lines: Lines,
    wide: &'a mut [f32],
}

impl BlockLoop for Consecutive<'_> {
    #[inline(always)]
    unsafe fn run<B: Read<F>, F: FloatFormat>(self) {
        for (at, wide) in self.wide.chunks_mut(self.lines.length).enumerate() {
            let from = self.lines.from(at).first;
            let (blocks, rest) = wide.as_chunks_mut::<BLOCK>();
            let end = from.wrapping_add(blocks.len() * BLOCK);
            for (at, block) in blocks.iter_mut().enumerate() {
                // SAFETY: the maker's promise, and the caller's; there is a block at both ends.
                unsafe { B::store(B::read(from.wrapping_add(at * BLOCK).cast()), block.as_mut_ptr().cast()) };
            }
            if !rest.is_empty() {
                let (mut bits, mut block) = ([0_u16; BLOCK], [0.0; BLOCK]);
                // SAFETY: so many elements are left of the line, and a block has room for them.
                unsafe { bits.as_mut_ptr().copy_from_nonoverlapping(end, rest.len()) };
                // SAFETY: the caller's promise; there is a block at both ends.
                unsafe { B::store(B::read(bits.as_ptr().cast()), block.as_mut_ptr().cast()) };
                rest.copy_from_slice(&block[..rest.len()]);
            }
        }
    }
}
