//! The output: of the 16 sums of each tile its 2x2 elements.

use super::{LANES, ROWS, Vector, WIDE, add, sub};
use crate::kernels::convolution::extents::Extents;
use crate::kernels::threads::Columns;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use std::ops::Range;

/// Writes the tiles `panel` of each channel of `out`, plus the channel's bias; `first` is the first position of `out`.
/// Returns whether all elements are finite.
pub fn transform(
    e: &Extents,
    (panel, first): (Range<usize>, usize),
    sums: &[f32],
    bias: Option<&[f32]>,
    out: Columns<'_, f32>,
) -> bool {
    vectorised(Output { e, panel, sums, bias, out, first })
}

struct Output<'a> {
    e: &'a Extents,
    panel: Range<usize>,
    sums: &'a [f32],
    bias: Option<&'a [f32]>,
    out: Columns<'a, f32>,
    first: usize,
}

impl VectorLoop for Output<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Output { e, panel, sums, bias, mut out, first } = self;
        let [height, width] = e.output;
        let across = width.div_ceil(2);
        // NaN as soon as an element is not finite.
        let mut zeros = [0.0; LANES];
        for row in 0..out.rows() {
            let Some(out) = out.row(row) else { break };
            let bias = [bias.map_or(0.0, |bias| bias[row]); LANES];
            let mut lines = [[[0.0; 2]; WIDE]; 2];
            for at in (0..panel.len()).step_by(LANES) {
                let sums = &sums[row * WIDE + at..];
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
                let (y, x) = (at / across * 2, at % across * 2);
                let end = panel.end.min(at - at % across + across);
                let count = (2 * (end - at)).min(width - x);
                for (line, elements) in lines.iter().enumerate().take(height - y) {
                    let elements = &elements[at - panel.start..].as_flattened()[..count];
                    out[(y + line) * width + x - first..][..count].copy_from_slice(elements);
                    let (vectors, rest) = elements.as_chunks::<LANES>();
                    vectors.iter().for_each(|vector| (0..LANES).for_each(|i| zeros[i] += vector[i] * 0.0));
                    rest.iter().for_each(|element| zeros[0] += element * 0.0);
                }
                at = end;
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
