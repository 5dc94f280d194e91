//! Classes, methods and selectors as data.

use std::ffi::{CStr, c_char, c_void};

use mpsgraph_soft::foundation::ns_object;
use mpsgraph_soft::objc::{ClassDef, ClassKind, Id, Sel, This, method0, method1, method3, method5};
use mpsgraph_soft::symbols;

use crate::runtime::messages::{Object, class, new, release, selector, send, test_class, text};
use crate::support::{Assumed, plain, pooled, rule, violation};

static PARENT: ClassDef = ClassDef {
    name: "TestParent",
    superclass: Some(&ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[
        method0("value", one),
        method0("inherited", one),
        method1("flag:", flag),
        method3("error:bytes:text:", pointers),
        method5("a:b:c:d:e:", small),
    ],
    class: &[method0("shared", one), method0("made", one)],
};

static HEIR: ClassDef = ClassDef {
    name: "TestHeir",
    superclass: Some(&PARENT),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[method0("value", two)],
    class: &[method0("made", two)],
};

static TWICE: ClassDef = ClassDef {
    name: "TestTwice",
    superclass: Some(&ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[method0("value", one), method0("value", two)],
    class: &[],
};

extern "C-unwind" fn one(_this: This<'_>, _cmd: Sel) -> i32 {
    1
}

extern "C-unwind" fn two(_this: This<'_>, _cmd: Sel) -> i32 {
    2
}

extern "C-unwind" fn flag(_this: This<'_>, _cmd: Sel, _flag: bool) {}

extern "C-unwind" fn pointers(_: This<'_>, _: Sel, _: *mut Id, _: *const c_void, _: *const c_char) -> *mut c_void {
    std::ptr::null_mut()
}

extern "C-unwind" fn small(_: This<'_>, _: Sel, _: u8, _: f32, _: i16, _: f64, _: Sel) -> u64 {
    0
}

fn encoding(class: Object, name: &str) -> Option<String> {
    // SAFETY: a class of the runtime and a registered selector.
    let method = unsafe { symbols::class_getInstanceMethod(class, selector(name)) };
    encoding_of(method)
}

fn class_encoding(class: Object, name: &str) -> Option<String> {
    // SAFETY: a class of the runtime and a registered selector.
    let method = unsafe { symbols::class_getClassMethod(class, selector(name)) };
    encoding_of(method)
}

fn encoding_of(method: *mut c_void) -> Option<String> {
    // SAFETY: null or a method of the runtime.
    let encoding = unsafe { symbols::method_getTypeEncoding(method) };
    if encoding.is_null() {
        return None;
    }
    // SAFETY: not null, so a C string that lives for ever.
    let text = unsafe { CStr::from_ptr(encoding) };
    Some(text.to_str().unwrap().to_owned())
}

#[test]
fn methods_are_inherited_and_overridden_on_both_sides() {
    let _test = plain();
    let (parent, heir) = (test_class(&PARENT), test_class(&HEIR));
    let object = new(heir);
    assert_eq!(send!(i32; object, "value"), 2);
    assert_eq!(send!(i32; object, "inherited"), 1);
    assert_eq!(send!(i32; heir, "made"), 2);
    assert_eq!(send!(i32; parent, "made"), 1);
    assert_eq!(send!(i32; heir, "shared"), 1);
    assert_eq!(send!(Object; heir, "superclass"), parent);
    assert_eq!(send!(Object; object, "class"), heir);
    assert!(send!(bool; object, "isKindOfClass:", parent => Object));
    assert!(!send!(bool; object, "isMemberOfClass:", parent => Object));
    assert!(send!(bool; heir, "isSubclassOfClass:", class("NSObject") => Object));
    // A class object is an instance of its metaclass, which ends in NSObject itself.
    assert!(send!(bool; heir, "isKindOfClass:", class("NSObject") => Object));
    assert!(send!(bool; heir, "respondsToSelector:", selector("shared") => *const c_void));
    assert!(!send!(bool; object, "respondsToSelector:", selector("shared") => *const c_void));
    release(object);
}

#[test]
fn encodings_are_clangs() {
    let _test = plain();
    let parent = test_class(&PARENT);
    assert_eq!(encoding(parent, "value").as_deref(), Some("i16@0:8"));
    assert_eq!(encoding(parent, "flag:").as_deref(), Some("v20@0:8B16"));
    assert_eq!(encoding(parent, "error:bytes:text:").as_deref(), Some("^v40@0:8^@16^v24*32"));
    assert_eq!(encoding(parent, "a:b:c:d:e:").as_deref(), Some("Q44@0:8C16f20s24d28:36"));
    assert_eq!(encoding(test_class(&HEIR), "inherited").as_deref(), Some("i16@0:8"));
    assert_eq!(encoding(parent, "shared"), None);
    assert_eq!(class_encoding(parent, "shared").as_deref(), Some("i16@0:8"));
    let info = class("NSProcessInfo");
    assert_eq!(encoding(info, "isOperatingSystemAtLeastVersion:").as_deref(), Some("B40@0:8{?=qqq}16"));
    assert_eq!(encoding(info, "operatingSystemVersion").as_deref(), Some("{?=qqq}16@0:8"));
    assert_eq!(class_encoding(class("NSArray"), "arrayWithObjects:count:").as_deref(), Some("@32@0:8^@16Q24"));
}

#[test]
fn names_of_classes_and_selectors() {
    let _test = plain();
    // SAFETY: classes and selectors of the runtime, or nil.
    unsafe {
        let parent = test_class(&PARENT);
        assert_eq!(CStr::from_ptr(symbols::class_getName(parent)), c"TestParent");
        assert_eq!(CStr::from_ptr(symbols::class_getName(std::ptr::null_mut())), c"nil");
        let meta = symbols::object_getClass(parent);
        assert_ne!(meta, parent);
        assert_eq!(CStr::from_ptr(symbols::class_getName(meta)), c"TestParent");
        assert!(symbols::object_getClass(std::ptr::null_mut()).is_null());
        assert!(symbols::class_respondsToSelector(parent, selector("value")));
        assert!(!symbols::class_respondsToSelector(parent, selector("shared")));
        assert!(symbols::class_respondsToSelector(meta, selector("shared")));
        assert_eq!(selector("value"), selector("value"));
        assert_ne!(selector("value"), selector("value:"));
        assert_eq!(CStr::from_ptr(symbols::sel_getName(selector("some:thing:"))), c"some:thing:");
    }
}

#[test]
fn descriptions_name_the_class() {
    let _test = plain();
    pooled(|| {
        let object = new(test_class(&PARENT));
        let description = text(send!(Object; object, "description"));
        assert_eq!(description, format!("<TestParent: {object:p}>"));
        assert_eq!(text(send!(Object; test_class(&PARENT), "description")), "TestParent");
        release(object);
    });
}

#[test]
fn a_selector_listed_twice_is_reported() {
    let _test = rule(Assumed("a class that answers one selector in two ways is our mistake"));
    let message = violation(|| test_class(&TWICE));
    assert_eq!(message, "TestTwice: value is listed twice");
}

#[test]
fn many_selectors_stay_apart() {
    let _test = plain();
    let selectors: Vec<_> = (0..2000).map(|at| selector(&format!("generated{at}:"))).collect();
    for (at, &sel) in selectors.iter().enumerate() {
        assert_eq!(sel, selector(&format!("generated{at}:")));
        // SAFETY: a registered selector.
        let name = unsafe { CStr::from_ptr(symbols::sel_getName(sel)) };
        assert_eq!(name.to_str(), Ok(format!("generated{at}:").as_str()));
    }
}
