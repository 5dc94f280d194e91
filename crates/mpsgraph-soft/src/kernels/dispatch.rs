//! From an element type at run time to a type parameter.

/// Evaluates an expression with a type parameter bound to the Rust type of a `DType`: `dispatch!(dtype, T => …)`.
/// Bool is `u8`. `dispatch!(float dtype, T => …)` takes the three floats alone; `dispatch!(bits dtype, T => …)` takes
/// unsigned integers for signed ones, for what does not depend on the sign.
macro_rules! dispatch {
    (float $dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            $crate::ir::DType::F32 => {
                type $t = f32;
                $body
            }
            $crate::ir::DType::F16 => {
                type $t = half::f16;
                $body
            }
            $crate::ir::DType::BF16 => {
                type $t = half::bf16;
                $body
            }
            dtype @ ($crate::ir::DType::I8
            | $crate::ir::DType::I16
            | $crate::ir::DType::I32
            | $crate::ir::DType::I64
            | $crate::ir::DType::U8
            | $crate::ir::DType::U16
            | $crate::ir::DType::U32
            | $crate::ir::DType::U64
            | $crate::ir::DType::Bool) => unreachable!("{dtype:?} reached a kernel for floats"),
        }
    };
    (bits $dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            $crate::ir::DType::F32 => {
                type $t = f32;
                $body
            }
            $crate::ir::DType::F16 => {
                type $t = half::f16;
                $body
            }
            $crate::ir::DType::BF16 => {
                type $t = half::bf16;
                $body
            }
            $crate::ir::DType::I8 | $crate::ir::DType::U8 | $crate::ir::DType::Bool => {
                type $t = u8;
                $body
            }
            $crate::ir::DType::I16 | $crate::ir::DType::U16 => {
                type $t = u16;
                $body
            }
            $crate::ir::DType::I32 | $crate::ir::DType::U32 => {
                type $t = u32;
                $body
            }
            $crate::ir::DType::I64 | $crate::ir::DType::U64 => {
                type $t = u64;
                $body
            }
        }
    };
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            $crate::ir::DType::F32 => {
                type $t = f32;
                $body
            }
            $crate::ir::DType::F16 => {
                type $t = half::f16;
                $body
            }
            $crate::ir::DType::BF16 => {
                type $t = half::bf16;
                $body
            }
            $crate::ir::DType::I8 => {
                type $t = i8;
                $body
            }
            $crate::ir::DType::I16 => {
                type $t = i16;
                $body
            }
            $crate::ir::DType::I32 => {
                type $t = i32;
                $body
            }
            $crate::ir::DType::I64 => {
                type $t = i64;
                $body
            }
            $crate::ir::DType::U8 | $crate::ir::DType::Bool => {
                type $t = u8;
                $body
            }
            $crate::ir::DType::U16 => {
                type $t = u16;
                $body
            }
            $crate::ir::DType::U32 => {
                type $t = u32;
                $body
            }
            $crate::ir::DType::U64 => {
                type $t = u64;
                $body
            }
        }
    };
}
pub(crate) use dispatch;
