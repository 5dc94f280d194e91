//! Groups of one channel, summed directly from [`Lines`]: for some positions of a line at a time all taps, so that the
//! sums stay in registers.

use super::extents::Extents;
use super::lines::Lines;
use super::output::add_bias;
use super::phases::{self, Phases};
use super::{Operands, Wanted, inside};
use crate::kernels::threads::{Columns, share_with_scratch};
use crate::kernels::vectorised::{VectorLoop, vectorised};
use smallvec::SmallVec;
use std::ops::Range;

/// Products that are summed side by side for a gradient of weights.
const LANES: usize = 16;
/// Taps that are summed side by side for a gradient of weights.
const TAPS_TOGETHER: usize = 3;
/// Taps whose gradients are summed from one reading of what they meet.
pub const TAPS: usize = 64;
/// Positions of a band: what it meets stays in the first-level cache.
const BAND: usize = 2048;

/// Elements of scratch memory that a piece of work needs.
pub fn scratch(e: &Extents, wanted: Wanted) -> usize {
    match wanted {
        Wanted::Output => room(e),
        Wanted::InputGradient => {
            let of_phases = Phases::new(e).map_or(0, |phases| phases.scratch());
            room(e).max(mirrored(e).map_or(of_phases, |e| room(&e)))
        }
        Wanted::WeightsGradient => room(e) + band(e) * e.output[1].next_multiple_of(LANES),
    }
}

/// Computes what is wanted of `(a, b)`, and adds the bias.
pub fn run(e: &Extents, wanted: Wanted, (a, b, bias): Operands<'_>, out: &mut [f32], scratch: &mut [f32]) {
    let each = self::scratch(e, wanted);
    let taps = e.taps();
    let is_of_input = wanted == Wanted::InputGradient;
    let mirror = mirrored(e).filter(|_| is_of_input);
    let places = mirror.as_ref().map_or_else(|| places(e, false), |mirror| places(mirror, true));
    let phases = is_of_input.then(|| Phases::new(e)).flatten();
    let careful = |at: usize, out: &mut [f32]| inside::run(e, wanted, (a, b), at, out);
    // With finite weights, what they make of padding is 0.
    let finite = |weights: &[f32]| weights.iter().all(|weight| weight.is_finite());
    match wanted {
        Wanted::Output => share_with_scratch((e.positions(), out), (each, scratch), &|at, out, buffer| {
            let channels = e.groups * e.outputs;
            let (sample, channel) = (at / channels, at % channels);
            let weights = &b[channel * taps..][..taps];
            if finite(weights) {
                let x = e.input_of(a, sample, channel / e.outputs);
                vectorised(Sums { e, x, weights, places: &places, buffer, out: &mut *out });
            } else {
                careful(at, out);
            }
            add_bias(bias.map(|bias| &bias[channel..]), Columns::all(out, e.positions()));
        }),
        Wanted::InputGradient => share_with_scratch((e.area(), out), (each, scratch), &|at, out, buffer| {
            let (sample, group) = (at / e.groups, at % e.groups);
            let weights = &b[group * e.outputs * taps..][..e.outputs * taps];
            if !finite(weights) {
                return careful(at, out);
            }
            let grads = e.output_of(a, sample, group).chunks_exact(e.positions());
            for (output, (grad, weights)) in grads.zip(weights.chunks_exact(taps)).enumerate() {
                let accumulate = output > 0;
                if let Some(phases) = &phases {
                    vectorised(phases::Spread { phases, grad, weights, accumulate, buffer, out });
                    continue;
                }
                match &mirror {
                    Some(e) => vectorised(Sums { e, x: grad, weights, places: &places, buffer, out }),
                    None => {
                        vectorised(Spread { e, grad, weights, places: &places, accumulate, buffer, out });
                    }
                }
            }
        }),
        Wanted::WeightsGradient => share_with_scratch((taps, out), (each, scratch), &|at, out, buffer| {
            for (places, out) in places.chunks(TAPS).zip(out.chunks_mut(TAPS)) {
                vectorised(Products { e, grad: a, x: b, places, at, buffer, out });
            }
            if !out.iter().all(|sum| sum.is_finite()) {
                careful(at, out);
            }
        }),
    }
}

/// Lines of output of a band.
fn band(e: &Extents) -> usize {
    (BAND / e.output[1]).clamp(1, e.output[0])
}

/// Elements of the lines that a band meets.
fn room(e: &Extents) -> usize {
    Lines::most(e, band(e) * e.output[1]) + LANES
}

/// The convolution that gives the gradient for the input, if a channel has one output.
fn mirrored(e: &Extents) -> Option<Extents> {
    if e.outputs == 1 { e.mirrored() } else { None }
}

/// The bands of a channel of the output, with where their lines are in a buffer.
#[inline(always)]
fn bands(e: &Extents) -> impl Iterator<Item = (Range<usize>, Lines<'_>)> {
    let (band, positions) = (band(e) * e.output[1], e.positions());
    (0..positions).step_by(band).map(move |start| {
        let range = start..(start + band).min(positions);
        (range.clone(), Lines::new(e, range))
    })
}

/// Where each tap, or that of the mirrored filter, meets what the first one meets, counted from there: the same in all
/// bands, which are whole lines.
fn places(e: &Extents, mirrored: bool) -> SmallVec<[usize; TAPS]> {
    let lines = Lines::new(e, 0..band(e) * e.output[1]);
    let last = e.taps() - 1;
    (0..=last).map(|at| lines.tap(if mirrored { last - at } else { at })).collect()
}

