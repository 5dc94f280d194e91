//! The input, transformed: of the 4x4 elements that each tile meets the 16 factors.

use super::{LANES, PLACES, Vector, WIDE, plane};
use crate::kernels::convolution::extents::Extents;
use crate::kernels::convolution::lines::{Lines, Segment};
use crate::kernels::vectorised::{VectorLoop, vectorised};
use std::array::from_fn;
use std::ops::Range;

/// Fills a plane per place with a row per channel, for the tiles `panel`. `buffer` has room for [`Lines`].
pub fn transform(tiles: &Extents, x: &[f32], panel: Range<usize>, planes: &mut [f32], buffer: &mut [f32]) {
    let lines = Lines::new(tiles, panel);
    vectorised(Input { tiles, x, lines, buffer: &mut buffer[..lines.size()], planes });
}

struct Input<'a> {
    tiles: &'a Extents,
    x: &'a [f32],
    lines: Lines<'a>,
    buffer: &'a mut [f32],
    planes: &'a mut [f32],
}

impl VectorLoop for Input<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Input { tiles, x, lines, buffer, planes } = self;
        buffer.fill(0.0);
        let taps: [usize; PLACES] = from_fn(|tap| lines.tap(tap));
        let plane = plane(tiles);
        for (at, channel) in x.chunks_exact(tiles.area()).enumerate() {
            lines.fill(channel, buffer);
            let row = at * WIDE;
            lines.segments(WIDE, |Segment { at, count, from }| {
                // The last vector may write over what follows, which is filled later or is slack.
                for part in (0..count).step_by(LANES) {
                    let met: [Vector; PLACES] = from_fn(|place| vector(&buffer[from + part + taps[place]..]));
                    for (place, factors) in factors(&met).iter().enumerate() {
                        planes[place * plane + row + at + part..][..LANES].copy_from_slice(factors);
                    }
                }
            });
        }
    }
}

#[inline(always)]
fn vector(elements: &[f32]) -> Vector {
    *elements.first_chunk().expect("lines end with slack")
}

#[inline(always)]
fn factors(met: &[Vector; PLACES]) -> [Vector; PLACES] {
    let lines: [[Vector; 4]; 4] = from_fn(|x| four([met[x], met[4 + x], met[8 + x], met[12 + x]]));
    let mut factors = [[0.0; LANES]; PLACES];
    for (y, factors) in factors.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *factors = four([lines[0][y], lines[1][y], lines[2][y], lines[3][y]]);
    }
    factors
}

/// Along one dimension.
#[inline(always)]
fn four([a, b, c, d]: [Vector; 4]) -> [Vector; 4] {
    [from_fn(|i| a[i] - c[i]), from_fn(|i| b[i] + c[i]), from_fn(|i| c[i] - b[i]), from_fn(|i| b[i] - d[i])]
}
