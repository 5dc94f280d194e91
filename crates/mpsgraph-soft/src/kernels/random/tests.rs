//! Philox against its published vectors; positions, carries and the distribution of the numbers.

use super::*;

const STATE: [i32; 7] = [1, 5, 0, 0, 0, 1234, -99];

/// The four numbers of one counter value.
fn block(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    philox(counter.map(|word| [word.into(); COUNTERS]), key).map(|word| word[COUNTERS - 1] as u32)
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
fn counters_carry_into_the_upper_half() {
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
