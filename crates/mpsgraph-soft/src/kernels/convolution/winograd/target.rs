//! What a piece of work writes.

use crate::kernels::threads::Columns;

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
