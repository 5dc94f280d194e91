//! Weights, transformed: of a filter's 3x3 elements the 16 factors of a tile.

use super::tiles::Tiles;
use super::{LANES, PLACES, ROWS, Vector, add, sub};
use crate::kernels::threads::share;
use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Weights as the rows and columns of a matrix of filters.
#[derive(Clone, Copy)]
pub struct Filters<'a> {
    pub elements: &'a [f32],
    /// How far groups, rows and columns are apart.
    pub strides: [usize; 3],
    /// Whether taps are in the opposite order.
    pub mirrored: bool,
}

/// Transforms the weights for pieces with `block` rows: for some rows at a time a matrix per place.
pub fn transform(tiles: &Tiles, filters: Filters<'_>, block: usize, out: &mut [f32]) {
    let [inputs, outputs] = [tiles.of.inputs, tiles.of.outputs];
    // The rows of a product follow each other, so blocks of whole products can be divided.
    let block = if block.is_multiple_of(ROWS) { ROWS } else { block };
    share(true, block * inputs * PLACES, out, |at, out| {
        vectorised(Weights { inputs, outputs, filters, first: at * block, out });
    });
}

struct Weights<'a> {
    inputs: usize,
    outputs: usize,
    filters: Filters<'a>,
    /// The first row, counted through all groups.
    first: usize,
    out: &'a mut [f32],
}

impl VectorLoop for Weights<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Weights { inputs, outputs, filters, first, out } = self;
        let [group, row, column] = filters.strides;
        let size = inputs * PLACES;
        for (part, out) in out.chunks_mut(ROWS * size).enumerate() {
            let height = out.len() / size;
            for at in 0..height {
                let channel = first + part * ROWS + at;
                let filter = &filters.elements[channel / outputs * group + channel % outputs * row..];
                for from in (0..inputs).step_by(LANES) {
                    // The last ones overlap those before.
                    let from = from.min(inputs - LANES);
                    let mut taps = [[0.0; LANES]; 9];
                    for lane in 0..LANES {
                        let Some(filter) = filter[(from + lane) * column..].first_chunk::<9>() else {
                            unreachable!("filters are whole")
                        };
                        for (tap, element) in filter.iter().enumerate() {
                            taps[tap][lane] = *element;
                        }
                    }
                    if filters.mirrored {
                        taps.reverse();
                    }
                    for (place, factors) in factors(taps).as_flattened().iter().enumerate() {
                        out[(place * height + at) * inputs + from..][..LANES].copy_from_slice(factors);
                    }
                }
            }
        }
    }
}

/// The factors of a tile by lines. Arrays are written out here, because what closures make of them stays baseline code.
#[inline(always)]
fn factors([a0, b0, c0, a1, b1, c1, a2, b2, c2]: [Vector; 9]) -> [[Vector; 4]; 4] {
    let [a, b, c] = [four([a0, a1, a2]), four([b0, b1, b2]), four([c0, c1, c2])];
    let line = |y: usize| four([a[y], b[y], c[y]]);
    [line(0), line(1), line(2), line(3)]
}

/// Along one dimension: four factors of three taps.
#[inline(always)]
fn four([a, b, c]: [Vector; 3]) -> [Vector; 4] {
    let outer = add(a, c);
    [a, half(add(outer, b)), half(sub(outer, b)), c]
}

#[inline(always)]
fn half(mut a: Vector) -> Vector {
    a.iter_mut().for_each(|a| *a *= 0.5);
    a
}
