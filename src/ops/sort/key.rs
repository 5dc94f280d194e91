//! Keys: i32 numbers in the order of the elements; different elements have different keys.

use std::ops::Range;

use burn_backend::DType;

use crate::dtype::stored;
use crate::ffi::{self, DataType};
use crate::lowering::Lowering;
use crate::lowering::axis::part;

/// A part of a key, in i32: so many low bits of it. In the highest part the bits above repeat the sign.
pub(super) struct Word {
    pub key: ffi::Tensor,
    pub bits: u32,
}

/// The words of the keys of `x`, lowest first.
pub(super) fn words(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType, shape: &[usize]) -> Vec<Word> {
    let bits = dtype.size() as u32 * 8;
    if bits < 64 {
        return vec![Word { key: of(cx, x, dtype), bits }];
    }
    let graph = cx.graph();
    let pairs = [shape, &[2]].concat();
    let halves = graph.reshape(&graph.reinterpret_cast(x, DataType::I32), &pairs);
    let half = |at: usize| {
        let half = part(graph, &halves, &pairs, shape.len(), [at, at + 1]);
        graph.reshape(&half, shape)
    };
    let high = if dtype == DType::U64 { from_unsigned(cx, &half(1)) } else { half(1) };
    vec![Word { key: half(0), bits: 32 }, Word { key: high, bits: 32 }]
}

/// The keys of elements of at most 32 bits.
pub(in crate::ops) fn of(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    match dtype {
        DType::F32 => turned(cx, &graph.reinterpret_cast(x, DataType::I32), dtype),
        DType::F16 | DType::BF16 => {
            turned(cx, &graph.cast(&graph.reinterpret_cast(x, DataType::I16), DataType::I32), dtype)
        }
        DType::I32 => x.clone(),
        DType::I16 | DType::I8 => graph.cast(x, DataType::I32),
        DType::U32 => from_unsigned(cx, &graph.reinterpret_cast(x, DataType::I32)),
        DType::U16 | DType::U8 => graph.subtraction(&graph.cast(x, DataType::I32), &half_range(cx, dtype)),
        DType::F64 | DType::Flex32 | DType::I64 | DType::U64 | DType::Bool(_) | DType::QFloat(_) => {
            unreachable!("{dtype:?} has no key of 32 bits")
        }
    }
}

/// The inverse of [`of`].
pub(in crate::ops) fn element(cx: &Lowering<'_>, key: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    match dtype {
        DType::F32 => graph.reinterpret_cast(&turned(cx, key, dtype), DataType::F32),
        DType::F16 | DType::BF16 => {
            graph.reinterpret_cast(&graph.cast(&turned(cx, key, dtype), DataType::I16), stored(dtype))
        }
        DType::I32 => key.clone(),
        DType::I16 | DType::I8 => graph.cast(key, stored(dtype)),
        DType::U32 => graph.reinterpret_cast(&from_unsigned(cx, key), DataType::U32),
        DType::U16 | DType::U8 => graph.cast(&graph.addition(key, &half_range(cx, dtype)), stored(dtype)),
        DType::F64 | DType::Flex32 | DType::I64 | DType::U64 | DType::Bool(_) | DType::QFloat(_) => {
            unreachable!("{dtype:?} has no key of 32 bits")
        }
    }
}

/// The bits `range` of the keys, fewer than 32, as a signed number in the keys' order, or in the opposite one.
pub(super) fn digit(cx: &Lowering<'_>, words: &[Word], range: Range<u32>, descending: bool) -> ffi::Tensor {
    let graph = cx.graph();
    let number = |number: u32| cx.constant(number.into(), DType::I32);
    let (at, low) = ((range.start / 32) as usize, range.start % 32);
    let Word { key, bits } = &words[at];
    let own = if low == 0 { key.clone() } else { graph.bitwise_right_shift(key, &number(low)) };
    let behind = 32 * at as u32 + bits;
    let has_sign = at + 1 == words.len() && range.end == behind;
    let bits = if range.end > behind {
        let rest = graph.bitwise_and(&own, &number((1 << (32 - low)) - 1));
        graph.bitwise_or(&rest, &graph.bitwise_left_shift(&words[at + 1].key, &number(32 - low)))
    } else {
        own
    };
    let half = 1 << (range.end - range.start - 1);
    let digit = if has_sign {
        bits
    } else {
        graph.subtraction(&graph.bitwise_and(&bits, &number(half * 2 - 1)), &number(half))
    };
    if descending { graph.bitwise_xor(&digit, &cx.constant(-1.0, DType::I32)) } else { digit }
}

/// The bits of floats, sign-extended to i32, with the bits below the sign inverted in negative numbers, so that a
/// larger magnitude is lower. It is its own inverse.
fn turned(cx: &Lowering<'_>, bits: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    let graph = cx.graph();
    let magnitude = if dtype == DType::F32 { i32::MAX } else { i16::MAX.into() };
    let negative = graph.bitwise_right_shift(bits, &cx.constant(31.0, DType::I32));
    graph.bitwise_xor(bits, &graph.bitwise_and(&negative, &cx.constant(magnitude.into(), DType::I32)))
}

/// The bits of a u32 as the i32 that is half the range below it. Its own inverse.
fn from_unsigned(cx: &Lowering<'_>, bits: &ffi::Tensor) -> ffi::Tensor {
    cx.graph().bitwise_xor(bits, &cx.constant(i32::MIN.into(), DType::I32))
}

/// Half the range of a narrow unsigned dtype.
fn half_range(cx: &Lowering<'_>, dtype: DType) -> ffi::Tensor {
    cx.constant(f64::from(1 << (dtype.size() * 8 - 1)), DType::I32)
}
