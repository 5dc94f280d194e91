//! The input, transformed: of the 4x4 elements that each tile meets the 16 factors.

use super::{LANES, PLACES, Vector, WIDE, add, plane, sub};
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
                    let met = &buffer[from + part..];
                    let [[a0, b0, c0, d0], [a1, b1, c1, d1]] = [line(met, &taps, 0), line(met, &taps, 1)];
                    let [[a2, b2, c2, d2], [a3, b3, c3, d3]] = [line(met, &taps, 2), line(met, &taps, 3)];
                    let planes = &mut planes[row + at + part..];
                    put(planes, plane, 0, four(a0, a1, a2, a3));
                    put(planes, plane, 1, four(b0, b1, b2, b3));
                    put(planes, plane, 2, four(c0, c1, c2, c3));
                    put(planes, plane, 3, four(d0, d1, d2, d3));
                }
            });
        }
    }
}

/// A line of what tiles meet, transformed along the width.
#[inline(always)]
fn line(met: &[f32], taps: &[usize; PLACES], y: usize) -> [Vector; 4] {
    let [a, b, c, d] = [taps[4 * y], taps[4 * y + 1], taps[4 * y + 2], taps[4 * y + 3]];
    four(vector(&met[a..]), vector(&met[b..]), vector(&met[c..]), vector(&met[d..]))
}

#[inline(always)]
fn vector(elements: &[f32]) -> Vector {
    *elements.first_chunk().expect("lines end with slack")
}

/// Stores a column of factors.
#[inline(always)]
fn put(planes: &mut [f32], plane: usize, x: usize, factors: [Vector; 4]) {
    for (y, factors) in factors.iter().enumerate() {
        planes[(4 * y + x) * plane..][..LANES].copy_from_slice(factors);
    }
}

/// Along one dimension.
#[inline(always)]
fn four(a: Vector, b: Vector, c: Vector, d: Vector) -> [Vector; 4] {
    [sub(a, c), add(b, c), sub(c, b), sub(b, d)]
}
