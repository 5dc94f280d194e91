//! `NSArray`: an immutable list of objects.

use super::{equality, ns_string};
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, method0, method1, method2, new_object};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSArray",
    superclass: "NSObject",
    kind: ClassKind::Class,
    min_macos: (10, 0),
    instance: &[
        method2("initWithObjects:count:", init_with_objects),
        method0("count", count),
        method1("objectAtIndex:", object_at_index),
        method1("objectAtIndexedSubscript:", object_at_index).since(10, 8),
        method1("isEqualToArray:", is_equal_to_array),
        method1("isEqual:", is_equal),
        method0("hash", count),
        method0("description", description),
    ],
    class: &[
        method0("array", empty),
        method1("arrayWithObject:", array_with_object),
        method2("arrayWithObjects:count:", array_with_objects),
    ],
};

struct Items(Box<[Strong]>);

/// A new array that retains its items, autoreleased.
pub fn array(items: impl IntoIterator<Item = Id>) -> Id {
    new_object("NSArray", Items(items.into_iter().map(Strong::retain).collect())).autorelease()
}

/// The items of an array; panics when `id` is nil or not an array.
pub fn items(id: Id) -> Vec<Id> {
    iter(id).collect()
}

/// The items of an array, without a copy; panics as [`items`] does.
pub fn iter(id: Id) -> impl ExactSizeIterator<Item = Id> {
    id.state::<Items>().0.iter().map(Strong::id)
}

/// Retains `count` objects that stand side by side in memory.
///
/// # Safety
/// `objects` is valid for `count` reads, or `count` is 0.
pub(super) unsafe fn retained(this: Id, cmd: Sel, objects: *const Id, count: usize) -> Box<[Strong]> {
    if count > 0 && objects.is_null() {
        violation!(this, cmd, "the list of {count} objects is null");
    }
    let retain = |at: usize| {
        // SAFETY: `at` is below `count`, for which the caller vouches.
        let object = unsafe { objects.add(at).read() };
        if object.is_nil() {
            violation!(this, cmd, "object {at} of {count} is nil");
        }
        Strong::retain(object)
    };
    (0..count).map(retain).collect()
}

extern "C-unwind" fn empty(_this: Id, _cmd: Sel) -> Id {
    array([])
}

extern "C-unwind" fn array_with_object(this: Id, cmd: Sel, object: Id) -> Id {
    if object.is_nil() {
        violation!(this, cmd, "the object is nil");
    }
    array([object])
}

extern "C-unwind" fn array_with_objects(this: Id, cmd: Sel, objects: *const Id, count: usize) -> Id {
    // SAFETY: the sender passes a list of `count` objects, as the method's contract says.
    let items = unsafe { retained(this, cmd, objects, count) };
    new_object("NSArray", Items(items)).autorelease()
}

extern "C-unwind" fn init_with_objects(this: Id, cmd: Sel, objects: *const Id, count: usize) -> Id {
    // SAFETY: the sender passes a list of `count` objects, as the method's contract says.
    this.set_state(Items(unsafe { retained(this, cmd, objects, count) }));
    this
}

extern "C-unwind" fn count(this: Id, _cmd: Sel) -> usize {
    this.state::<Items>().0.len()
}

extern "C-unwind" fn object_at_index(this: Id, cmd: Sel, index: usize) -> Id {
    let items = &this.state::<Items>().0;
    match items.get(index) {
        Some(item) => item.id(),
        None => violation!(this, cmd, "index {index} is beyond the end of {} objects", items.len()),
    }
}

extern "C-unwind" fn is_equal_to_array(this: Id, _cmd: Sel, other: Id) -> bool {
    let (items, Some(Items(others))) = (&this.state::<Items>().0, other.try_state::<Items>()) else {
        return false;
    };
    items.len() == others.len() && items.iter().zip(others).all(|(a, b)| equality::equal(a.id(), b.id()))
}

extern "C-unwind" fn is_equal(this: Id, cmd: Sel, other: Id) -> bool {
    is_equal_to_array(this, cmd, other)
}

extern "C-unwind" fn description(this: Id, _cmd: Sel) -> Id {
    let items: Vec<&str> = iter(this).map(|item| ns_string::as_str(ns_string::description_of(item))).collect();
    ns_string::string(&format!("({})", items.join(", ")))
}
