//! `NSObject`: what every object and every class answers.
//!
//! All other classes inherit these methods, those of reference counting among them. Equality and hash are those of the
//! address, unless a class has its own. `-dealloc` is refused, because only the runtime sends it, and so is allocating
//! what Apple has no class for, such as protocols.

use std::ptr;
use std::sync::LazyLock;

use super::ns_string;
use crate::objc::class::Class;
use crate::objc::define::Imp;
use crate::objc::msg_send::answer;
use crate::objc::object::{allocatable, allocate};
use crate::objc::{ClassDef, ClassId, ClassKind, Id, Sel, Strong, This, method0, method1};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSObject",
    superclass: None,
    kind: ClassKind::Class,
    min_macos: (10, 0),
    instance: &[
        method0("init", init),
        method0("retain", retain),
        method0("release", release),
        method0("autorelease", autorelease),
        method0("retainCount", retain_count),
        method0("self", itself),
        method0("class", class),
        method0("superclass", superclass),
        method1("isKindOfClass:", is_kind_of_class),
        method1("isMemberOfClass:", is_member_of_class),
        method1("respondsToSelector:", responds_to_selector),
        method1("isEqual:", is_equal),
        method0("hash", hash),
        method0("description", description),
        method0("dealloc", dealloc),
    ],
    class: &[
        method0("alloc", alloc),
        method0("new", new),
        method0("class", class_of_class),
        method0("superclass", superclass_of_class),
        method1("isSubclassOfClass:", is_subclass_of_class),
        method1("instancesRespondToSelector:", instances_respond_to_selector),
        method0("description", description),
    ],
};

/// The function that answers one of `NSObject`'s messages. It has the type of `NSObject`'s own method, because no class
/// is registered that overrides a method with one of another type.
pub(super) fn method_of(object: &Strong, cmd: Sel) -> Imp {
    let class = object.id().class().expect("an object to send a message to, not nil");
    let is_ours = class.ancestry().any(|class| ptr::eq(class.info.def, &CLASS));
    assert!(is_ours, "{} does not inherit from NSObject", class.name());
    answer(object.id(), cmd)
}

/// The class that a class object is.
fn as_class(this: This<'_>) -> &'static Class {
    assert!(this.id().is_class(), "a class method answers classes only");
    // SAFETY: it is a class, as was just asserted.
    unsafe { ClassId::from_ptr(this.id().as_ptr()) }.class().expect("a method's receiver is not nil")
}

fn class_of(this: This<'_>) -> &'static Class {
    this.id().class().expect("a method's receiver is not nil")
}

fn allocated(this: This<'_>, cmd: Sel) -> Strong {
    let class = as_class(this);
    if !allocatable(class) {
        violation!(this, cmd, "Apple has no class of this name to allocate");
    }
    allocate(class)
}

extern "C-unwind" fn alloc(this: This<'_>, cmd: Sel) -> Id {
    allocated(this, cmd).into_owned()
}

extern "C-unwind" fn new(this: This<'_>, cmd: Sel) -> Id {
    static INIT: LazyLock<Sel> = LazyLock::new(|| Sel::named("init"));
    let object = allocated(this, cmd);
    let imp = method_of(&object, *INIT);
    // SAFETY: an `init` has the type that NSObject's has, and the object is new and so alive.
    let init: extern "C-unwind" fn(Id, Sel) -> Id = unsafe { std::mem::transmute(imp) };
    init(object.into_owned(), *INIT)
}

extern "C-unwind" fn init(this: This<'_>, _cmd: Sel) -> Id {
    this.id()
}

extern "C-unwind" fn retain(this: This<'_>, _cmd: Sel) -> Id {
    Strong::clone(&this).into_owned()
}

extern "C-unwind" fn release(this: This<'_>, _cmd: Sel) {
    // SAFETY: the sender gives up a reference that it owns, as the message says, and `this` is not used again.
    unsafe { this.id().release() };
}

extern "C-unwind" fn autorelease(this: This<'_>, _cmd: Sel) -> Id {
    // SAFETY: the sender gives away a reference that it owns, as the message says.
    unsafe { this.id().autorelease() }
}

extern "C-unwind" fn retain_count(this: This<'_>, _cmd: Sel) -> usize {
    this.id().retain_count()
}

extern "C-unwind" fn itself(this: This<'_>, _cmd: Sel) -> Id {
    this.id()
}

extern "C-unwind" fn class(this: This<'_>, _cmd: Sel) -> ClassId {
    ClassId::of(class_of(this))
}

extern "C-unwind" fn superclass(this: This<'_>, _cmd: Sel) -> ClassId {
    class_of(this).info.superclass.map_or(ClassId::NIL, ClassId::of)
}

extern "C-unwind" fn is_kind_of_class(this: This<'_>, _cmd: Sel, other: ClassId) -> bool {
    other.class().is_some_and(|other| class_of(this).descends_from(other))
}

extern "C-unwind" fn is_member_of_class(this: This<'_>, _cmd: Sel, other: ClassId) -> bool {
    other.class().is_some_and(|other| std::ptr::eq(class_of(this), other))
}

extern "C-unwind" fn responds_to_selector(this: This<'_>, _cmd: Sel, selector: Sel) -> bool {
    class_of(this).lookup(selector).is_some()
}

extern "C-unwind" fn is_equal(this: This<'_>, _cmd: Sel, other: Id) -> bool {
    this.id() == other
}

extern "C-unwind" fn hash(this: This<'_>, _cmd: Sel) -> usize {
    this.id().as_ptr().addr()
}

extern "C-unwind" fn description(this: This<'_>, _cmd: Sel) -> Id {
    let id = this.id();
    if id.is_class() {
        return ns_string::string(id.class_name());
    }
    ns_string::string(&format!("<{}: {:p}>", id.class_name(), id.as_ptr()))
}

extern "C-unwind" fn dealloc(this: This<'_>, cmd: Sel) {
    violation!(this, cmd, "only the runtime deallocates, when the last reference is released")
}

extern "C-unwind" fn class_of_class(this: This<'_>, _cmd: Sel) -> ClassId {
    ClassId::of(as_class(this))
}

extern "C-unwind" fn superclass_of_class(this: This<'_>, _cmd: Sel) -> ClassId {
    as_class(this).info.superclass.map_or(ClassId::NIL, ClassId::of)
}

extern "C-unwind" fn is_subclass_of_class(this: This<'_>, _cmd: Sel, other: ClassId) -> bool {
    other.class().is_some_and(|other| as_class(this).descends_from(other))
}

extern "C-unwind" fn instances_respond_to_selector(this: This<'_>, _cmd: Sel, selector: Sel) -> bool {
    as_class(this).lookup(selector).is_some()
}
