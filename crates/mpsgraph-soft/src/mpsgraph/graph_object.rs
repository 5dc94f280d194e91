//! `MPSGraphObject`: the common superclass of MPSGraph's classes.

use crate::objc::{ClassDef, ClassKind};

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphObject",
    superclass: Some(&crate::foundation::ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (14, 0),
    instance: &[],
    class: &[],
};
