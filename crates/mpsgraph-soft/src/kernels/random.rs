//! Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//!
//! A generator's state is seven words: word 0 is 1 and carried along; words 1 to 4 are the 128-bit counter, lowest
//! word first; words 5 and 6 are the key. `randomPhiloxStateTensorWithCounterLow:counterHigh:key:` takes the
//! halves of the counter and the key, lowest word first as well. Each counter value gives four numbers, so element
//! `i` comes from word `i % 4` of the counter plus `i / 4`, and drawing `n` numbers advances the counter by `n / 4`,
//! rounded up.

use super::threads::{PARALLEL_BYTES, share};
use super::vectorised::{Kernel, vectorised};
use std::ops::Range;

/// Counter values that are computed side by side.
const LANES: usize = 8;

/// The low word.
const WORD: u64 = 0xffff_ffff;

/// Ten rounds on `LANES` counters, word by word. Words are kept in 64 bits, the width of their products.
#[inline(always)]
fn philox(mut counter: [[u64; LANES]; 4], mut key: [u32; 2]) -> [[u64; LANES]; 4] {
    for _ in 0..10 {
        let [a, b, c, d] = counter;
        for lane in 0..LANES {
            let first = (a[lane] & WORD) * 0xd251_1f53;
            let second = (c[lane] & WORD) * 0xcd9e_8d57;
            counter[0][lane] = (second >> 32) ^ b[lane] ^ u64::from(key[0]);
            counter[1][lane] = second & WORD;
            counter[2][lane] = (first >> 32) ^ d[lane] ^ u64::from(key[1]);
            counter[3][lane] = first & WORD;
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
    share(size_of_val(out) > PARALLEL_BYTES, chunk, out, |at, out| {
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

impl Kernel for Uniform<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Range { start, end } = self.bounds;
        let width = end - start;
        // The sum may round up to the end.
        let highest = if end > start { end.next_down() } else { start };
        for (at, out) in self.out.chunks_mut(4 * LANES).enumerate() {
            let first = self.counter.wrapping_add((at * LANES) as u128);
            let (low, high) = (first as u64, (first >> 64) as u64);
            let lows: [u64; LANES] = std::array::from_fn(|lane| low.wrapping_add(lane as u64));
            let highs = lows.map(|own| high.wrapping_add(u64::from(own < low)));
            let words =
                [lows.map(|x| x & WORD), lows.map(|x| x >> 32), highs.map(|x| x & WORD), highs.map(|x| x >> 32)];
            let words = philox(words, self.key);
            // Converted word by word and brought into order afterwards, so that only moves are scalar.
            let numbers = words.map(|lanes| {
                lanes.map(|word| {
                    let unit = (word >> 8) as i32 as f32 * (1.0 / (1 << 24) as f32);
                    let number = start + unit * width;
                    if number > highest { highest } else { number }
                })
            });
            let numbers: [[f32; 4]; LANES] =
                std::array::from_fn(|lane| [numbers[0][lane], numbers[1][lane], numbers[2][lane], numbers[3][lane]]);
            let numbers = numbers.as_flattened();
            out.copy_from_slice(&numbers[..out.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: [i32; 7] = [1, 5, 0, 0, 0, 1234, -99];

    /// The four numbers of one counter value.
    fn block(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
        philox(counter.map(|word| [word.into(); LANES]), key).map(|word| word[LANES - 1] as u32)
    }

    #[test]
    fn published_vectors() {
        assert_eq!(block([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(block([!0; 4], [!0; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let digits_of_pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        let random = block(digits_of_pi, [0xa409_3822, 0x299f_31d0]);
        assert_eq!(random, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }

    #[test]
    fn numbers_are_words_in_order() {
        let mut out = [0.0; 70];
        uniform(&STATE, 0.0..1.0, &mut out);
        for (i, &x) in out.iter().enumerate() {
            let word = block([5 + i as u32 / 4, 0, 0, 0], [1234, -99i32 as u32])[i % 4];
            assert_eq!(x, (word >> 8) as f32 / 16_777_216.0);
        }
    }

    #[test]
    fn an_element_depends_on_its_position_alone() {
        let mut long = vec![0.0; 300_001];
        uniform(&STATE, -2.0..3.0, &mut long);
        for len in 1..=20 {
            let mut short = vec![0.0; len];
            uniform(&STATE, -2.0..3.0, &mut short);
            assert_eq!(short, long[..len]);
        }
        let (mut later, mut rest) = ([0; 7], vec![0.0; 300_001 - 200_000]);
        advance(&STATE, 200_000, &mut later);
        uniform(&later, -2.0..3.0, &mut rest);
        assert_eq!(rest, long[200_000..]);
    }

    #[test]
    fn the_counter_carries() {
        let mut out = [0; 7];
        advance(&[1, -1, -1, 7, 0, 3, 4], 5, &mut out);
        assert_eq!(out, [1, 1, 0, 8, 0, 3, 4]);
        advance(&[1, -1, -1, -1, -1, 3, 4], 1, &mut out);
        assert_eq!(out, [1, 0, 0, 0, 0, 3, 4]);
    }

    #[test]
    fn lanes_carry_into_the_upper_half() {
        let (mut out, mut later) = ([0.0; 32], [0.0; 8]);
        uniform(&[1, -3, -1, 9, 0, 3, 4], 0.0..1.0, &mut out);
        uniform(&[1, 0, 0, 10, 0, 3, 4], 0.0..1.0, &mut later);
        assert_eq!(out[12..20], later);
    }

    #[test]
    fn moments_and_range() {
        let mut out = vec![0.0; 1 << 20];
        uniform(&STATE, 0.0..1.0, &mut out);
        let n = out.len() as f64;
        let mean = out.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let variance = out.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
        let serial = out.windows(2).map(|w| (f64::from(w[0]) - mean) * (f64::from(w[1]) - mean)).sum::<f64>() / n;
        assert!((mean - 0.5).abs() < 0.001, "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 0.0005, "{variance}");
        assert!(serial.abs() < 0.0005, "{serial}");
        assert!(out.iter().all(|x| (0.0..1.0).contains(x)));
        let mut buckets = [0u32; 64];
        out.iter().for_each(|x| buckets[(x * 64.0) as usize] += 1);
        assert!(buckets.iter().all(|&count| count.abs_diff(1 << 14) < 800), "{buckets:?}");
    }

    #[test]
    fn the_end_is_never_drawn() {
        // Two representable numbers: half of the draws would round to the end.
        let bounds = 1.0..1.0f32.next_up().next_up();
        let mut out = vec![0.0; 10_000];
        uniform(&STATE, bounds.clone(), &mut out);
        assert!(out.iter().all(|x| bounds.contains(x)));
        uniform(&STATE, 3.0..3.0, &mut out);
        assert!(out.iter().all(|&x| x == 3.0));
    }
}
