//! Element types that operands may have, what becomes of others on a Mac, and what older systems lack.

use std::fmt;

use crate::ir::DType;
use crate::objc::{MacOs, version};

/// Element types that an operand may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepts {
    Any,
    /// Floats and those integers for which elementwise kernels have been seen: these are a table per type, with holes.
    Arithmetic,
    /// The same without 64-bit integers.
    NoInt64,
    /// The same as [`Accepts::Arithmetic`], and bool.
    Compared,
    Floats,
    /// Integers of [`Accepts::Arithmetic`], but those of 64 bits.
    Bits,
    /// Element types that reductions to a number of the operand's type are known to take.
    Reduced,
    /// The floats among those.
    ReducedFloats,
    /// Element types that sorts are known to take.
    Sorted,
    /// Element types that reductions to a truth value are known to take.
    Truths,
}

impl Accepts {
    /// Whether this type is accepted.
    pub fn has(self, dtype: DType) -> bool {
        match self {
            Accepts::Any => true,
            Accepts::Arithmetic => dtype != DType::Bool && Accepts::Compared.has(dtype),
            Accepts::NoInt64 => Accepts::Arithmetic.has(dtype) && dtype != DType::I64,
            Accepts::Compared => !matches!(dtype, DType::U16 | DType::U32 | DType::U64),
            Accepts::Floats => dtype.is_float(),
            Accepts::Bits => Accepts::NoInt64.has(dtype) && dtype.is_int(),
            Accepts::Reduced => Accepts::ReducedFloats.has(dtype) || matches!(dtype, DType::I32 | DType::I64),
            Accepts::ReducedFloats => matches!(dtype, DType::F32 | DType::F16),
            Accepts::Sorted => Accepts::Reduced.has(dtype),
            Accepts::Truths => Accepts::Reduced.has(dtype) || dtype == DType::U8,
        }
    }

    /// Why the others are not accepted.
    pub fn why(self) -> &'static str {
        match self {
            Accepts::Any => unreachable!("every type is accepted"),
            Accepts::Arithmetic => {
                "bool is not a number: use the logical operations or cast; and no kernel has been seen for UInt16, \
                 UInt32 and UInt64, for want of which MPSGraph aborts: compute with signed integers"
            }
            Accepts::NoInt64 => {
                "there is no kernel for 64-bit integers or bool, and none has been seen for UInt16 and UInt32: \
                 MPSGraph aborts when it compiles"
            }
            Accepts::Compared => {
                "no kernel has been seen for UInt16, UInt32 and UInt64, for want of which MPSGraph aborts: compute \
                 with signed integers"
            }
            Accepts::Floats => "only floats are accepted: Apple raises an exception or aborts on others",
            Accepts::Bits => {
                "only integers are accepted: Apple's verifier aborts on others, bool included; and no kernel has been \
                 seen for UInt16, UInt32 and 64 bits: compute with Int32, 64 bits as pairs of it"
            }
            Accepts::Reduced => {
                "reductions are known to work for Float32, Float16, Int32 and Int64: cast it to one of them"
            }
            Accepts::ReducedFloats => "this is known to work for Float32 and Float16: cast it to one of them",
            Accepts::Sorted => "sorts are known to work for Float32, Float16, Int32 and Int64: cast it to one of them",
            Accepts::Truths => {
                "reductions to a truth value are known to work for Float32, Float16, Int32, Int64 and UInt8: cast it \
                 to one of them"
            }
        }
    }
}

/// Why something is missing, if it came with a system later than the one that is played.
pub(crate) fn since(system: MacOs, what: impl fmt::Display) -> Result<(), String> {
    let have = version::macos();
    if have >= system {
        return Ok(());
    }
    let ((major, minor), (have, have_minor)) = (system, have);
    Err(format!("{what} needs macOS {major}.{minor}; the configured system is {have}.{have_minor}"))
}
