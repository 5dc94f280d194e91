//! `MPSDataType`: codes of the element types, and numbers as bytes of them.
//!
//! A code holds the number of bits and flags for floats, signed integers and alternate encodings. A code that is not of
//! a type that the runtime has, or whose type the played system is too old for, is refused with the reason. Numbers
//! come as f64, as methods take them, and become the bytes of an element.

use half::{bf16, f16};

use super::accepts;
use crate::ir::DType;

/// The `MPSDataType` code of an element type.
pub const fn code(dtype: DType) -> u32 {
    const FLOAT: u32 = 0x1000_0000;
    const SIGNED: u32 = 0x2000_0000;
    const ALTERNATE: u32 = 0x8000_0000;
    match dtype {
        DType::F32 => FLOAT | 32,
        DType::F16 => FLOAT | 16,
        DType::BF16 => ALTERNATE | FLOAT | 16,
        DType::I8 => SIGNED | 8,
        DType::I16 => SIGNED | 16,
        DType::I32 => SIGNED | 32,
        DType::I64 => SIGNED | 64,
        DType::U8 => 8,
        DType::U16 => 16,
        DType::U32 => 32,
        DType::U64 => 64,
        DType::Bool => ALTERNATE | 8,
    }
}

const ALL: [DType; 12] = [
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::Bool,
];

/// The element type of an `MPSDataType` code; `None` for unknown codes and for types that are not supported here
/// (complex, normalised and sub-byte types).
pub fn from_code(wanted: u32) -> Option<DType> {
    ALL.into_iter().find(|&dtype| code(dtype) == wanted)
}

/// The element type of a code, if the system that is played has it; else why not.
pub(crate) fn available(code: u32) -> Result<DType, String> {
    let dtype = from_code(code).ok_or_else(|| format!("{code:#x} is not an MPSDataType that is supported here"))?;
    let since = match dtype {
        DType::BF16 => (14, 0),
        DType::Bool => (12, 0),
        DType::F32
        | DType::F16
        | DType::I8
        | DType::I16
        | DType::I32
        | DType::I64
        | DType::U8
        | DType::U16
        | DType::U32
        | DType::U64 => (11, 0),
    };
    accepts::since(since, format_args!("MPSDataType{}", name(dtype)))?;
    Ok(dtype)
}

/// Apple's name of the type.
pub(crate) const fn name(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "Float32",
        DType::F16 => "Float16",
        DType::BF16 => "BFloat16",
        DType::I8 => "Int8",
        DType::I16 => "Int16",
        DType::I32 => "Int32",
        DType::I64 => "Int64",
        DType::U8 => "UInt8",
        DType::U16 => "UInt16",
        DType::U32 => "UInt32",
        DType::U64 => "UInt64",
        DType::Bool => "Bool",
    }
}

/// The bytes of a number as an element, the rest zero: integers truncate and saturate, bool is `value != 0`.
pub(crate) fn bytes_of(value: f64, dtype: DType) -> [u8; 8] {
    fn padded<const N: usize>(bytes: [u8; N]) -> [u8; 8] {
        std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0))
    }
    match dtype {
        DType::F32 => padded((value as f32).to_ne_bytes()),
        DType::F16 => padded(f16::from_f64(value).to_ne_bytes()),
        DType::BF16 => padded(bf16::from_f64(value).to_ne_bytes()),
        DType::I8 => padded((value as i8).to_ne_bytes()),
        DType::I16 => padded((value as i16).to_ne_bytes()),
        DType::I32 => padded((value as i32).to_ne_bytes()),
        DType::I64 => padded((value as i64).to_ne_bytes()),
        DType::U8 => padded([value as u8]),
        DType::U16 => padded((value as u16).to_ne_bytes()),
        DType::U32 => padded((value as u32).to_ne_bytes()),
        DType::U64 => padded((value as u64).to_ne_bytes()),
        DType::Bool => padded([u8::from(value != 0.0)]),
    }
}

/// The largest 16-bit float (as bytes of an element) that is less than `bound`, which is neither NaN nor -inf.
pub(crate) fn below(bound: f32, dtype: DType) -> [u8; 8] {
    let bits = bytes_of(f64::from(bound), dtype);
    let nearest = u16::from_ne_bytes([bits[0], bits[1]]);
    let value = |bits: u16| {
        if dtype == DType::BF16 { bf16::from_bits(bits).to_f32() } else { f16::from_bits(bits).to_f32() }
    };
    let result = if value(nearest) < bound {
        nearest
    } else if value(nearest) == 0.0 {
        0x8001
    } else if nearest & 0x8000 == 0 {
        nearest - 1
    } else {
        nearest + 1
    };
    let [low, high] = result.to_ne_bytes();
    [low, high, 0, 0, 0, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_come_back() {
        for dtype in ALL {
            assert_eq!(from_code(code(dtype)), Some(dtype));
        }
        assert_eq!(code(DType::BF16), 2_415_919_120);
        assert_eq!(code(DType::Bool), 2_147_483_656);
        assert_eq!(from_code(0x1100_0040), None);
    }

    #[test]
    fn the_float_below() {
        let half = |bytes: [u8; 8]| f16::from_ne_bytes([bytes[0], bytes[1]]).to_f32();
        assert_eq!(half(below(1.0, DType::F16)), 1.0 - f32::powi(2.0, -11));
        assert_eq!(half(below(0.0, DType::F16)), -f32::powi(2.0, -24));
        assert_eq!(half(below(-1.0, DType::F16)), -1.0 - f32::powi(2.0, -10));
        assert_eq!(half(below(1.0001, DType::F16)), 1.0);
    }
}
