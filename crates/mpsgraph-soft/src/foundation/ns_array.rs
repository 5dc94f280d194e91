//! `NSArray`: an immutable list of objects.

use smallvec::SmallVec;

use super::{equality, ns_string};
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, method2, new_object};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSArray",
    superclass: Some(&super::ns_object::CLASS),
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

/// What an array holds.
type Items = SmallVec<[Strong; 4]>;

/// A new array that retains its items.
pub fn of(items: impl IntoIterator<Item = Id, IntoIter: ExactSizeIterator>) -> Strong {
    new_object(&CLASS, items.into_iter().map(Strong::retain).collect::<Items>())
}

/// A new array that retains its items, autoreleased.
pub fn array(items: impl IntoIterator<Item = Id, IntoIter: ExactSizeIterator>) -> Id {
    of(items).autorelease()
}

/// The items of an array; panics when `array` is nil or not an array.
pub fn items(array: &Strong) -> &[Strong] {
    array.state::<Items>()
}

/// The items of an array; `None` when `array` is nil or not an array.
pub fn try_items(array: &Strong) -> Option<&[Strong]> {
    array.try_state::<Items>().map(Items::as_slice)
}

/// Retains `count` objects that stand side by side in memory.
///
/// # Safety
/// `objects` is valid for `count` reads until what this returns is dropped, or `count` is 0.
pub(super) unsafe fn retained(
    this: This<'_>,
    cmd: Sel,
    objects: *const Id,
    count: usize,
) -> impl ExactSizeIterator<Item = Strong> {
    if count > 0 && objects.is_null() {
        violation!(this, cmd, "the list of {count} objects is null");
    }
    let retain = move |at: usize| {
        // SAFETY: `at` is below `count`, for which the caller vouches.
        let object = unsafe { objects.add(at).read() };
        if object.is_nil() {
            violation!(this, cmd, "object {at} of {count} is nil");
        }
        Strong::retain(object)
    };
    (0..count).map(retain)
}

extern "C-unwind" fn empty(_this: This<'_>, _cmd: Sel) -> Id {
    array([])
}

extern "C-unwind" fn array_with_object(this: This<'_>, cmd: Sel, object: Id) -> Id {
    if object.is_nil() {
        violation!(this, cmd, "the object is nil");
    }
    array([object])
}

extern "C-unwind" fn array_with_objects(this: This<'_>, cmd: Sel, objects: *const Id, count: usize) -> Id {
    // SAFETY: the sender passes a list of `count` objects, as the method's contract says.
    let items = unsafe { retained(this, cmd, objects, count) };
    new_object(&CLASS, items.collect::<Items>()).autorelease()
}

extern "C-unwind" fn init_with_objects(this: This<'_>, cmd: Sel, objects: *const Id, count: usize) -> Id {
    // SAFETY: the sender passes a list of `count` objects, as the method's contract says.
    this.set_state(unsafe { retained(this, cmd, objects, count) }.collect::<Items>());
    this.id()
}

extern "C-unwind" fn count(this: This<'_>, _cmd: Sel) -> usize {
    items(&this).len()
}

extern "C-unwind" fn object_at_index(this: This<'_>, cmd: Sel, index: usize) -> Id {
    let items = items(&this);
    match items.get(index) {
        Some(item) => item.id(),
        None => violation!(this, cmd, "index {index} is beyond the end of {} objects", items.len()),
    }
}

extern "C-unwind" fn is_equal_to_array(this: This<'_>, _cmd: Sel, other: Id) -> bool {
    let other = Strong::retain(other);
    let (own, Some(others)) = (items(&this), try_items(&other)) else {
        return false;
    };
    own.len() == others.len() && own.iter().zip(others).all(|(a, b)| equality::equal(a, b))
}

extern "C-unwind" fn is_equal(this: This<'_>, cmd: Sel, other: Id) -> bool {
    is_equal_to_array(this, cmd, other)
}

extern "C-unwind" fn description(this: This<'_>, _cmd: Sel) -> Id {
    let descriptions: Vec<Strong> = items(&this).iter().map(ns_string::description_of).collect();
    let texts: Vec<&str> = descriptions.iter().map(ns_string::as_str).collect();
    ns_string::string(&format!("({})", texts.join(", ")))
}
