//! `NSValue`: here only the superclass of `NSNumber`.

use crate::objc::{ClassDef, ClassKind};

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSValue",
    superclass: Some(&super::ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (10, 0),
    instance: &[],
    class: &[],
};
