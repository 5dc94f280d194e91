//! Weights, transformed: of a filter's 3x3 elements the 16 factors of a tile.

use super::{LANES, PLACES, ROWS, Vector};
use crate::kernels::convolution::extents::Extents;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use std::array::from_fn;

/// Weights as the rows and columns of a matrix of filters.
#[derive(Clone, Copy)]
pub struct Filters<'a> {
    pub elements: &'a [f32],
    /// How far groups, rows and columns are apart.
    pub strides: [usize; 3],
    /// Whether taps are in the opposite order.
    pub mirrored: bool,
}

/// Transforms the rows from `first` on, counted through all groups: for some rows at a time a matrix per place.
pub fn transform(e: &Extents, filters: Filters<'_>, first: usize, out: &mut [f32]) {
    vectorised(Weights { e, filters, first, out });
}

struct Weights<'a> {
    e: &'a Extents,
    filters: Filters<'a>,
    first: usize,
    out: &'a mut [f32],
}

impl VectorLoop for Weights<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Weights { e, filters, first, out } = self;
        let [group, row, column] = filters.strides;
        let size = e.inputs * PLACES;
        for (part, out) in out.chunks_mut(ROWS * size).enumerate() {
            let height = out.len() / size;
            for at in 0..height {
                let channel = first + part * ROWS + at;
                let filter = &filters.elements[channel / e.outputs * group + channel % e.outputs * row..];
                for from in (0..e.inputs).step_by(LANES) {
                    // The last ones overlap those before.
                    let from = from.min(e.inputs - LANES);
                    let taps: [Vector; 9] = from_fn(|tap| {
                        let tap = if filters.mirrored { 8 - tap } else { tap };
                        from_fn(|lane| filter[(from + lane) * column + tap])
                    });
                    for (place, factors) in factors(&taps).iter().enumerate() {
                        out[(place * height + at) * e.inputs + from..][..LANES].copy_from_slice(factors);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn factors(taps: &[Vector; 9]) -> [Vector; PLACES] {
    let lines: [[Vector; 4]; 3] = from_fn(|x| four([taps[x], taps[3 + x], taps[6 + x]]));
    let mut factors = [[0.0; LANES]; PLACES];
    for (y, factors) in factors.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *factors = four([lines[0][y], lines[1][y], lines[2][y]]);
    }
    factors
}

/// Along one dimension: four factors of three taps.
#[inline(always)]
fn four([a, b, c]: [Vector; 3]) -> [Vector; 4] {
    [a, from_fn(|i| ((a[i] + c[i]) + b[i]) * 0.5), from_fn(|i| ((a[i] + c[i]) - b[i]) * 0.5), c]
}
