//! The lines of one channel that a range of output positions meets, copied with their padding, so that what a tap meets
//! is contiguous: a stride along the width is divided into phases, elements a stride apart, that follow each other.
//!
//! [`Lines::tap`] says where a tap's elements begin, [`Lines::segments`] which of them are those of the positions if
//! the range does not begin or end with a line.

use super::Window;
use super::extents::Extents;
use smallvec::SmallVec;
use std::ops::Range;

/// Elements that are copied or summed at a time: more than asked for, but less than this many, may be read and written.
pub const SLACK: usize = 16;
/// Phases up to which each reads the lines anew.
const FEW_PHASES: usize = 2;

/// Where the lines of a range of output positions are in a buffer.
///
/// A line of five elements, for a filter of three taps that moves by two, with one zero before the input, has three
/// positions of output and two phases of four elements:
///
/// ```text
/// with padding   0  x0 x1 x2 x3 x4 0       position j meets element 2j + t by tap t
/// in the buffer  0  x1 x3 0 | x0 x2 x4 0   elements 0, 2, 4, 6, and elements 1, 3, 5
///
/// tap 0          0  x1 x3                  from 0 on
/// tap 1                       x0 x2 x4     from 4 on
/// tap 2             x1 x3 0                from 1 on
/// ```
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    e: &'a Extents,
    /// The range of positions.
    start: usize,
    end: usize,
    /// First line of the output, and its first column if there is no other line.
    first: [usize; 2],
    /// Lines of the output.
    outputs: usize,
    /// Lines of the input that they meet, which the buffer has.
    lines: usize,
    /// Phases of a line.
    phases: usize,
    /// Elements of a phase of a line.
    width: usize,
}

/// Positions of one line of output: which of the range's they are, how many, and where the filter's first tap meets
/// the first of them in the buffer.
pub struct Segment {
    pub at: usize,
    pub count: usize,
    pub from: usize,
}

impl<'a> Lines<'a> {
    /// The lines for these positions.
    #[inline(always)]
    pub fn new(e: &'a Extents, positions: Range<usize>) -> Self {
        let Range { start, end } = positions;
        let columns = e.output[1];
        let [top, bottom] = [start / columns, (end - 1) / columns];
        let (left, columns) = if top == bottom { (start % columns, end - start) } else { (0, columns) };
        let outputs = bottom - top + 1;
        let [lines, phases, width] = extents(e, outputs, columns);
        Self { e, start, end, first: [top, left], outputs, lines, phases, width }
    }

    /// Elements of a buffer for any range of so many positions.
    pub fn most(e: &Extents, positions: usize) -> usize {
        let columns = e.output[1];
        let lines = ((positions + columns - 2) / columns + 1).min(e.output[0]);
        let columns = if lines == 1 { columns.min(positions) } else { columns };
        extents(e, lines, columns).iter().product::<usize>() + SLACK
    }

    /// Elements of the buffer.
    pub fn size(&self) -> usize {
        self.lines * self.phases * self.width + SLACK
    }

    /// Where a tap meets what the first one meets, counted from there.
    #[inline(always)]
    pub fn tap(&self, tap: usize) -> usize {
        let [y, x] = [tap / self.e.filter[1], tap % self.e.filter[1]];
        let Window { stride, dilation, .. } = self.e.windows[1];
        let [y, x] = [y * self.e.windows[0].dilation, x * dilation];
        (y * self.phases + x % stride) * self.width + x / stride
    }

    /// Where the first tap meets the first position of a line, of whole ones.
    #[inline(always)]
    pub fn line(&self, line: usize) -> usize {
        line * self.e.windows[0].stride * self.phases * self.width
    }

    /// The positions by lines, and by `tile` positions.
    #[inline(always)]
    pub fn segments(&self, tile: usize, mut each: impl FnMut(Segment)) {
        let line = self.line(1);
        let (mut at, count) = (0, self.end - self.start);
        let mut column = self.start - self.first[0] * self.e.output[1];
        let (mut base, mut rest) = (0, tile);
        while at < count {
            let part = (self.e.output[1] - column).min(rest).min(count - at);
            each(Segment { at, count: part, from: base + column - self.first[1] });
            at += part;
            column += part;
            rest -= part;
            if column == self.e.output[1] {
                (column, base) = (0, base + line);
            }
            if rest == 0 {
                rest = tile;
            }
        }
    }

    /// Whether a tap meets this line of the input.
    #[inline(always)]
    fn is_met(&self, line: usize) -> bool {
        let Window { stride, dilation, .. } = self.e.windows[0];
        let of_output = |line: usize| line.is_multiple_of(stride) && line / stride < self.outputs;
        (dilation == 1 && stride <= self.e.filter[0])
            || (0..self.e.filter[0]).any(|tap| line.checked_sub(tap * dilation).is_some_and(of_output))
    }

