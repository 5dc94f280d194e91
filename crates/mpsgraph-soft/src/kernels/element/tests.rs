//! Conversions of 16-bit floats against `half`, and the arithmetic of integers.

use super::*;

#[test]
fn f16_converts_like_half() {
    for bits in 0..=u16::MAX {
        let (ours, theirs) = (Float::to_f32(f16::from_bits(bits)), f16::from_bits(bits).to_f32());
        assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "{bits:#x}");
    }
}

#[test]
fn bf16_converts_like_half() {
    for bits in 0..=u16::MAX {
        let (ours, theirs) = (Float::to_f32(bf16::from_bits(bits)), bf16::from_bits(bits).to_f32());
        assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "{bits:#x}");
    }
}

#[test]
fn f32_rounds_like_half() {
    // A stride prime to 2^32 visits every exponent and sign many times; the offsets visit halves and neighbours.
    let strided = (0..1u32 << 20).map(|i| i.wrapping_mul(2_654_435_769));
    let halves = (0..=u16::MAX).flat_map(|h| (0..3).map(move |o| ((u32::from(h) << 16) | 0x8000) + o - 1));
    let f16_halves = (0..0x8000u32).flat_map(|h| (0..3).map(move |o| (h << 13) + (100 << 23) + 0x1000 + o - 1));
    for bits in strided.chain(halves).chain(f16_halves) {
        let x = f32::from_bits(bits);
        let (ours, theirs) = (<f16 as Float>::from_f32(x), f16::from_f32(x));
        assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "f16 {bits:#x}");
        let (ours, theirs) = (<bf16 as Float>::from_f32(x), bf16::from_f32(x));
        assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "bf16 {bits:#x}");
    }
}

#[test]
fn integers_wrap_and_divide_by_zero_to_zero() {
    assert_eq!(i8::MAX.add(1), i8::MIN);
    assert_eq!(Element::div(i32::MIN, -1), i32::MIN);
    assert_eq!(Element::div(7u16, 0), 0);
}
