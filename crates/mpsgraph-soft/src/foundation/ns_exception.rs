//! `NSException`: a name and a reason. This runtime panics where Apple's raises one, and makes one for the
//! preprocessor.

use super::ns_string;
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method3, new_object};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSException",
    superclass: Some(&super::ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (10, 0),
    instance: &[method0("name", name), method0("reason", reason)],
    class: &[method3("exceptionWithName:reason:userInfo:", exception_with_name)],
};

struct Exception {
    name: Strong,
    reason: Strong,
}

/// The exception that tells of a violation.
pub fn exception(reason: &str) -> Strong {
    let name = ns_string::owned("NSInternalInconsistencyException");
    new_object(&CLASS, Exception { name, reason: ns_string::owned(reason) })
}

extern "C-unwind" fn exception_with_name(this: This<'_>, cmd: Sel, name: Id, reason: Id, _user_info: Id) -> Id {
    if name.is_nil() {
        violation!(this, cmd, "the name is nil");
    }
    new_object(&CLASS, Exception { name: Strong::retain(name), reason: Strong::retain(reason) }).autorelease()
}

extern "C-unwind" fn name(this: This<'_>, _: Sel) -> Id {
    this.state::<Exception>().name.id()
}

extern "C-unwind" fn reason(this: This<'_>, _: Sel) -> Id {
    this.state::<Exception>().reason.id()
}
