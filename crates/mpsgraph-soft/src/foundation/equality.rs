//! Equality and hashes of objects, by `isEqual:` and `hash`.
//!
//! Objects of different classes are never equal among the classes of this crate, so only equal classes cost a message.

use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use super::ns_object::method_of;
use crate::objc::{Id, Sel, Strong};

static IS_EQUAL: LazyLock<Sel> = LazyLock::new(|| Sel::named("isEqual:"));
static HASH: LazyLock<Sel> = LazyLock::new(|| Sel::named("hash"));

/// Whether two objects are the same or say so.
pub(crate) fn equal(a: &Strong, b: &Strong) -> bool {
    if a == b {
        return true;
    }
    match (a.id().class(), b.id().class()) {
        (Some(one), Some(other)) if std::ptr::eq(one, other) => {
            let imp = method_of(a, *IS_EQUAL);
            // SAFETY: an `isEqual:` has the type that NSObject's has, and both objects have owners.
            let is_equal: extern "C-unwind" fn(Id, Sel, Id) -> bool = unsafe { std::mem::transmute(imp) };
            is_equal(a.id(), *IS_EQUAL, b.id())
        }
        _ => false,
    }
}

/// An object as a key of a hash map.
#[derive(Debug)]
pub(crate) struct Key(pub(crate) Strong);

/// The hash of an object, as `hash` answers it.
fn hash_of(object: &Strong) -> usize {
    let imp = method_of(object, *HASH);
    // SAFETY: a `hash` has the type that NSObject's has, and the object has an owner.
    let hash: extern "C-unwind" fn(Id, Sel) -> usize = unsafe { std::mem::transmute(imp) };
    hash(object.id(), *HASH)
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        equal(&self.0, &other.0)
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(hash_of(&self.0));
    }
}
