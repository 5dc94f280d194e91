//! The output: of the 16 sums of each tile its 2x2 elements.

use super::{LANES, ROWS, Vector, WIDE, Work, add, sub};
use crate::kernels::convolution::target::Target;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use std::ops::Range;

/// Writes rows of the tiles `panel`, counted through the samples, plus their bias. Returns whether all elements are
/// finite.
pub fn transform(
    work: &Work<'_>,
    (rows, panel): (Range<usize>, Range<usize>),
    sums: &[f32],
    out: &mut Target<'_>,
) -> bool {
    vectorised(Output { work, tiles: work.range(), rows, panel, sums, out })
}

struct Output<'a, 'b> {
    work: &'a Work<'a>,
    /// Of each sample.
    tiles: Range<usize>,
    rows: Range<usize>,
    panel: Range<usize>,
    sums: &'a [f32],
    out: &'a mut Target<'b>,
}

impl VectorLoop for Output<'_, '_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Output { work, tiles, rows, panel, sums, out } = self;
        let [height, width] = work.tiles.result;
        let across = width.div_ceil(2);
        // NaN as soon as an element is not finite.
        let mut zeros = [0.0; LANES];
        for (at, row) in rows.enumerate() {
            let sums = &sums[at * WIDE..];
            let bias = [work.bias.map_or(0.0, |bias| bias[row]); LANES];
            let mut lines = [[[0.0; 2]; WIDE]; 2];
            for at in (0..panel.len()).step_by(LANES) {
                let sums = &sums[at..];
                let [[a0, a1], [b0, b1]] = [column(sums, 0), column(sums, 1)];
                let [[c0, c1], [d0, d1]] = [column(sums, 2), column(sums, 3)];
                for (line, [left, right]) in lines.iter_mut().zip([two(a0, b0, c0, d0), two(a1, b1, c1, d1)]) {
                    let pairs: &mut [[f32; 2]; LANES] = line[at..].first_chunk_mut().expect("whole vectors");
                    let [left, right] = [add(left, bias), add(right, bias)];
                    for i in 0..LANES {
                        pairs[i] = [left[i], right[i]];
                    }
                }
            }
            let mut at = panel.start;
            while at < panel.end {
                let (sample, tile) = (at / tiles.len(), tiles.start + at % tiles.len());
                let (y, x) = (tile / across * 2, tile % across * 2);
                let together = (across - tile % across).min(panel.end - at);
                let count = (2 * together).min(width - x);
                let Some(out) = out.row(sample, row) else { unreachable!("a piece has so many samples and rows") };
                for (line, elements) in lines.iter().enumerate().take(height - y) {
                    let elements = &elements[at - panel.start..].as_flattened()[..count];
                    out[(y + line) * width + x - work.positions.start..][..count].copy_from_slice(elements);
                    let (vectors, rest) = elements.as_chunks::<LANES>();
                    vectors.iter().for_each(|vector| (0..LANES).for_each(|i| zeros[i] += vector[i] * 0.0));
                    rest.iter().for_each(|element| zeros[0] += element * 0.0);
                }
                at += together;
            }
        }
        zeros.iter().sum::<f32>() == 0.0
    }
}

/// A column of sums, transformed along the height.
#[inline(always)]
fn column(sums: &[f32], x: usize) -> [Vector; 2] {
    two(vector(sums, x), vector(sums, 4 + x), vector(sums, 8 + x), vector(sums, 12 + x))
}

#[inline(always)]
fn vector(sums: &[f32], place: usize) -> Vector {
    *sums[place * ROWS * WIDE..].first_chunk().expect("whole vectors")
}

/// Along one dimension: two elements of four sums.
#[inline(always)]
fn two(a: Vector, b: Vector, c: Vector, d: Vector) -> [Vector; 2] {
    [add(add(a, b), c), sub(sub(b, c), d)]
}
