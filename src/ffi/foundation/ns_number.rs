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

        /// The number as an integer.
        instance fn integer_value() -> isize = "integerValue", since (10, 5);
    }
}
