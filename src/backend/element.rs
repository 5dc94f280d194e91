//! The element types that `MpsGraph<F, I>` accepts.

use burn_backend::{Element, bf16, f16};

/// A default float element of the backend: `f32`, `f16` or `bf16`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the float element of `MpsGraph`",
    note = "Apple GPUs compute in f32, f16 and bf16; there are no 64-bit floats"
)]
pub trait FloatElement: Element {}

impl FloatElement for f32 {}
impl FloatElement for f16 {}
impl FloatElement for bf16 {}

/// A default integer element of the backend: a signed or unsigned integer of 8 to 64 bits.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot be the integer element of `MpsGraph`")]
pub trait IntElement: Element {}

impl IntElement for i64 {}
impl IntElement for i32 {}
impl IntElement for i16 {}
impl IntElement for i8 {}
impl IntElement for u64 {}
impl IntElement for u32 {}
impl IntElement for u16 {}
impl IntElement for u8 {}
