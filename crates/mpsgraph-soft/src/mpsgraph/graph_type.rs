//! `MPSGraphType`: the superclass of the types that tensors can have.

use crate::objc::{ClassDef, ClassKind};

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphType",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (12, 0),
    instance: &[],
    class: &[],
};
