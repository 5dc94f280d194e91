//! `NSString`: names, error texts and paths.

use std::ffi::{CStr, CString, c_char};

use crate::ffi::objc::{Retained, objc_class, objc_methods};

objc_class!(
    /// An immutable text.
    NSString
);

objc_methods! {
    "NSString.h";
    impl NSString {
        unsafe_class fn with_utf8_string(text: *const c_char) -> Option<Retained<NSString>> = "stringWithUTF8String:",
            since (10, 0);

        // Valid while the string and the innermost autorelease pool live.
        instance fn utf8_string() -> *const c_char = "UTF8String", since (10, 0);
    }
}

impl NSString {
    /// A string of this text; `None` if it has a NUL.
    pub(crate) fn of(text: &str) -> Option<Retained<Self>> {
        let text = CString::new(text).ok()?;
        // SAFETY: the pointer is to a NUL-terminated text, which Foundation copies.
        unsafe { Self::with_utf8_string(text.as_ptr()) }
    }

    /// A copy of the text.
    pub(crate) fn to_text(&self) -> String {
        let text = self.utf8_string();
        if text.is_null() {
            return String::new();
        }
        // SAFETY: Foundation returns a NUL-terminated string that outlives this call, as self is borrowed.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::autoreleasepool(|| {
        assert_eq!(NSString::of("größer").map(|text| text.to_text()).as_deref(), Some("größer"));
        assert!(NSString::of("\0").is_none());
    });
}
