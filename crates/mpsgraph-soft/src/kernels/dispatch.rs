//! From an element type at run time to a type parameter.

/// Evaluates an expression with a type parameter bound to the Rust type of a `DType`: `dispatch!(dtype, T => …)`.
/// Bool is `u8`. `dispatch!(bits dtype, T => …)` takes unsigned integers for signed ones, for what does not depend on
/// the sign; `dispatch!(summed dtype, T => …)` likewise, of what reductions compute in; `dispatch!(compared dtype, T =>
/// …)` takes what reductions compare, and `dispatch!(flipped dtype, T => …)` that as numbers with a sign.
macro_rules! dispatch {
    // One arm for each Rust type, and what else the match needs.
    (@arms $dtype:expr, $t:ident => $body:expr, $([$($of:ident)|+] $type:ty,)+ { $($rest:tt)* }) => {
        match $dtype {
            $($($crate::ir::DType::$of)|+ => {
                type $t = $type;
                $body
            })+
            $($rest)*
        }
    };
    (compared $dtype:expr, $t:ident => $body:expr) => {
        $crate::kernels::dispatch::dispatch!(
            @arms $dtype, $t => $body, [F32] f32,
            [I8] i8, [I16] i16, [I32] i32, [I64] i64, [U8 | Bool] u8, [U16] u16, [U32] u32,
            {
                dtype @ ($crate::ir::DType::F16 | $crate::ir::DType::BF16 | $crate::ir::DType::U64) => {
                    unreachable!("methods refuse to compare {dtype:?} in reductions, or these compute in f32")
                }
            }
        )
    };
    (flipped $dtype:expr, $t:ident => $body:expr) => {
        $crate::kernels::dispatch::dispatch!(
            @arms $dtype, $t => $body, [F32] f32,
            [I8 | U8 | Bool] i8, [I16 | U16] i16, [I32 | U32] i32, [I64] i64,
            {
                dtype @ ($crate::ir::DType::F16 | $crate::ir::DType::BF16 | $crate::ir::DType::U64) => {
                    unreachable!("methods refuse positions of {dtype:?}, or these compute in f32")
                }
            }
        )
    };
    (summed $dtype:expr, $t:ident => $body:expr) => {
        $crate::kernels::dispatch::dispatch!(
            @arms $dtype, $t => $body, [F32] f32, [F16] half::f16,
            [I8 | U8 | Bool] u8, [I16 | U16] u16, [I32 | U32] u32, [I64 | U64] u64,
            {
                dtype @ $crate::ir::DType::BF16 => unreachable!("methods refuse to reduce {dtype:?}"),
            }
        )
    };
    (bits $dtype:expr, $t:ident => $body:expr) => {
        $crate::kernels::dispatch::dispatch!(
            @arms $dtype, $t => $body, [F32] f32, [F16] half::f16, [BF16] half::bf16,
            [I8 | U8 | Bool] u8, [I16 | U16] u16, [I32 | U32] u32, [I64 | U64] u64, {}
        )
    };
    ($dtype:expr, $t:ident => $body:expr) => {
        $crate::kernels::dispatch::dispatch!(
            @arms $dtype, $t => $body, [F32] f32, [F16] half::f16, [BF16] half::bf16,
            [I8] i8, [I16] i16, [I32] i32, [I64] i64, [U8 | Bool] u8, [U16] u16, [U32] u32, [U64] u64, {}
        )
    };
}
pub(crate) use dispatch;
