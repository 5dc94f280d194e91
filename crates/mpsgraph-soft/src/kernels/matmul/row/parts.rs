//! A row times a matrix that comes from memory: threads take parts of its rows.
//!
//! Each reads its part in order, some rows at a time, so that the processor foresees what comes next, and keeps sums
//! for all columns in the nearest cache. Columns side by side, as for a matrix in the caches, would be read in short
//! pieces of distant rows.

use std::cell::Cell;
use std::ops::Range;

use super::{Lone, RowProduct};
use crate::kernels::threads;
use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Rows that are added together, and columns whose sums are in registers meanwhile.
pub const TOGETHER: usize = 8;
const COLUMNS: usize = 32;

/// Elements of a part, if there are not more parts than these.
const PART: usize = 1 << 16;
const MOST_PARTS: usize = 8;
/// Columns from which on threads take some of them instead: parts of such rows are long enough to be read in order, and
/// sums for all of them would have to be written by each thread.
pub const MANY_COLUMNS: usize = 1 << 13;

thread_local! {
    /// The sums of each part, kept so that running allocates nothing.
    static SUMS: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

impl Lone {
    /// Whether there are rows enough for parts of them.
    pub fn has_parts(rows: usize, columns: usize) -> bool {
        columns < MANY_COLUMNS && rows >= MOST_PARTS * TOGETHER
    }
}

impl RowProduct<'_> {
    /// Whether there are rows enough for parts of them.
    pub fn has_parts(&self) -> bool {
        Lone::has_parts(self.rows(), self.out.len())
    }

    /// Multiplies on several threads.
    pub fn run_parts(self) {
        let rows = self.rows();
        let Self { numbers, step, matrix, between, out, accumulate } = self;
        add_parts(rows, out, accumulate, &|rows, out| {
            let numbers = &numbers[rows.start * step..=(rows.end - 1) * step];
            let matrix = &matrix[rows.start * between..];
            vectorised(InOrder(RowProduct { numbers, step, matrix, between, out, accumulate: false }));
        });
    }
}

/// Lets threads `make` the sums of parts of the rows, and adds them. How many parts there are does not depend on how
/// many threads there are, because the order of summation does.
pub fn add_parts(rows: usize, out: &mut [f32], accumulate: bool, make: &(dyn Fn(Range<usize>, &mut [f32]) + Sync)) {
    let columns = out.len();
    let part = rows.div_ceil((rows * columns / PART).clamp(1, MOST_PARTS)).next_multiple_of(TOGETHER);
    let elements = rows.div_ceil(part) * columns;
    let mut sums = SUMS.take();
    sums.resize(sums.len().max(elements), 0.0);
    threads::share_reads(true, part * columns * size_of::<f32>(), columns, &mut sums[..elements], |at, sums| {
        make(at * part..rows.min((at + 1) * part), sums);
    });
    if !accumulate {
        out.fill(0.0);
    }
    for sums in sums[..elements].chunks_exact(columns) {
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
    }
    SUMS.set(sums);
}

/// A product whose matrix is read row by row.
struct InOrder<'a>(RowProduct<'a>);

impl InOrder<'_> {
    /// Adds `R` rows from this one on.
    #[inline(always)]
    fn add<const R: usize>(&mut self, first: usize) {
        let RowProduct { numbers, step, matrix, between, out, .. } = &mut self.0;
        let columns = out.len();
        let rows: [&[f32]; R] = std::array::from_fn(|at| &matrix[(first + at) * *between..][..columns]);
        let numbers: [f32; R] = std::array::from_fn(|at| numbers[(first + at) * *step]);
        let (whole, rest) = out.as_chunks_mut::<COLUMNS>();
        let behind = columns - rest.len();
        for (at, sums) in whole.iter_mut().enumerate() {
            let mut made = *sums;
            for (row, number) in (0..R).map(|row| (rows[row], numbers[row])) {
                let row = row[at * COLUMNS..].first_chunk::<COLUMNS>().expect("rows are as long as the result");
                // Of iterators, the compiler makes no vector instructions here.
                for column in 0..COLUMNS {
                    made[column] += number * row[column];
                }
            }
            *sums = made;
        }
        for (row, number) in rows.iter().zip(numbers) {
            rest.iter_mut().zip(&row[behind..]).for_each(|(sum, x)| *sum += number * x);
        }
    }
}

impl VectorLoop for InOrder<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        if !self.0.accumulate {
            self.0.out.fill(0.0);
        }
        let rows = self.0.rows();
        let together = rows / TOGETHER * TOGETHER;
        for first in (0..together).step_by(TOGETHER) {
            self.add::<TOGETHER>(first);
        }
        for at in together..rows {
            self.add::<1>(at);
        }
    }
}
