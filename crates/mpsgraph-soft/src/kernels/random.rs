//! Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//!
//! A generator's state is seven words: word 0 is 1 and never changes; words 1 to 4 are the 128-bit counter, lowest word
//! first; words 5 and 6 are the key, lowest word first as well. Each counter value gives four numbers, so element `i`
//! comes from word `i % 4` of the counter plus `i / 4`, and drawing `n` numbers advances the counter by `n / 4`,
//! rounded up.

use super::Kernel;
use super::call::Call;
use super::threads::{MOVED, PARALLEL_BYTES, share};
use super::vectorised::{VectorLoop, vectorised};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Counter values that are computed side by side.
const COUNTERS: usize = 16;
/// Counter values whose numbers are brought into order together.
const TOGETHER: usize = 128;

/// The low word.
const WORD: u64 = 0xffff_ffff;

/// `[state (i32, 7)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Random {
    /// f32 uniform in `[min, max)`; bounds as f32 bits.
    Uniform { min: u32, max: u32 },
    /// The state after drawing `elements` numbers.
    State { elements: u64 },
}

impl Kernel for Random {
    fn run(&self, mut call: Call<'_>) {
        let state = call.inputs[0].elements();
        match *self {
            Random::Uniform { min, max } => {
                uniform(state, f32::from_bits(min)..f32::from_bits(max), call.output_elements());
            }
            Random::State { elements } => advance(state, elements, call.output_elements()),
        }
    }
}

/// Ten rounds on `COUNTERS` counters, word by word. Words are kept in 64 bits, the width of their products.
#[inline(always)]
fn philox(mut counter: [[u64; COUNTERS]; 4], mut key: [u32; 2]) -> [[u64; COUNTERS]; 4] {
    for _ in 0..10 {
        let [a, b, c, d] = counter;
        for at in 0..COUNTERS {
            let first = (a[at] & WORD) * 0xd251_1f53;
            let second = (c[at] & WORD) * 0xcd9e_8d57;
            counter[0][at] = (second >> 32) ^ b[at] ^ u64::from(key[0]);
            counter[1][at] = second & WORD;
            counter[2][at] = (first >> 32) ^ d[at] ^ u64::from(key[1]);
            counter[3][at] = first & WORD;
        }
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

/// Counter and key of a state.
fn parts(state: &[i32]) -> (u128, [u32; 2]) {
    let word = |at: usize| state[at] as u32;
    let counter = (1..=4).rev().fold(0, |counter, at| counter << 32 | u128::from(word(at)));
    (counter, [word(5), word(6)])
}

/// Fills `out` with numbers of 24 random bits, uniform in `bounds`, whose end is never drawn.
pub fn uniform(state: &[i32], bounds: Range<f32>, out: &mut [f32]) {
    assert!((bounds.end - bounds.start).is_finite(), "random: {bounds:?} is too wide for f32");
    let (counter, key) = parts(state);
    let chunk = PARALLEL_BYTES / 8;
    share(MOVED.is_met(size_of_val(out)), chunk, out, |at, out| {
        let counter = counter.wrapping_add((at * chunk / 4) as u128);
        vectorised(Uniform { counter, key, bounds: bounds.clone(), out });
    });
}

/// The state after `elements` numbers.
pub fn advance(state: &[i32], elements: u64, out: &mut [i32]) {
    let counter = parts(state).0.wrapping_add(u128::from(elements.div_ceil(4)));
    out.copy_from_slice(state);
    for (word, out) in out[1..=4].iter_mut().enumerate() {
        *out = (counter >> (32 * word)) as u32 as i32;
    }
}

struct Uniform<'a> {
    counter: u128,
    key: [u32; 2],
    bounds: Range<f32>,
    out: &'a mut [f32],
}

impl VectorLoop for Uniform<'_> {
    type Output = ();
    const WIDE: bool = true;

    #[inline(always)]
    fn run(self) {
        let Range { start, end } = self.bounds;
        let width = end - start;
        // The sum may round up to the end.
        let highest = if end > start { end.next_down() } else { start };
        let number = |word: u64| {
            let unit = (word >> 8) as i32 as f32 * (1.0 / (1 << 24) as f32);
            let number = start + unit * width;
            if number > highest { highest } else { number }
        };
        // By words first, and then in their order: each in a loop of its own, so that vectors do both.
        let mut numbers = [[0.0; TOGETHER]; 4];
        for (at, out) in self.out.chunks_mut(4 * TOGETHER).enumerate() {
            let first = self.counter.wrapping_add((at * TOGETHER) as u128);
            for place in (0..out.len().div_ceil(4)).step_by(COUNTERS) {
                let words = philox(counters(first.wrapping_add(place as u128)), self.key);
                for (numbers, words) in numbers.iter_mut().zip(words) {
                    numbers[place..place + COUNTERS].copy_from_slice(&words.map(number));
                }
            }
            let [a, b, c, d] = &numbers;
            let (whole, rest) = out.as_chunks_mut::<4>();
            let count = whole.len();
            for ((((out, &a), &b), &c), &d) in whole.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *out = [a, b, c, d];
            }
            for (out, numbers) in rest.iter_mut().zip(&numbers) {
                *out = numbers[count];
            }
        }
    }
}

/// The words of consecutive counter values.
#[inline(always)]
fn counters(first: u128) -> [[u64; COUNTERS]; 4] {
    let (low, high) = (first as u64, (first >> 64) as u64);
    let lows: [u64; COUNTERS] = std::array::from_fn(|at| low.wrapping_add(at as u64));
    let highs = lows.map(|own| high.wrapping_add(u64::from(own < low)));
    [lows.map(|x| x & WORD), lows.map(|x| x >> 32), highs.map(|x| x & WORD), highs.map(|x| x >> 32)]
}

#[cfg(test)]
mod tests;
