//! `NSNumber`: an integer, a float or a truth value.
//!
//! Readers convert as C casts do, except that a float out of an integer's range saturates instead of being undefined.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::ns_string;
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, new_object};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSNumber",
    superclass: Some(&super::ns_value::CLASS),
    kind: ClassKind::Class,
    min_macos: (10, 0),
    instance: &[
        method0("longLongValue", integer_value),
        method0("longValue", integer_value),
        method0("integerValue", integer_value).since(10, 5),
        method0("unsignedLongLongValue", unsigned_integer_value),
        method0("unsignedLongValue", unsigned_integer_value),
        method0("unsignedIntegerValue", unsigned_integer_value).since(10, 5),
        method0("intValue", int_value),
        method0("unsignedIntValue", unsigned_int_value),
        method0("boolValue", bool_value),
        method0("doubleValue", double_value),
        method0("floatValue", float_value),
        method1("isEqualToNumber:", is_equal_to_number),
        method1("isEqual:", is_equal),
        method0("hash", hash),
        method0("stringValue", string_value),
        method0("description", string_value),
    ],
    class: &[
        method1("numberWithLongLong:", number_with_integer),
        method1("numberWithLong:", number_with_integer),
        method1("numberWithInteger:", number_with_integer).since(10, 5),
        method1("numberWithUnsignedLongLong:", number_with_unsigned_integer),
        method1("numberWithUnsignedLong:", number_with_unsigned_integer),
        method1("numberWithUnsignedInteger:", number_with_unsigned_integer).since(10, 5),
        method1("numberWithInt:", number_with_int),
        method1("numberWithUnsignedInt:", number_with_unsigned_int),
        method1("numberWithBool:", number_with_bool),
        method1("numberWithDouble:", number_with_double),
        method1("numberWithFloat:", number_with_float),
    ],
};

/// Unsigned values that fit are kept as `Int`, so that equal integers are equal.
#[derive(Clone, Copy, Debug)]
enum Number {
    Int(i64),
    /// More than `i64::MAX`.
    Large(u64),
    Float(f64),
}

impl Number {
    fn unsigned(value: u64) -> Self {
        i64::try_from(value).map_or(Number::Large(value), Number::Int)
    }

    fn as_i64(self) -> i64 {
        match self {
            Number::Int(value) => value,
            Number::Large(value) => value.cast_signed(),
            Number::Float(value) => value as i64,
        }
    }

    fn as_u64(self) -> u64 {
        match self {
            Number::Int(value) => value.cast_unsigned(),
            Number::Large(value) => value,
            Number::Float(value) => value as u64,
        }
    }

    fn as_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Large(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// Equal in value: an integer also equals the float that is exactly as large.
    fn equals(self, other: Self) -> bool {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Large(a), Number::Large(b)) => a == b,
            (Number::Float(a), Number::Float(b)) => a == b,
            (Number::Int(_), Number::Large(_)) | (Number::Large(_), Number::Int(_)) => false,
            (Number::Float(float), whole) | (whole, Number::Float(float)) => {
                // Through i128, where no 64-bit integer is rounded.
                let exact = match whole {
                    Number::Int(value) => i128::from(value),
                    Number::Large(value) => i128::from(value),
                    Number::Float(_) => unreachable!("two floats are matched above"),
                };
                float.fract() == 0.0 && float as i128 == exact
            }
        }
    }
}

/// A number object, autoreleased.
pub fn number_i64(value: i64) -> Id {
    make(Number::Int(value))
}

/// Its value as an integer; panics when `number` is nil or not a number.
pub fn as_i64(number: &Strong) -> i64 {
    number.state::<Number>().as_i64()
}

/// Its value as a float; panics when `number` is nil or not a number.
pub fn as_f64(number: &Strong) -> f64 {
    number.state::<Number>().as_f64()
}

fn make(number: Number) -> Id {
    new_object(&CLASS, number).autorelease()
}

extern "C-unwind" fn number_with_integer(_this: This<'_>, _cmd: Sel, value: i64) -> Id {
    make(Number::Int(value))
}

extern "C-unwind" fn number_with_unsigned_integer(_this: This<'_>, _cmd: Sel, value: u64) -> Id {
    make(Number::unsigned(value))
}

extern "C-unwind" fn number_with_int(_this: This<'_>, _cmd: Sel, value: i32) -> Id {
    make(Number::Int(value.into()))
}

extern "C-unwind" fn number_with_unsigned_int(_this: This<'_>, _cmd: Sel, value: u32) -> Id {
    make(Number::Int(value.into()))
}

extern "C-unwind" fn number_with_bool(_this: This<'_>, _cmd: Sel, value: bool) -> Id {
    make(Number::Int(value.into()))
}

extern "C-unwind" fn number_with_double(_this: This<'_>, _cmd: Sel, value: f64) -> Id {
    make(Number::Float(value))
}

extern "C-unwind" fn number_with_float(_this: This<'_>, _cmd: Sel, value: f32) -> Id {
    make(Number::Float(value.into()))
}

extern "C-unwind" fn integer_value(this: This<'_>, _cmd: Sel) -> i64 {
    as_i64(&this)
}

extern "C-unwind" fn unsigned_integer_value(this: This<'_>, _cmd: Sel) -> u64 {
    this.state::<Number>().as_u64()
}

extern "C-unwind" fn int_value(this: This<'_>, _cmd: Sel) -> i32 {
    as_i64(&this) as i32
}

extern "C-unwind" fn unsigned_int_value(this: This<'_>, _cmd: Sel) -> u32 {
    this.state::<Number>().as_u64() as u32
}

extern "C-unwind" fn bool_value(this: This<'_>, _cmd: Sel) -> bool {
    as_f64(&this) != 0.0
}

extern "C-unwind" fn double_value(this: This<'_>, _cmd: Sel) -> f64 {
    as_f64(&this)
}

extern "C-unwind" fn float_value(this: This<'_>, _cmd: Sel) -> f32 {
    as_f64(&this) as f32
}

extern "C-unwind" fn is_equal_to_number(this: This<'_>, cmd: Sel, other: Id) -> bool {
    if other.is_nil() {
        violation!(this, cmd, "the other number is nil");
    }
    is_equal(this, cmd, other)
}

extern "C-unwind" fn is_equal(this: This<'_>, _cmd: Sel, other: Id) -> bool {
    Strong::retain(other).try_state::<Number>().is_some_and(|&other| this.state::<Number>().equals(other))
}

extern "C-unwind" fn hash(this: This<'_>, _cmd: Sel) -> usize {
    // By the float, because an integer and a float may be equal.
    let mut hasher = DefaultHasher::new();
    (as_f64(&this) + 0.0).to_bits().hash(&mut hasher);
    hasher.finish() as usize
}

extern "C-unwind" fn string_value(this: This<'_>, _cmd: Sel) -> Id {
    ns_string::string(&match *this.state::<Number>() {
        Number::Int(value) => value.to_string(),
        Number::Large(value) => value.to_string(),
        Number::Float(value) => value.to_string(),
    })
}