/// A channel of the output, or of the input's gradient by a mirrored filter.
struct Sums<'a> {
    e: &'a Extents,
    x: &'a [f32],
    weights: &'a [f32],
    places: &'a [usize],
    buffer: &'a mut [f32],
    out: &'a mut [f32],
}

impl VectorLoop for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.e.output[1] {
            32.. => self.lines::<32>(),
            16.. => self.lines::<16>(),
            8.. => self.lines::<8>(),
            4.. => self.lines::<4>(),
            _ => self.lines::<1>(),
        }
    }
}

impl Sums<'_> {
    /// `N` positions at a time, which lines have; the last ones of a line may be summed twice.
    #[inline(always)]
    fn lines<const N: usize>(self) {
        let Sums { e, x, weights, places, buffer, out } = self;
        let width = e.output[1];
        for (range, lines) in bands(e) {
            buffer[..lines.size()].fill(0.0);
            lines.fill(x, buffer);
            for (line, out) in out[range].chunks_exact_mut(width).enumerate() {
                let met = &buffer[lines.line(line)..];
                for part in (0..width).step_by(N) {
                    let part = part.min(width - N);
                    let Some(out) = out[part..].first_chunk_mut::<N>() else { unreachable!("a line has so many") };
                    *out = sums(&met[part..], places, weights);
                }
            }
        }
    }
}

/// The sums of `N` positions that follow each other.
#[inline(always)]
pub fn sums<const N: usize>(met: &[f32], places: &[usize], weights: &[f32]) -> [f32; N] {
    let mut sums = [0.0; N];
    for (&place, &weight) in places.iter().zip(weights) {
        let Some(met) = met[place..].first_chunk::<N>() else { unreachable!("the buffer has room") };
        for lane in 0..N {
            sums[lane] += weight * met[lane];
        }
    }
    sums
}

/// A channel of the input's gradient.
struct Spread<'a> {
    e: &'a Extents,
    grad: &'a [f32],
    weights: &'a [f32],
    places: &'a [usize],
    accumulate: bool,
    buffer: &'a mut [f32],
    out: &'a mut [f32],
}

impl VectorLoop for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Spread { e, grad, weights, places, accumulate, buffer, out } = self;
        if !accumulate {
            out.fill(0.0);
        }
        for (range, lines) in bands(e) {
            buffer[..lines.size()].fill(0.0);
            for (line, grad) in grad[range].chunks_exact(e.output[1]).enumerate() {
                let met = &mut buffer[lines.line(line)..];
                for (&place, &weight) in places.iter().zip(weights) {
                    met[place..].iter_mut().zip(grad).for_each(|(x, &grad)| *x += weight * grad);
                }
            }
            lines.add(buffer, out);
        }
    }
}

/// The gradients of some of a channel's weights, at most [`TAPS`].
struct Products<'a> {
    e: &'a Extents,
    grad: &'a [f32],
    x: &'a [f32],
    places: &'a [usize],
    at: usize,
    buffer: &'a mut [f32],
    out: &'a mut [f32],
}

impl VectorLoop for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Products { e, grad, x, places, at, buffer, out } = self;
        let (group, channel) = (at / e.outputs, at % e.outputs);
        let (width, positions) = (e.output[1], e.positions());
        let wide = width.next_multiple_of(LANES);
        let (grads, buffer) = buffer.split_at_mut(band(e) * wide);
        grads.fill(0.0);
        let mut sums = [[0.0; LANES]; TAPS];
        for sample in 0..e.batch {
            let grad = &e.output_of(grad, sample, group)[channel * positions..][..positions];
            for (range, lines) in bands(e) {
                let grad = grad[range].chunks_exact(width);
                let count = grad.len();
                // Zeros follow each line.
                grads.chunks_exact_mut(wide).zip(grad).for_each(|(to, grad)| to[..width].copy_from_slice(grad));
                buffer[..lines.size()].fill(0.0);
                lines.fill(e.input_of(x, sample, group), buffer);
                let grads = &grads[..count * wide];
                let (groups, rest) = sums[..out.len()].as_chunks_mut::<TAPS_TOGETHER>();
                let (places, places_rest) = places.as_chunks::<TAPS_TOGETHER>();
                for (sums, places) in groups.iter_mut().zip(places) {
                    add_products(&lines, (grads, wide), buffer, places, sums);
                }
                for (sums, &place) in rest.iter_mut().zip(places_rest) {
                    add_products(&lines, (grads, wide), buffer, &[place], std::array::from_mut(sums));
                }
            }
        }
        for (out, sums) in out.iter_mut().zip(&sums) {
            *out = sums.iter().sum();
        }
    }
}

/// Adds the products of lines of gradients with what taps meet, which are summed by themselves first: the shorter a
/// chain of additions, the less it rounds.
#[inline(always)]
fn add_products<const N: usize>(
    lines: &Lines<'_>,
    (grads, wide): (&[f32], usize),
    buffer: &[f32],
    places: &[usize; N],
    sums: &mut [[f32; LANES]; N],
) {
    let mut local = [[0.0; LANES]; N];
    for (line, grads) in grads.chunks_exact(wide).enumerate() {
        let met = &buffer[lines.line(line)..];
        for (part, grad) in grads.as_chunks::<LANES>().0.iter().enumerate() {
            for tap in 0..N {
                let Some(met) = met[places[tap] + part * LANES..].first_chunk::<LANES>() else {
                    unreachable!("the buffer has room")
                };
                for lane in 0..LANES {
                    local[tap][lane] += grad[lane] * met[lane];
                }
            }
        }
    }
    for (sums, local) in sums.as_flattened_mut().iter_mut().zip(local.as_flattened()) {
        *sums += local;
    }
}