    /// Where a line of the buffer begins in the channel, if it is inside and a tap meets it.
    #[inline(always)]
    fn inside(&self, line: usize) -> Option<usize> {
        let y = (self.first[0] * self.e.windows[0].stride + line).checked_sub(self.e.windows[0].before)?;
        (y < self.e.input[0] && self.is_met(line)).then_some(y * self.e.input[1])
    }

    /// The elements of a phase that are inside, if any are: the first one's place in a line of the channel, and which
    /// ones of the phase they are.
    #[inline(always)]
    fn phase(&self, phase: usize) -> Option<(usize, Range<usize>)> {
        let Window { stride, before, .. } = self.e.windows[1];
        let at = self.first[1] * stride + phase;
        let end = before + self.e.input[1];
        let first = before.saturating_sub(at).div_ceil(stride).min(self.width);
        let last = end.saturating_sub(at).div_ceil(stride).min(self.width);
        (first < last).then(|| (at + first * stride - before, first..last))
    }

    /// The same of all phases of which some are inside, each with its number.
    fn all_phases(&self) -> SmallVec<[(usize, usize, Range<usize>); 16]> {
        (0..self.phases).filter_map(|at| self.phase(at).map(|(place, inside)| (at, place, inside))).collect()
    }

    /// Copies what is inside of the channel; the rest of the buffer stays.
    #[inline(always)]
    pub fn fill(&self, channel: &[f32], buffer: &mut [f32]) {
        match (self.e.windows[1].stride, self.phases) {
            (2, 2) if self.width > 8 => self.fill_together::<2, 8, 16>(channel, buffer),
            (2, 2) => self.fill_together::<2, 4, 8>(channel, buffer),
            _ => self.fill_apart(channel, buffer),
        }
    }

    /// The same, a phase after another; of many phases a line after another, which then stays in the first-level cache.
    #[inline(always)]
    fn fill_apart(&self, channel: &[f32], buffer: &mut [f32]) {
        let stride = self.e.windows[1].stride;
        if self.phases <= FEW_PHASES {
            for phase in 0..self.phases {
                let Some((place, inside)) = self.phase(phase) else { continue };
                for (line, buffer) in buffer.chunks_exact_mut(self.phases * self.width).enumerate().take(self.lines) {
                    let Some(start) = self.inside(line) else { continue };
                    take_phase(&channel[start + place..], stride, &mut buffer[phase * self.width..][inside.clone()]);
                }
            }
            return;
        }
        let phases = self.all_phases();
        for (line, buffer) in buffer.chunks_exact_mut(self.phases * self.width).enumerate().take(self.lines) {
            let Some(start) = self.inside(line) else { continue };
            for (phase, place, inside) in &phases {
                take_phase(&channel[start + place..], stride, &mut buffer[phase * self.width..][inside.clone()]);
            }
        }
    }

    /// As many phases as the stride has, if some elements of each are inside: the first one's place in a line of the
    /// channel and in one of the buffer, and how many they are. They are in the order of their elements in the channel,
    /// which follow each other.
    #[inline(always)]
    fn phases_together<const PHASES: usize>(&self) -> Option<[(usize, usize, usize); PHASES]> {
        let mut phases = [(0, 0, 0); PHASES];
        for (at, phase) in phases.iter_mut().enumerate() {
            let (place, inside) = self.phase(at)?;
            *phase = (place, at * self.width + inside.start, inside.len());
        }
        phases.sort_unstable();
        Some(phases)
    }

    /// The same for as many phases as the stride has: of `READ` elements each gets `VECTOR`.
    #[inline(always)]
    fn fill_together<const PHASES: usize, const VECTOR: usize, const READ: usize>(
        &self,
        channel: &[f32],
        buffer: &mut [f32],
    ) {
        let Some(phases) = self.phases_together::<PHASES>() else { return self.fill_apart(channel, buffer) };
        let count = phases.iter().map(|&(.., count)| count).min().unwrap_or(0);
        if count < VECTOR {
            return self.fill_apart(channel, buffer);
        }
        let first = phases[0].0;
        for (line, buffer) in buffer.chunks_exact_mut(self.phases * self.width).enumerate().take(self.lines) {
            let Some(start) = self.inside(line) else { continue };
            let channel = &channel[start + first..];
            for at in (0..count).step_by(VECTOR) {
                // The last vector overlaps the one before.
                let at = at.min(count - VECTOR);
                let Some(read) = channel[PHASES * at..].first_chunk::<READ>() else {
                    unreachable!("each phase has so many elements")
                };
                for (phase, &(_, to, _)) in phases.iter().enumerate() {
                    let mut vector = [0.0; VECTOR];
                    for i in 0..VECTOR {
                        vector[i] = read[PHASES * i + phase];
                    }
                    buffer[to + at..][..VECTOR].copy_from_slice(&vector);
                }
            }
            for (phase, &(_, to, all)) in phases.iter().enumerate() {
                for at in count..all {
                    buffer[to + at] = channel[PHASES * at + phase];
                }
            }
        }
    }

