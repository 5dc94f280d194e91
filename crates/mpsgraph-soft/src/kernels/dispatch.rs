//! From an element type at run time to a type parameter.

/// Evaluates an expression with a type parameter bound to the Rust type of a `DType`: `dispatch!(dtype, T => …)`.
/// Bool is `u8`. `dispatch!(float dtype, T => …)` takes the three floats alone; `dispatch!(bits dtype, T => …)` takes
/// unsigned integers for signed ones, for what does not depend on the sign.
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
    (float $dtype:expr, $t:ident => $body:expr) => {
        $crate::kernels::dispatch::dispatch!(
            @arms $dtype, $t => $body, [F32] f32, [F16] half::f16, [BF16] half::bf16,
            {
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
