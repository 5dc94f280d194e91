//! Typed views of untyped memory.

use super::*;

#[test]
fn typed_views_and_parts() {
    let mut data = [1u32, 2, 3, 4];
    // SAFETY: `data` outlives the span and its parts, and nothing else touches it meanwhile.
    let mut out = unsafe { SpanMut::of(&mut data) };
    out.slice::<u32>()[1..3].copy_from_slice(&[7, 8]);
    assert_eq!(out.slice::<u32>(), &[1, 7, 8, 4]);
    let (mut head, mut tail) = out.split_at(12);
    assert_eq!((head.slice::<u32>().len(), tail.slice::<u32>()[0]), (3, 4));
    assert_eq!(head.part(8, 4).slice::<u32>(), &[8]);
}

#[test]
#[should_panic(expected = "misaligned")]
fn misaligned_view() {
    let data = [0u64; 2];
    // SAFETY: `data` outlives the span.
    let span = unsafe { Span::of(&data) };
    let _ = span.part(1, 4).slice::<u32>();
}
