//! Columns of a matrix that threads share: each has the same part of every row, or of some rows, which slices cannot
//! say.

use std::marker::PhantomData;
use std::ops::{Range, RangeInclusive};
use std::slice;

use bytemuck::Pod;

use super::shares::Shares;
use super::{count, each_scratch, for_each};
use crate::kernels::block::Line;

/// Some columns of a packed matrix, held by one user.
pub struct Columns<'a, T> {
    /// The first of these columns in the first row.
    first: *mut T,
    rows: usize,
    /// Elements from one row to the next.
    apart: usize,
    width: usize,
    matrix: PhantomData<&'a mut [T]>,
}

impl<'a, T: Pod> Columns<'a, T> {
    /// All columns of a matrix with rows of so many elements.
    pub fn all(matrix: &'a mut [T], row: usize) -> Self {
        assert!(matrix.len().is_multiple_of(row), "{} elements in rows of {row}", matrix.len());
        Self { first: matrix.as_mut_ptr(), rows: matrix.len() / row, apart: row, width: row, matrix: PhantomData }
    }

    /// Some of these columns.
    pub fn part(&mut self, columns: Range<usize>) -> Columns<'_, T> {
        assert!(columns.end <= self.width, "columns {columns:?} of {}", self.width);
        let first = self.first.wrapping_add(columns.start);
        Columns { first, rows: self.rows, apart: self.apart, width: columns.len(), matrix: PhantomData }
    }

    /// Some rows of some of these columns.
    pub fn block(&mut self, rows: Range<usize>, columns: Range<usize>) -> Columns<'_, T> {
        assert!(rows.end <= self.rows, "rows {rows:?} of {}", self.rows);
        let Columns { first, apart, width, .. } = self.part(columns);
        Columns { first: first.wrapping_add(rows.start * apart), rows: rows.len(), apart, width, matrix: PhantomData }
    }

    /// All rows as one slice, if they follow each other.
    pub fn packed(&mut self) -> Option<&mut [T]> {
        // SAFETY: all elements from the first row's first one to the last row's last one, each in one of the columns
        // that are this value's alone.
        (self.width == self.apart).then(|| unsafe { slice::from_raw_parts_mut(self.first, self.rows * self.apart) })
    }

    /// Fills all rows with this.
    pub fn fill(&mut self, value: T) {
        for row in 0..self.rows {
            let Some(row) = self.row(row) else { unreachable!("there are so many rows") };
            row.fill(value);
        }
    }

    /// How many rows they have.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Where the first row begins, and how far rows are apart.
    pub fn start(&mut self) -> (*mut T, usize) {
        (self.first, self.apart)
    }

    /// How many columns these are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The element of a row and one of these columns, if there is such a row. Panics if there is no such column.
    #[inline(always)]
    pub fn element(&mut self, row: usize, column: usize) -> Option<&mut T> {
        assert!(column < self.width, "column {column} of {}", self.width);
        // SAFETY: an element of the matrix, in one of the columns that are this value's alone.
        (row < self.rows).then(|| unsafe { &mut *self.first.add(row * self.apart + column) })
    }

    /// What is here of a row, if there is such a row.
    #[inline(always)]
    pub fn row(&mut self, row: usize) -> Option<&mut [T]> {
        // SAFETY: as above, for all of the columns.
        (row < self.rows).then(|| unsafe { slice::from_raw_parts_mut(self.first.add(row * self.apart), self.width) })
    }

    /// What is here of so many rows from this one on, if there are as many.
    #[inline(always)]
    pub fn rows_from<const N: usize>(&mut self, first: usize) -> Option<[&mut [T]; N]> {
        let (start, apart, width) = (self.first, self.apart, self.width);
        // SAFETY: as above; no element is in two rows.
        let row = |row| unsafe { slice::from_raw_parts_mut(start.add((first + row) * apart), width) };
        (first + N <= self.rows).then(|| std::array::from_fn(row))
    }
}

impl<'a> Columns<'a, u8> {
    /// The bytes as elements. Panics if they are none.
    pub fn of<T: Pod>(self) -> Columns<'a, T> {
        let Self { first, rows, apart, width, .. } = self;
        assert!(first.cast::<T>().is_aligned(), "misaligned columns");
        let elements = |bytes: usize| {
            assert!(bytes.is_multiple_of(size_of::<T>()), "{bytes} bytes of {}-byte elements", size_of::<T>());
            bytes / size_of::<T>()
        };
        Columns { first: first.cast(), rows, apart: elements(apart), width: elements(width), matrix: PhantomData }
    }
}

/// The matrix that threads take columns of.
struct Shared<T>(*mut T);

// SAFETY: `share_columns` and `share_parts` hold the matrix while other threads reach it through this, each another
// part.
unsafe impl<T: Send> Sync for Shared<T> {}

/// How many columns of a row of so many elements of `size` bytes a piece has: within the bounds, which are whole cache
/// lines, in whole lines itself, and so that there are as many pieces for one thread as for another. If two threads
/// write to one line, each takes it from the other again and again.
pub fn even_width(row: usize, size: usize, bounds: RangeInclusive<usize>) -> usize {
    let pieces = row.div_ceil(*bounds.end()).next_multiple_of(count());
    row.div_ceil(pieces).next_multiple_of(size_of::<Line>() / size).max(*bounds.start())
}

/// Runs `task` on every `width` columns of a packed matrix with rows of `row` elements, on several threads; it gets the
/// number of the first of these columns too.
pub fn share_columns<T: Pod + Send>(
    row: usize,
    width: usize,
    matrix: &mut [T],
    task: &(dyn Fn(usize, Columns<'_, T>) + Sync),
) {
    let all = Columns::all(matrix, row);
    let (first, rows) = (Shared(all.first), all.rows);
    for_each(row.div_ceil(width), 1, &|at| {
        let (first, column) = (&first, at * width);
        let width = width.min(row - column);
        let first = first.0.wrapping_add(column);
        task(column, Columns { first, rows, apart: row, width, matrix: PhantomData });
    });
}

/// A task on a part of a matrix, whose first row and column are given, with scratch memory.
pub type PartTask<'a> = dyn Fn([usize; 2], Columns<'_, f32>, &mut [f32]) + Sync + 'a;

/// Runs `task` on parts of so many rows and columns of a packed matrix with rows of `row` elements. The tasks work in
/// `each` elements of scratch memory, and as many run at a time as `scratch` has room for.
pub fn share_parts(
    row: usize,
    [height, width]: [usize; 2],
    matrix: &mut [f32],
    (each, scratch): (usize, &mut [f32]),
    task: &PartTask<'_>,
) {
    let all = Columns::all(matrix, row);
    let (first, rows, across) = (Shared(all.first), all.rows, row.div_ceil(width));
    let parts = rows.div_ceil(height) * across;
    let pieces = Shares::new(parts, |pieces| pieces);
    each_scratch(parts, (each, scratch), &|scratch| {
        // The whole, not its pointer alone, which threads cannot share.
        let first = &first;
        while let Some(at) = pieces.next() {
            let [top, left] = [at / across * height, at % across * width];
            let first = first.0.wrapping_add(top * row + left);
            let (rows, width) = (height.min(rows - top), width.min(row - left));
            task([top, left], Columns { first, rows, apart: row, width, matrix: PhantomData }, scratch);
        }
    });
}
