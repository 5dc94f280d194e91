//! Element types that operands may have, what becomes of others on a Mac, and what older systems lack.

use std::fmt;

use crate::ir::DType;
use crate::objc::{MacOs, version};

/// Element types that an operand may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepts {
    Any,
    /// Floats and integers.
    Numbers,
    /// Floats and integers, for kernels that do not exist for 64-bit integers.
    NoInt64,
    Floats,
    Integers,
    /// What reductions to a number of the operand's type are known to take.
    Reduced,
    /// The floats among those.
    ReducedFloats,
    /// What sorts are known to take.
    Sorted,
    /// What reductions to a truth value are known to take.
    Truths,
}

impl Accepts {
    /// Whether this type is accepted.
    pub fn has(self, dtype: DType) -> bool {
        match self {
            Accepts::Any => true,
            Accepts::Numbers => dtype != DType::Bool,
            Accepts::NoInt64 => dtype.is_float() || (dtype.is_int() && dtype.size() < 8),
            Accepts::Floats => dtype.is_float(),
            Accepts::Integers => dtype.is_int(),
            Accepts::Reduced => Accepts::ReducedFloats.has(dtype) || matches!(dtype, DType::I32 | DType::I64),
            Accepts::ReducedFloats => matches!(dtype, DType::F32 | DType::F16),
            Accepts::Sorted => Accepts::Reduced.has(dtype),
            Accepts::Truths => Accepts::Reduced.has(dtype) || dtype == DType::U8,
        }
    }

    /// Why others are not.
    pub fn why(self) -> &'static str {
        match self {
            Accepts::Any => unreachable!("every type is accepted"),
            Accepts::Numbers => "bool is not a number: Apple's verifier aborts; use the logical operations or cast",
            Accepts::NoInt64 => "there is no kernel for 64-bit integers or bool: it aborts when compiled",
            Accepts::Floats => "only floats are accepted: Apple raises an exception or aborts on others",
            Accepts::Integers => "only integers are accepted: Apple's verifier aborts on others, bool included",
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
