//! Panels of columns: what the taps of the filter meet at a range of output positions.
//!
//! A panel has a row for each channel and tap and a column for each position. [`gather`] fills one from the input,
//! [`scatter`] adds one to the gradient of the input.

use super::extents::Extents;
use std::ops::Range;

/// The elements of `x` that the taps meet at these positions; 0 outside of the input.
pub fn gather(e: &Extents, x: &[f32], positions: Range<usize>, columns: &mut [f32]) {
    let width = e.input[1];
    for (row, out) in columns.chunks_exact_mut(positions.len()).enumerate() {
        let (channel, tap) = (row / e.taps(), row % e.taps());
        let plane = &x[channel * e.area()..][..e.area()];
        lines(e, &positions, |at, y, from| {
            let out = &mut out[at.clone()];
            let (_, inside, line) = e.meets(0, tap / e.filter[1], y, 1);
            if inside == 0 {
                return out.fill(0.0);
            }
            let line = &plane[line * width..][..width];
            let (first, last, start) = e.meets(1, tap % e.filter[1], from, out.len());
            out[..first].fill(0.0);
            out[last..].fill(0.0);
            let out = &mut out[first..last];
            match e.windows[1].stride {
                _ if out.is_empty() => {}
                1 => out.copy_from_slice(&line[start..][..out.len()]),
                stride => out.iter_mut().zip(line[start..].iter().step_by(stride)).for_each(|(out, &x)| *out = x),
            }
        });
    }
}

/// Adds columns to the elements of `x` that the taps meet at these positions.
pub fn scatter(e: &Extents, columns: &[f32], positions: Range<usize>, x: &mut [f32]) {
    let width = e.input[1];
    for (row, from_columns) in columns.chunks_exact(positions.len()).enumerate() {
        let (channel, tap) = (row / e.taps(), row % e.taps());
        let plane = &mut x[channel * e.area()..][..e.area()];
        lines(e, &positions, |at, y, from| {
            let grads = &from_columns[at.clone()];
            let (_, inside, line) = e.meets(0, tap / e.filter[1], y, 1);
            let (first, last, start) = e.meets(1, tap % e.filter[1], from, grads.len());
            if inside == 0 || first == last {
                return;
            }
            let line = &mut plane[line * width..][..width];
            let grads = &grads[first..last];
            match e.windows[1].stride {
                1 => line[start..].iter_mut().zip(grads).for_each(|(x, &grad)| *x += grad),
                stride => {
                    line[start..].iter_mut().step_by(stride).zip(grads).for_each(|(x, &grad)| *x += grad);
                }
            }
        });
    }
}

/// Calls `each` for every line of output that the positions are in: which of them, the line, and where in it they
/// begin.
fn lines(e: &Extents, positions: &Range<usize>, mut each: impl FnMut(Range<usize>, usize, usize)) {
    let width = e.output[1];
    let mut position = positions.start;
    while position < positions.end {
        let (y, from) = (position / width, position % width);
        let end = (position + width - from).min(positions.end);
        each(position - positions.start..end - positions.start, y, from);
        position = end;
    }
}
