//! What a Mac answers with an abort or with nonsense is reported by class and selector.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Mutex;

use mpsgraph_soft::foundation::ns_object;
use mpsgraph_soft::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, new_object};
use mpsgraph_soft::symbols;

use crate::runtime::messages::{Object, class, new, release, retain, send, test_class};
use crate::support::{Assumed, Documented, pooled, rule, violation};

struct Number(i32);

static MISUSED: ClassDef = ClassDef {
    name: "TestMisused",
    superclass: Some(&ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[
        method1("initWithInt:", init_with_int),
        method0("int", int),
        method1("wrongState:", wrong_state),
        method0("future", future).since(99, 0),
    ],
    class: &[method0("futureClass", future).since(99, 1), method0("onlyOfTheClass", future)],
};

static FUTURE: ClassDef = ClassDef {
    name: "TestFuture",
    superclass: Some(&ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (98, 0),
    instance: &[],
    class: &[],
};

static OLDER_HEIR: ClassDef = ClassDef {
    name: "TestOlderHeir",
    superclass: Some(&FUTURE),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[],
    class: &[],
};

static PROTOCOL: ClassDef = ClassDef {
    name: "TestProtocol",
    superclass: Some(&ns_object::CLASS),
    kind: ClassKind::ProtocolInstance,
    min_macos: (11, 0),
    instance: &[],
    class: &[],
};

extern "C-unwind" fn init_with_int(this: This<'_>, _cmd: Sel, value: i32) -> Id {
    this.set_state(Number(value));
    this.id()
}

extern "C-unwind" fn int(this: This<'_>, _cmd: Sel) -> i32 {
    this.state::<Number>().0
}

extern "C-unwind" fn wrong_state(_this: This<'_>, _cmd: Sel, other: Id) -> i32 {
    Strong::retain(other).state::<Number>().0
}

extern "C-unwind" fn future(_this: This<'_>, _cmd: Sel) -> i32 {
    7
}

fn misused() -> Object {
    send!(Object; send!(Object; test_class(&MISUSED), "alloc"), "initWithInt:", 5 => i32)
}

#[test]
fn an_unknown_selector_is_refused() {
    let _test = rule(Documented(
        "Apple's objc4 runtime: NSInvalidArgumentException, \"unrecognized selector sent to instance\"",
    ));
    let object = misused();
    assert_eq!(send!(i32; object, "int"), 5);
    let message = violation(|| send!(i32; object, "integer"));
    assert_eq!(message, "-[TestMisused integer]: unrecognized selector");
    let message = violation(|| send!(i32; test_class(&MISUSED), "integer"));
    assert_eq!(message, "+[TestMisused integer]: unrecognized selector");
    let message = violation(|| send!(i32; test_class(&MISUSED), "int"));
    assert_eq!(message, "+[TestMisused int]: unrecognized selector; an instance method has this name");
    let message = violation(|| send!(i32; object, "onlyOfTheClass"));
    assert_eq!(message, "-[TestMisused onlyOfTheClass]: unrecognized selector; a class method has this name");
    release(object);
}

#[test]
fn methods_and_classes_of_later_systems() {
    let _test = rule(Assumed("what API_AVAILABLE names a later system for is not there before"));
    let object = misused();
    let message = violation(|| send!(i32; object, "future"));
    assert!(message.starts_with("-[TestMisused future]: needs macOS 99.0; the configured system is "), "{message}");
    let message = violation(|| send!(i32; test_class(&MISUSED), "futureClass"));
    assert!(message.starts_with("+[TestMisused futureClass]: needs macOS 99.1;"), "{message}");
    assert!(!send!(bool; object, "respondsToSelector:", crate::runtime::messages::selector("future") => *const c_void));
    release(object);
    test_class(&FUTURE);
    assert!(class("TestFuture").is_null());
    let message = violation(|| new_object(&FUTURE, ()));
    assert!(message.starts_with("TestFuture needs macOS 98.0; "), "{message}");
    // As MPSGraph's classes before MPSGraphObject became a class.
    let heir = test_class(&OLDER_HEIR);
    assert_eq!(send!(Object; heir, "superclass"), class("NSObject"));
}

#[test]
fn protocols_are_not_classes() {
    let _test = rule(Assumed("objc_getClass finds classes; the class that conforms to a protocol is private"));
    let protocol = test_class(&PROTOCOL);
    assert!(class("TestProtocol").is_null());
    let message = violation(|| send!(Object; protocol, "alloc"));
    assert!(message.starts_with("+[TestProtocol alloc]: "), "{message}");
}

#[test]
fn an_unknown_class_is_refused() {
    let _test = rule(Documented("Apple's objc4 runtime: `objc_getClass` gives nil, and messages to nil are lost"));
    let message = violation(|| class("NSObjekt"));
    assert!(message.contains("there is no class \"NSObjekt\""), "{message}");
}

#[test]
fn a_message_to_a_deallocated_object_is_refused() {
    let _test = rule(Documented("Apple's NSZombieEnabled, always on"));
    let object = misused();
    release(object);
    let message = violation(|| send!(i32; object, "int"));
    assert!(message.starts_with("-[TestMisused int]: message to the deallocated object"), "{message}");
    let message = violation(|| retain(object));
    assert!(message.starts_with("-[TestMisused retain]: ") && message.contains("is deallocated"), "{message}");
}

#[test]
fn an_over_release_is_refused() {
    let _test = rule(Documented("Apple's NSZombieEnabled, always on"));
    let object = misused();
    release(object);
    // Reporting changes nothing: the same is reported again.
    for _ in 0..2 {
        let message = violation(|| release(object));
        assert!(message.starts_with("-[TestMisused release]: over-release, the object at "), "{message}");
    }
}

#[test]
fn a_deallocated_object_as_an_argument_is_refused() {
    let _test = rule(Documented("Apple's NSZombieEnabled, always on"));
    let (object, dead) = (misused(), misused());
    release(dead);
    let message = violation(|| send!(i32; object, "wrongState:", dead => Object));
    assert!(message.contains("TestMisused") && message.contains("deallocated"), "{message}");
    release(object);
}

#[test]
fn an_over_release_by_a_pool_is_refused() {
    let _test = rule(Documented("Apple's NSZombieEnabled, always on"));
    let object = misused();
    let message = violation(|| {
        pooled(|| {
            send!(Object; object, "autorelease");
            release(object);
        });
    });
    assert!(message.starts_with("-[TestMisused release]: over-release"), "{message}");
}

#[test]
fn wrong_payloads() {
    let _test = rule(Assumed("a method that meets the payload of another class is our mistake"));
    let object = misused();
    let other = new(class("NSObject"));
    let message = violation(|| send!(i32; object, "wrongState:", other => Object));
    assert!(message.contains("NSObject") && message.contains("not initialised"), "{message}");
    let message = violation(|| send!(i32; object, "wrongState:", std::ptr::null_mut() => Object));
    assert!(message.contains("nil"), "{message}");
    pooled(|| {
        let string =
            send!(Object; class("NSString"), "stringWithUTF8String:", c"x".as_ptr() => *const std::ffi::c_char);
        let message = violation(|| send!(i32; object, "wrongState:", string => Object));
        assert!(message.contains("NSString") && message.contains("Number"), "{message}");
    });
    let message = violation(|| send!(Object; object, "initWithInt:", 6 => i32));
    assert!(message.contains("TestMisused") && message.contains("initialised before"), "{message}");
    let message = violation(|| send!((); object, "dealloc"));
    assert!(message.starts_with("-[TestMisused dealloc]: "), "{message}");
    release(other);
    release(object);
}

#[test]
fn receivers_that_are_no_objects() {
    let _test = rule(Assumed("a message to what is not an object is undefined, so it is found where that can be told"));
    let message = violation(|| send!(i32; std::ptr::without_provenance_mut(0xb7), "int"));
    assert!(message.contains("`int`") && message.contains("0xb7"), "{message}");
}

static SHOWN: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "C-unwind" fn note(exception: *mut c_void) -> *mut c_void {
    let text = |string: Object| {
        let characters = send!(*const c_char; string, "UTF8String");
        // SAFETY: a C string that lives as long as the exception.
        unsafe { CStr::from_ptr(characters) }.to_str().unwrap().to_owned()
    };
    let (name, reason) = (send!(Object; exception, "name"), send!(Object; exception, "reason"));
    SHOWN.lock().unwrap().push(format!("{}: {}", text(name), text(reason)));
    // A violation of the preprocessor itself is not shown to it.
    let again = std::panic::catch_unwind(|| send!(i32; class("TestMisused"), "noSuchMethod"));
    assert!(again.is_err());
    exception
}

#[test]
fn the_exception_preprocessor_sees_what_is_raised() {
    let _test = rule(Documented("Apple's objc-exception.h"));
    test_class(&MISUSED);
    // SAFETY: the function takes an object and gives it back.
    let before = unsafe { symbols::objc_setExceptionPreprocessor(Some(note)) };
    assert!(before.is_none());
    let said = violation(|| send!(i32; class("TestMisused"), "int"));
    // SAFETY: none is no function.
    let mine = unsafe { symbols::objc_setExceptionPreprocessor(None) };
    assert!(mine.is_some());
    violation(|| send!(i32; class("TestMisused"), "int"));
    assert_eq!(*SHOWN.lock().unwrap(), [format!("NSInternalInconsistencyException: {said}")]);
}
