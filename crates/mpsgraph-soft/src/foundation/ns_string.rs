//! `NSString`: immutable text, kept as NUL-terminated UTF-8.

use std::ffi::{CStr, CString, c_char};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use super::ns_object::method_of;
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, new_object};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSString",
    superclass: Some(&super::ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (10, 0),
    instance: &[
        method1("initWithUTF8String:", init_with_utf8_string),
        method0("UTF8String", utf8_string),
        method0("length", length),
        method1("isEqualToString:", is_equal_to_string),
        method1("isEqual:", is_equal),
        method0("hash", hash),
        method0("description", description),
    ],
    class: &[method1("stringWithUTF8String:", string_with_utf8_string)],
};

struct Text(CString);

impl Text {
    fn as_str(&self) -> &str {
        self.0.to_str().expect("checked when the string was made")
    }
}

/// A new string, autoreleased. The text ends at the first NUL.
pub fn string(text: &str) -> Id {
    owned(text).autorelease()
}

/// A new string. The text ends at the first NUL.
pub fn owned(text: &str) -> Strong {
    let end = text.find('\0').unwrap_or(text.len());
    let text = CString::new(&text[..end]).expect("cut at the first NUL");
    new_object(&CLASS, Text(text))
}

/// The text of a string; panics when `string` is nil or not a string.
pub fn as_str(string: &Strong) -> &str {
    string.state::<Text>().as_str()
}

/// What an object, which must not be nil, answers to `description`.
pub(crate) fn description_of(object: &Strong) -> Strong {
    static DESCRIPTION: LazyLock<Sel> = LazyLock::new(|| Sel::named("description"));
    let imp = method_of(object, *DESCRIPTION);
    // SAFETY: a `description` has the type that NSObject's has, and the object has an owner.
    let description: extern "C-unwind" fn(Id, Sel) -> Id = unsafe { std::mem::transmute(imp) };
    Strong::retain(description(object.id(), *DESCRIPTION))
}

/// # Safety
/// `text` is null or ends with a NUL.
unsafe fn checked(this: This<'_>, cmd: Sel, text: *const c_char) -> Text {
    if text.is_null() {
        violation!(this, cmd, "the text is null");
    }
    // SAFETY: not null, so it ends with a NUL by this function's contract.
    let text = unsafe { CStr::from_ptr(text) };
    if text.to_str().is_err() {
        violation!(this, cmd, "the text is not UTF-8: {text:?}");
    }
    Text(text.to_owned())
}

extern "C-unwind" fn string_with_utf8_string(this: This<'_>, cmd: Sel, text: *const c_char) -> Id {
    // SAFETY: the sender passes a C string, as the method's contract says.
    let text = unsafe { checked(this, cmd, text) };
    new_object(&CLASS, text).autorelease()
}

extern "C-unwind" fn init_with_utf8_string(this: This<'_>, cmd: Sel, text: *const c_char) -> Id {
    // SAFETY: the sender passes a C string, as the method's contract says.
    this.set_state(unsafe { checked(this, cmd, text) });
    this.id()
}

extern "C-unwind" fn utf8_string(this: This<'_>, _cmd: Sel) -> *const c_char {
    this.state::<Text>().0.as_ptr()
}

/// UTF-16 units, as Apple counts.
extern "C-unwind" fn length(this: This<'_>, _cmd: Sel) -> usize {
    as_str(&this).encode_utf16().count()
}

extern "C-unwind" fn is_equal_to_string(this: This<'_>, _cmd: Sel, other: Id) -> bool {
    Strong::retain(other).try_state::<Text>().is_some_and(|other| other.0 == this.state::<Text>().0)
}

extern "C-unwind" fn is_equal(this: This<'_>, cmd: Sel, other: Id) -> bool {
    is_equal_to_string(this, cmd, other)
}

extern "C-unwind" fn hash(this: This<'_>, _cmd: Sel) -> usize {
    let mut hasher = DefaultHasher::new();
    this.state::<Text>().0.hash(&mut hasher);
    hasher.finish() as usize
}

extern "C-unwind" fn description(this: This<'_>, _cmd: Sel) -> Id {
    Strong::clone(&this).autorelease()
}
