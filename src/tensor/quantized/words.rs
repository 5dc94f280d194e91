//! Values of fewer than 8 bits side by side in words, on the host: eight at a time, as the bytes of one number.

use burn_backend::quantization::QuantValue;

use super::Width;
use crate::error::invalid;

/// Values that are taken at a time.
const EIGHT: usize = 8;
/// Values in a word of the narrowest ones.
const MOST: usize = 16;

/// Values of a byte each as words; the first is in the lowest bits.
pub(super) fn pack(op: &'static str, values: &[u8], width: Width, kind: QuantValue) -> Vec<i32> {
    let (words, fit) = match width {
        Width::Two => packed::<2>(values),
        Width::Four => packed::<4>(values),
    };
    if !fit {
        let bits = width.bits();
        let fits = |value: i8| value << (8 - bits) >> (8 - bits) == value;
        let mut numbered = values.iter().map(|&byte| byte.cast_signed()).enumerate();
        let wide = numbered.find(|&(_, value)| !fits(value));
        let (at, value) = wide.unwrap_or_else(|| unreachable!("one of the values does not fit {bits} bits"));
        invalid(op, format!("value {value} at {at} does not fit the {bits} bits of {kind:?}"));
    }
    words
}

/// The inverse of [`pack`] for `count` values.
pub(super) fn unpack(words: &[i32], width: Width, count: usize) -> Vec<i8> {
    match width {
        Width::Two => unpacked::<2>(words, count),
        Width::Four => unpacked::<4>(words, count),
    }
}

/// The words, and whether every value fits in so many bits.
fn packed<const BITS: usize>(values: &[u8]) -> (Vec<i32>, bool) {
    let (whole, rest) = values.split_at(values.len() / in_word(BITS) * in_word(BITS));
    let mut lost = 0;
    let mut words: Vec<i32> = whole.chunks_exact(in_word(BITS)).map(|values| word::<BITS>(values, &mut lost)).collect();
    if !rest.is_empty() {
        let mut last = [0; MOST];
        last[..rest.len()].copy_from_slice(rest);
        words.push(word::<BITS>(&last[..in_word(BITS)], &mut lost));
    }
    (words, lost == 0)
}

/// The word of as many values as it holds; bits that it does not hold go to `lost`.
fn word<const BITS: usize>(values: &[u8], lost: &mut u64) -> i32 {
    let mut word = 0;
    for (at, &eight) in values.as_chunks::<EIGHT>().0.iter().enumerate() {
        let bytes = u64::from_le_bytes(eight);
        let low = bytes & low_bits::<8>(BITS);
        *lost |= with_signs::<BITS>(low) ^ bytes;
        word |= (together::<BITS>(low) as u32) << (at * EIGHT * BITS);
    }
    word.cast_signed()
}

fn unpacked<const BITS: usize>(words: &[i32], count: usize) -> Vec<i8> {
    let mut values = vec![0; words.len() * in_word(BITS)];
    for (values, word) in values.chunks_exact_mut(in_word(BITS)).zip(words) {
        for (at, eight) in values.as_chunks_mut::<EIGHT>().0.iter_mut().enumerate() {
            let bits = u64::from(word.cast_unsigned() >> (at * EIGHT * BITS));
            *eight = with_signs::<BITS>(apart::<BITS>(bits)).to_le_bytes().map(u8::cast_signed);
        }
    }
    values.truncate(count);
    values
}

/// How many values of so many bits a word holds.
const fn in_word(bits: usize) -> usize {
    u32::BITS as usize / bits
}

/// The lowest `bits` of every `EACH` bits.
const fn low_bits<const EACH: usize>(bits: usize) -> u64 {
    u64::MAX / ((1 << EACH) - 1) * ((1 << bits) - 1)
}

/// The low bits of each byte, of which the others are 0, one behind the other: in pairs of bytes, in fours, in all.
fn together<const BITS: usize>(bytes: u64) -> u64 {
    let gap = 8 - BITS;
    let pairs = (bytes | bytes >> gap) & low_bits::<16>(2 * BITS);
    let fours = (pairs | pairs >> (2 * gap)) & low_bits::<32>(4 * BITS);
    (fours | fours >> (4 * gap)) & (u64::MAX >> (8 * gap))
}

/// The inverse of [`together`]; higher bits are ignored.
fn apart<const BITS: usize>(bits: u64) -> u64 {
    let gap = 8 - BITS;
    let fours = (bits | bits << (4 * gap)) & low_bits::<32>(4 * BITS);
    let pairs = (fours | fours << (2 * gap)) & low_bits::<16>(2 * BITS);
    (pairs | pairs << gap) & low_bits::<8>(BITS)
}

/// The low bits of each byte, of which the others are 0, with copies of their highest one above them.
fn with_signs<const BITS: usize>(bytes: u64) -> u64 {
    let signs = bytes & (low_bits::<8>(1) << (BITS - 1));
    // All places above the sign's, in its byte: 256 less twice the sign.
    bytes | (signs << (9 - BITS)).wrapping_sub(signs << 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_the_lowest_value_in_the_lowest_bits() {
        let values: Vec<u8> = [1i8, -1, 7, -8, 0, 0, 0, -2, 3].map(i8::cast_unsigned).to_vec();
        let words = pack("q", &values, Width::Four, QuantValue::Q4F);
        assert_eq!(words, [0xe000_87f1_u32.cast_signed(), 3]);
        assert_eq!(unpack(&words, Width::Four, 9), [1, -1, 7, -8, 0, 0, 0, -2, 3]);
        let words = pack("q", &[1, 0xfe, 0xff, 0], Width::Two, QuantValue::Q2F);
        assert_eq!(words, [0b0011_1001]);
        assert_eq!(unpack(&words, Width::Two, 4), [1, -2, -1, 0]);
    }

    #[test]
    fn every_count_comes_back() {
        for (width, least, several) in [(Width::Two, -2, 4), (Width::Four, -8, 16)] {
            let all: Vec<i8> = (0..100).map(|at| least + (at * 7 % several)).map(|value: i32| value as i8).collect();
            for count in 0..all.len() {
                let bytes: Vec<u8> = all[..count].iter().map(|value| value.cast_unsigned()).collect();
                let words = pack("q", &bytes, width, QuantValue::Q4F);
                assert_eq!(words.len(), width.words(count));
                assert_eq!(unpack(&words, width, count), all[..count]);
            }
        }
    }

    #[test]
    #[should_panic(expected = "q_from_data: value 8 at 9 does not fit the 4 bits of Q4S")]
    fn a_value_that_is_too_wide_is_named() {
        let mut values = [0u8; 10];
        values[9] = 8;
        let _ = pack("q_from_data", &values, Width::Four, QuantValue::Q4S);
    }
}
