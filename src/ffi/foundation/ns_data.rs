//! `NSData`: bytes as an object, for graph constants.

use std::ffi::c_void;

use crate::ffi::objc::{Argument, Message, Object, Retained, objc_class, objc_methods};

objc_class!(
    /// An immutable run of bytes.
    NSData
);

objc_methods! {
    "NSData.h";
    impl NSData {
        unsafe_class fn with_bytes(bytes: *const c_void, length: usize) -> Retained<NSData> = "dataWithBytes:length:",
            since (10, 0);
    }
}

impl NSData {
    /// A copy of `bytes`.
    pub(crate) fn copy_of(bytes: &[u8]) -> Retained<Self> {
        // SAFETY: the pointer is valid for the slice's length; Foundation copies before it returns.
        unsafe { Self::with_bytes(bytes.as_ptr().cast(), bytes.len()) }
    }
}

/// Bytes: a data object with a copy of them.
impl Argument for &[u8] {
    type Raw = *mut Object;
    type Held = Retained<NSData>;

    fn hold(self) -> Self::Held {
        NSData::copy_of(self)
    }

    fn raw(held: &Self::Held) -> *mut Object {
        held.as_object()
    }
}

/// That the bytes arrive is checked by the constants of `MPSGraphMemoryOps.h`.
#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::objc::autoreleasepool(|| drop(NSData::copy_of(&[1, 2, 3])));
}
