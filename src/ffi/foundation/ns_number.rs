//! `NSNumber`: an integer as an object.

use crate::ffi::objc::{Retained, objc_class, objc_methods};

objc_class!(
    /// An immutable number.
    NSNumber
);

objc_methods! {
    "NSValue.h";
    impl NSNumber {
        /// The number `value`.
        class fn number(value: isize) -> Retained<NSNumber> = "numberWithInteger:", since (10, 5);
    }
}

/// That the numbers arrive is checked by everything that takes a shape.
#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::objc::autoreleasepool(|| drop(NSNumber::number(-1)));
}
