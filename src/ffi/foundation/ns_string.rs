//! `NSString`: only read here, for names and error texts.

use std::ffi::{CStr, c_char};

use crate::ffi::objc::{objc_class, objc_methods};

objc_class!(
    /// An immutable text.
    NSString
);

objc_methods! {
    "NSString.h";
    impl NSString {
        // Valid while the string and the innermost autorelease pool live.
        instance fn utf8_string() -> *const c_char = "UTF8String", since (10, 0);
    }
}

impl NSString {
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
    let text = crate::ffi::autoreleasepool(|| crate::ffi::exercise::device().name_object().to_text());
    assert!(!text.is_empty());
}
