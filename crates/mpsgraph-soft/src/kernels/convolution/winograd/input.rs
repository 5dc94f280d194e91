//! The input, transformed: of the 4x4 elements that each tile meets the 16 factors.

use super::{LANES, PLACES, Vector, WIDE, Work, add, plane, sub};
use crate::kernels::convolution::lines::{Lines, Segment};
use crate::kernels::convolution::target;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use smallvec::SmallVec;
use std::ops::Range;

/// Fills a plane per place with a row per channel, for the tiles `panel`, counted through the samples. `buffer` has
/// room for their lines.
pub fn transform(work: &Work<'_>, panel: Range<usize>, planes: &mut [f32], buffer: &mut [f32]) {
    let Work { tiles, x, sample, group, .. } = work;
    let own = work.range();
    let (mut parts, mut start) = (SmallVec::<[Part<'_>; 4]>::new(), 0);
    for target::Part { sample: of_sample, positions, at } in target::parts(panel.clone(), own.len()) {
        let lines = Lines::new(&tiles.of, own.start + positions.start..own.start + positions.end);
        let mut taps = [0; PLACES];
        taps.iter_mut().enumerate().for_each(|(tap, place)| *place = lines.tap(tap));
        let channels = tiles.of.input_of(x, sample + of_sample, *group);
        parts.push(Part { at, channels, lines, taps, buffer: start });
        start += lines.size();
    }
    let plane = plane(tiles);
    for plane in planes.chunks_exact_mut(plane) {
        target::whole_vectors(plane, panel.len());
    }
    vectorised(Input { area: tiles.of.area(), plane, parts: &parts, buffer: &mut buffer[..start], planes });
}

/// Tiles of one sample.
struct Part<'a> {
    /// Of the panel's, the first one.
    at: usize,
    channels: &'a [f32],
    lines: Lines<'a>,
    /// Where each of the elements that a tile meets is, from its first one on.
    taps: [usize; PLACES],
    /// Where the lines are in the buffer.
    buffer: usize,
}

struct Input<'a> {
    /// Elements of a channel.
    area: usize,
    /// From one plane to the next.
    plane: usize,
    parts: &'a [Part<'a>],
    buffer: &'a mut [f32],
    planes: &'a mut [f32],
}

impl VectorLoop for Input<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Input { area, plane, parts, buffer, planes } = self;
        buffer.fill(0.0);
        for channel in 0..parts[0].channels.len() / area {
            // In the order of the parts: the last vector of one may write over what follows, which is filled later or
            // is slack.
            for Part { at: first, channels, lines, taps, buffer: start } in parts {
                let buffer = &mut buffer[*start..][..lines.size()];
                lines.fill(&channels[channel * area..][..area], buffer);
                let row = channel * WIDE + first;
                lines.segments(WIDE, |Segment { at, count, from }| {
                    for part in (0..count).step_by(LANES) {
                        let met = &buffer[from + part..];
                        let [[a0, b0, c0, d0], [a1, b1, c1, d1]] = [line(met, taps, 0), line(met, taps, 1)];
                        let [[a2, b2, c2, d2], [a3, b3, c3, d3]] = [line(met, taps, 2), line(met, taps, 3)];
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
