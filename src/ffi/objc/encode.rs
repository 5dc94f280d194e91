//! Objective-C type encodings of the Rust types that cross a message send.
//!
//! The letters are clang's for 64-bit Apple targets, as `apple/methods.tsv` (the contract test's data) lists them.

use std::ffi::{c_char, c_void};

use super::{Object, Selector};

/// A type that a message may carry.
///
/// # Safety
/// `ENCODING` is what clang writes for the C type that has this type's size, alignment and way of being passed.
pub(crate) unsafe trait Encode: Copy {
    const ENCODING: &'static str;
}

/// `BOOL` as a method returns it: true is 1 on Apple's processors, where it is C's `bool`, and any number but 0 on
/// Intel's, where it is a `signed char`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Truth(pub u8);

/// Implements [`Encode`]: `impl_encode! { u32 = "I", … }`.
macro_rules! impl_encode {
    ($($ty:ty = $encoding:literal),* $(,)?) => {$(
        // SAFETY: the declaration pairs a primitive, a pointer or a `#[repr(C)]` struct with clang's encoding of
        // the C type of the same layout.
        unsafe impl $crate::ffi::objc::Encode for $ty {
            const ENCODING: &'static str = $encoding;
        }
    )*};
}
pub(crate) use impl_encode;

impl_encode! {
    () = "v",
    bool = "B",
    Truth = "B",
    i8 = "c",
    u8 = "C",
    i16 = "s",
    u16 = "S",
    i32 = "i",
    u32 = "I",
    i64 = "q",
    isize = "q",
    u64 = "Q",
    usize = "Q",
    f32 = "f",
    f64 = "d",
    *mut Object = "@",
    *const *mut Object = "^@",
    Selector = ":",
    *const c_void = "^v",
    *mut c_void = "^v",
    *const c_char = "*",
}
