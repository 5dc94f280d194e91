//! Objective-C type encodings of the Rust types that method bodies take and return.
//!
//! The strings are clang's for 64-bit Apple systems, without the qualifiers (`r` for const) that the tables of
//! declarations leave out as well. [`Encode::FRAME_BYTES`] feeds the stack offsets in a method's encoding.

use std::ffi::c_void;

use super::{ClassId, Id, Sel};

/// A type that can be an argument or a result of a method.
pub trait Encode {
    /// The type's encoding, as in `@encode`.
    const ENCODING: &'static str;
    /// Bytes that clang counts for an argument of this type: small integers widen to an `int`.
    const FRAME_BYTES: usize;
}

/// Implements [`Encode`] for `#[repr(C)]` structs and other types by naming their encoding.
#[macro_export]
macro_rules! impl_encode {
    ($type:ty, $encoding:literal) => {
        impl $crate::objc::Encode for $type {
            const ENCODING: &'static str = $encoding;
            const FRAME_BYTES: usize = {
                let size = ::core::mem::size_of::<$type>();
                if size < 4 { 4 } else { size }
            };
        }
    };
}

impl Encode for () {
    const ENCODING: &'static str = "v";
    const FRAME_BYTES: usize = 0;
}

impl_encode!(Id, "@");
impl_encode!(ClassId, "#");
impl_encode!(Sel, ":");
impl_encode!(bool, "B");
impl_encode!(i8, "c");
impl_encode!(u8, "C");
impl_encode!(i16, "s");
impl_encode!(u16, "S");
impl_encode!(i32, "i");
impl_encode!(u32, "I");
impl_encode!(i64, "q");
impl_encode!(isize, "q");
impl_encode!(u64, "Q");
impl_encode!(usize, "Q");
impl_encode!(f32, "f");
impl_encode!(f64, "d");
impl_encode!(*const c_void, "^v");
impl_encode!(*mut c_void, "^v");
// `c_char` is one of these, which one depends on the target.
impl_encode!(*const u8, "*");
impl_encode!(*const i8, "*");
impl_encode!(*const Id, "^@");
impl_encode!(*mut Id, "^@");
