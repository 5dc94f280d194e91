//! Objective-C type encodings of the Rust types that method bodies take and return.
//!
//! The strings are clang's for 64-bit Apple systems, without the qualifiers (`r` for const) that the tables of
//! declarations leave out as well. [`Encode::FRAME_BYTES`] feeds the stack offsets in a method's encoding.

use std::ffi::c_void;

use super::{ClassId, Id, Sel};

/// A type that can be an argument or a result of a method.
///
/// # Safety
/// The type is plain data (no destructor, no lifetime) with the layout that C gives the type that `ENCODING` names:
/// senders trust the encoding when they choose the type of the call.
pub unsafe trait Encode {
    /// The type's encoding, as in `@encode`.
    const ENCODING: &'static str;
    /// Bytes that clang counts for an argument of this type: small integers widen to an `int`.
    const FRAME_BYTES: usize;
}

/// Implements [`Encode`] for a type by naming its encoding: `impl_encode!(unsafe NSRange, "{_NSRange=QQ}")`. The word
/// `unsafe` is the caller's promise of what [`Encode`] demands.
#[macro_export]
macro_rules! impl_encode {
    (unsafe $type:ty, $encoding:literal) => {
        // SAFETY: whoever writes `unsafe` before the type promises it.
        unsafe impl $crate::objc::Encode for $type {
            const ENCODING: &'static str = $encoding;
            const FRAME_BYTES: usize = {
                let size = ::core::mem::size_of::<$type>();
                if size < 4 { 4 } else { size }
            };
        }
    };
}

// SAFETY: no data.
unsafe impl Encode for () {
    const ENCODING: &'static str = "v";
    const FRAME_BYTES: usize = 0;
}

impl_encode!(unsafe Id, "@");
impl_encode!(unsafe ClassId, "#");
impl_encode!(unsafe Sel, ":");
impl_encode!(unsafe bool, "B");
impl_encode!(unsafe i8, "c");
impl_encode!(unsafe u8, "C");
impl_encode!(unsafe i16, "s");
impl_encode!(unsafe u16, "S");
impl_encode!(unsafe i32, "i");
impl_encode!(unsafe u32, "I");
impl_encode!(unsafe i64, "q");
impl_encode!(unsafe isize, "q");
impl_encode!(unsafe u64, "Q");
impl_encode!(unsafe usize, "Q");
impl_encode!(unsafe f32, "f");
impl_encode!(unsafe f64, "d");
impl_encode!(unsafe *const c_void, "^v");
impl_encode!(unsafe *mut c_void, "^v");
// `c_char` is one of these two; which one depends on the target.
impl_encode!(unsafe *const u8, "*");
impl_encode!(unsafe *const i8, "*");
impl_encode!(unsafe *const Id, "^@");
impl_encode!(unsafe *mut Id, "^@");
