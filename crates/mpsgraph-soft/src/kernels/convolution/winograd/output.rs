//! The output: of the 16 sums of each tile its 2x2 elements.

use super::{LANES, PLACES, ROWS, Vector, WIDE};
use crate::kernels::convolution::extents::Extents;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use std::array::from_fn;
use std::ops::Range;

/// Writes the tiles `panel` of each channel of `out`, plus the channel's bias. Returns whether all elements are finite.
pub fn transform(e: &Extents, panel: Range<usize>, sums: &[f32], bias: Option<&[f32]>, out: &mut [f32]) -> bool {
    vectorised(Output { e, panel, sums, bias, out })
}

struct Output<'a> {
    e: &'a Extents,
    panel: Range<usize>,
    sums: &'a [f32],
    bias: Option<&'a [f32]>,
    out: &'a mut [f32],
}

impl VectorLoop for Output<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Output { e, panel, sums, bias, out } = self;
        let [height, width] = e.output;
        let across = width.div_ceil(2);
        // NaN as soon as an element is not finite.
        let mut zeros = [0.0; LANES];
        for (row, out) in out.chunks_exact_mut(e.positions()).enumerate() {
            let bias = bias.map_or(0.0, |bias| bias[row]);
            let mut lines = [[0.0; 2 * WIDE]; 2];
            for at in (0..panel.len()).step_by(LANES) {
                let sums: [Vector; PLACES] =
                    from_fn(|place| *sums[(place * ROWS + row) * WIDE + at..].first_chunk().expect("whole vectors"));
                for (line, [a, b]) in lines.iter_mut().zip(elements(&sums)) {
                    let pairs = line[2 * at..2 * (at + LANES)].as_chunks_mut::<2>().0;
                    pairs.iter_mut().zip(a.iter().zip(&b)).for_each(|(pair, (a, b))| *pair = [a + bias, b + bias]);
                }
            }
            let mut at = panel.start;
            while at < panel.end {
                let (y, x) = (at / across * 2, at % across * 2);
                let end = panel.end.min(at - at % across + across);
                let count = (2 * (end - at)).min(width - x);
                for (line, elements) in lines.iter().enumerate().take(height - y) {
                    let elements = &elements[2 * (at - panel.start)..][..count];
                    out[(y + line) * width + x..][..count].copy_from_slice(elements);
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

#[inline(always)]
fn elements(sums: &[Vector; PLACES]) -> [[Vector; 2]; 2] {
    let columns: [[Vector; 2]; 4] = from_fn(|x| two([sums[x], sums[4 + x], sums[8 + x], sums[12 + x]]));
    from_fn(|y| two([columns[0][y], columns[1][y], columns[2][y], columns[3][y]]))
}

/// Along one dimension: two elements of four sums.
#[inline(always)]
fn two([a, b, c, d]: [Vector; 4]) -> [Vector; 2] {
    [from_fn(|i| (a[i] + b[i]) + c[i]), from_fn(|i| (b[i] - c[i]) - d[i])]
}
