//! Equality and hashes of objects, by `isEqual:` and `hash`.
//!
//! Objects of different classes are never equal among the classes of this crate, so only equal classes cost a message.

use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use crate::objc::msg_send::answer;
use crate::objc::{Id, Sel, Strong};

static IS_EQUAL: LazyLock<Sel> = LazyLock::new(|| Sel::named("isEqual:"));
static HASH: LazyLock<Sel> = LazyLock::new(|| Sel::named("hash"));

/// Whether two objects are the same or say so.
pub(crate) fn equal(a: &Strong, b: &Strong) -> bool {
    let (a, b) = (a.id(), b.id());
    if a == b {
        return true;
    }
    match (a.class(), b.class()) {
        (Some(one), Some(other)) if std::ptr::eq(one, other) => {
            let imp = answer(a, *IS_EQUAL);
            // SAFETY: every `isEqual:` of this crate has the type that NSObject's has; both objects have owners.
            let is_equal: extern "C-unwind" fn(Id, Sel, Id) -> bool = unsafe { std::mem::transmute(imp) };
            is_equal(a, *IS_EQUAL, b)
        }
        _ => false,
    }
}

/// An object as a key of a hash map.
#[derive(Debug)]
pub(crate) struct Key(pub(crate) Strong);

/// The hash of an object, as `hash` answers it.
fn hash_of(object: &Strong) -> usize {
    let imp = answer(object.id(), *HASH);
    // SAFETY: every `hash` of this crate has the type that NSObject's has; the object has an owner.
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