    /// Adds what is inside to the channel.
    #[inline(always)]
    pub fn add(&self, buffer: &[f32], channel: &mut [f32]) {
        match (self.e.windows[1].stride, self.phases) {
            (2, 2) => self.add_pairs(buffer, channel),
            _ => self.add_apart(buffer, channel),
        }
    }

    /// The same for both phases of a stride of two.
    #[inline(always)]
    fn add_pairs(&self, buffer: &[f32], channel: &mut [f32]) {
        let phases = self.phases_together::<2>();
        let Some([(first, even, evens), (_, odd, odds)]) = phases.filter(|[(.., a), (.., b)]| [*b, b + 1].contains(a))
        else {
            return self.add_apart(buffer, channel);
        };
        for (line, buffer) in buffer.chunks_exact(2 * self.width).enumerate().take(self.lines) {
            let Some(start) = self.inside(line) else { continue };
            let (even, odd) = (&buffer[even..][..evens], &buffer[odd..][..odds]);
            put_pairs((even, odd), &mut channel[start + first..][..evens + odds], |x, sum| *x += sum);
        }
    }

    /// The same, a phase after another.
    #[inline(always)]
    fn add_apart(&self, buffer: &[f32], channel: &mut [f32]) {
        let stride = self.e.windows[1].stride;
        if self.phases <= FEW_PHASES {
            for phase in 0..self.phases {
                let Some((place, inside)) = self.phase(phase) else { continue };
                for (line, buffer) in buffer.chunks_exact(self.phases * self.width).enumerate().take(self.lines) {
                    let Some(start) = self.inside(line) else { continue };
                    add_phase(&buffer[phase * self.width..][inside.clone()], stride, &mut channel[start + place..]);
                }
            }
            return;
        }
        let phases = self.all_phases();
        for (line, buffer) in buffer.chunks_exact(self.phases * self.width).enumerate().take(self.lines) {
            let Some(start) = self.inside(line) else { continue };
            for (phase, place, inside) in &phases {
                add_phase(&buffer[phase * self.width..][inside.clone()], stride, &mut channel[start + place..]);
            }
        }
    }
}

/// Copies elements of a line that are a stride apart.
#[inline(always)]
fn take_phase(line: &[f32], stride: usize, out: &mut [f32]) {
    match stride {
        1 => copy_short(&line[..out.len()], out),
        stride => out.iter_mut().zip(line.iter().step_by(stride)).for_each(|(out, &x)| *out = x),
    }
}

/// Adds sums to elements of a line that are a stride apart.
#[inline(always)]
fn add_phase(sums: &[f32], stride: usize, line: &mut [f32]) {
    match stride {
        1 => line[..sums.len()].iter_mut().zip(sums).for_each(|(x, &sum)| *x += sum),
        2 if 2 * sums.len() <= line.len() => {
            let (pairs, _) = line[..2 * sums.len()].as_chunks_mut::<2>();
            pairs.iter_mut().zip(sums).for_each(|(pair, &sum)| pair[0] += sum);
        }
        stride => line.iter_mut().step_by(stride).zip(sums).for_each(|(x, &sum)| *x += sum),
    }
}

/// Copies elements that are usually few, for which a call would take longer.
#[inline(always)]
pub fn copy_short(from: &[f32], to: &mut [f32]) {
    match from.len() {
        64.. => to.copy_from_slice(from),
        16.. => copy::<16>(from, to),
        8.. => copy::<8>(from, to),
        4.. => copy::<4>(from, to),
        _ => copy::<1>(from, to),
    }
}

/// Puts the sums of two phases in their places.
#[inline(always)]
pub fn put_pairs((even, odd): (&[f32], &[f32]), out: &mut [f32], each: impl Fn(&mut f32, f32)) {
    let (pairs, rest) = out.as_chunks_mut::<2>();
    rest.iter_mut().zip(&even[pairs.len()..]).for_each(|(out, &sum)| each(out, sum));
    for ([left, right], (&even, &odd)) in pairs.iter_mut().zip(even.iter().zip(odd)) {
        each(left, even);
        each(right, odd);
    }
}

/// Copies at least `VECTOR` elements, so many at a time; the last ones overlap those before.
#[inline(always)]
pub fn copy<const VECTOR: usize>(from: &[f32], to: &mut [f32]) {
    let count = from.len();
    for at in (0..count).step_by(VECTOR) {
        let at = at.min(count - VECTOR);
        to[at..][..VECTOR].copy_from_slice(&from[at..][..VECTOR]);
    }
}

/// Lines of the input, phases, and elements of a phase, for so many lines and columns of output.
#[inline(always)]
fn extents(e: &Extents, lines: usize, columns: usize) -> [usize; 3] {
    let [down, along] = [0, 1].map(|axis| e.windows[axis].dilation * (e.filter[axis] - 1));
    let stride = e.windows[1].stride;
    [(lines - 1) * e.windows[0].stride + down + 1, stride.min(along + 1), columns + along / stride]
}
