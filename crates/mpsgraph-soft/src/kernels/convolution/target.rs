//! What a piece of work writes, and how positions are counted through several samples.

use super::extents::{TILE, VECTOR};
use crate::kernels::threads::Columns;
use std::ops::Range;

/// Some rows of the result.
pub enum Target<'a> {
    /// Of one sample, at some positions.
    One(Columns<'a, f32>),
    /// Of several samples, each a row of these columns, at all positions.
    Several { samples: Columns<'a, f32>, positions: usize },
}

impl Target<'_> {
    /// How many samples they are of.
    pub fn samples(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Several { samples, .. } => samples.rows(),
        }
    }

    /// How many rows they are in each sample.
    pub fn rows(&self) -> usize {
        match self {
            Self::One(out) => out.rows(),
            Self::Several { samples, positions } => samples.width() / positions,
        }
    }

    /// How many positions.
    pub fn width(&self) -> usize {
        match self {
            Self::One(out) => out.width(),
            Self::Several { positions, .. } => *positions,
        }
    }

    /// A row of a sample.
    #[inline(always)]
    pub fn row(&mut self, sample: usize, row: usize) -> Option<&mut [f32]> {
        match self {
            Self::One(out) => out.row(row),
            Self::Several { samples, positions } => {
                samples.row(sample).map(|rows| &mut rows[row * *positions..][..*positions])
            }
        }
    }

    /// Calls `each` with the rows of each sample and its number.
    pub fn each(&mut self, mut each: impl FnMut(usize, Columns<'_, f32>)) {
        match self {
            Self::One(out) => each(0, out.part(0..out.width())),
            Self::Several { samples, positions } => {
                for at in 0..samples.rows() {
                    let Some(rows) = samples.row(at) else { return };
                    each(at, Columns::all(rows, *positions));
                }
            }
        }
    }
}

/// So many positions, counted through the samples, in parts that are multiplied together: about as many in each,
/// because products of a few take longer than their share.
pub fn panels(all: usize) -> impl Iterator<Item = Range<usize>> {
    let (vectors, panels) = (all.div_ceil(VECTOR), all.div_ceil(TILE));
    let start = move |panel: usize| (panel * vectors / panels * VECTOR).min(all);
    (0..panels).map(move |panel| start(panel)..start(panel + 1))
}

/// The positions of one sample in a panel.
pub struct Part {
    pub sample: usize,
    pub positions: Range<usize>,
    /// Where in the panel they begin.
    pub at: usize,
}

/// The parts of a panel of samples with so many positions each.
pub fn parts(panel: Range<usize>, positions: usize) -> impl Iterator<Item = Part> {
    (panel.start / positions..panel.end.div_ceil(positions)).map(move |sample| {
        let first = sample * positions;
        let [start, end] = [panel.start.max(first), panel.end.min(first + positions)];
        Part { sample, positions: start - first..end - first, at: start - panel.start }
    })
}

/// How many columns are multiplied if so many are used, of rows of a tile: whole vectors. What is not used is made
/// zero, because numbers of the last use of this memory might be slow.
pub fn whole_vectors(rows: &mut [f32], used: usize) -> usize {
    let width = used.next_multiple_of(VECTOR);
    if width > used {
        rows.chunks_exact_mut(TILE).for_each(|row| row[used..width].fill(0.0));
    }
    width
}
