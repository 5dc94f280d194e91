//! The C functions of the Objective-C runtime and Metal, under Apple's names, as Rust paths.
//!
//! Objects, classes and methods are `*mut c_void`, selectors and blocks `*const c_void`, so that a caller can declare
//! the same functions as extern symbols where Apple provides them. All of them panic, unwinding, on misuse.

#![expect(non_snake_case, reason = "Apple's names")]

use std::ffi::{CStr, c_char, c_void};
use std::sync::Once;

use crate::classes::CLASSES;
use crate::foundation::ns_exception;
pub use crate::metal::mtl_device::{MTLCopyAllDevices, MTLCreateSystemDefaultDevice};
use crate::objc::block::Isa;
use crate::objc::class::{Class, ClassId};
use crate::objc::method::MethodEntry;
pub use crate::objc::msg_send::objc_msgSend;
#[cfg(target_arch = "x86_64")]
pub use crate::objc::msg_send::objc_msgSend_stret;
use crate::objc::violation::{self, Preprocessor};
use crate::objc::{ClassKind, Id, Sel, autorelease, block, registry, selector};

/// The class with this name. The first call registers the list of this crate.
fn class_named(name: &str) -> Option<&'static Class> {
    static LISTED: Once = Once::new();
    LISTED.call_once(|| registry::register_all(CLASSES));
    registry::find(name)
}

/// `Class objc_getClass(const char *name)`: nil for a class that the configured macOS lacks and for the name of a
/// protocol. Any other unknown name panics: Apple returns nil for it, and messages to nil are lost without an error.
///
/// # Safety
/// `name` ends with a NUL.
///
/// The length of a text, by messages:
///
/// ```
/// use std::ffi::{c_char, c_void};
/// use mpsgraph_soft::symbols::*;
///
/// type Id = *mut c_void;
/// type Sel = *const c_void;
/// // SAFETY: the messages are sent with the methods' own types, inside an autorelease pool.
/// let length = unsafe {
///     let pool = objc_autoreleasePoolPush();
///     let make: extern "C-unwind" fn(Id, Sel, *const c_char) -> Id = std::mem::transmute(objc_msgSend as *const ());
///     let length_of: extern "C-unwind" fn(Id, Sel) -> usize = std::mem::transmute(objc_msgSend as *const ());
///     let class = objc_getClass(c"NSString".as_ptr());
///     let string = make(class, sel_registerName(c"stringWithUTF8String:".as_ptr()), c"hello".as_ptr());
///     let length = length_of(string, sel_registerName(c"length".as_ptr()));
///     objc_autoreleasePoolPop(pool);
///     length
/// };
/// assert_eq!(length, 5);
/// ```
pub unsafe extern "C-unwind" fn objc_getClass(name: *const c_char) -> *mut c_void {
    assert!(!name.is_null(), "objc_getClass: the name is null");
    // SAFETY: not null, and the caller vouches for the rest.
    let name = unsafe { CStr::from_ptr(name) };
    let class = name.to_str().ok().and_then(class_named);
    let class = class.unwrap_or_else(|| panic!("objc_getClass: there is no class {name:?}"));
    let found = class.info.available && class.info.def.kind == ClassKind::Class;
    if found { ClassId::of(class).as_ptr() } else { std::ptr::null_mut() }
}

/// `SEL sel_registerName(const char *name)`.
///
/// # Safety
/// `name` ends with a NUL.
pub unsafe extern "C-unwind" fn sel_registerName(name: *const c_char) -> *const c_void {
    assert!(!name.is_null(), "sel_registerName: the name is null");
    // SAFETY: not null, and the caller vouches for the rest.
    Sel::register(unsafe { CStr::from_ptr(name) }).as_ptr()
}

/// `const char *sel_getName(SEL sel)`.
///
/// # Safety
/// `sel` is null or a registered selector.
pub unsafe extern "C-unwind" fn sel_getName(sel: *const c_void) -> *const c_char {
    // SAFETY: the caller vouches for it.
    selector::c_name(unsafe { Sel::from_ptr(sel) })
}

/// `Class object_getClass(id object)`: nil for nil, the metaclass for a class.
///
/// # Safety
/// `object` is nil, an object or a class of this runtime.
pub unsafe extern "C-unwind" fn object_getClass(object: *mut c_void) -> *mut c_void {
    // SAFETY: the caller vouches for it.
    let id = unsafe { Id::from_ptr(object) };
    let Some(class) = id.class() else {
        return std::ptr::null_mut();
    };
    assert!(!class.dead, "object_getClass: the {} at {object:p} is deallocated", class.name());
    ClassId::of(class).as_ptr()
}

/// `const char *class_getName(Class class)`: `nil` for nil, as Apple's.
///
/// # Safety
/// `class` is nil or a class of this runtime.
pub unsafe extern "C-unwind" fn class_getName(class: *mut c_void) -> *const c_char {
    // SAFETY: the caller vouches for it.
    unsafe { ClassId::from_ptr(class) }.class().map_or(c"nil", |class| class.info.c_name).as_ptr()
}

fn method(class: Option<&'static Class>, sel: Sel) -> *mut c_void {
    let entry = class.and_then(|class| class.info.methods.get(&sel));
    entry.map_or(std::ptr::null_mut(), |entry| entry.as_ptr())
}

/// `Method class_getInstanceMethod(Class class, SEL sel)`: null when neither the class nor a superclass has it.
///
/// # Safety
/// `class` is nil or a class of this runtime, `sel` null or a registered selector.
pub unsafe extern "C-unwind" fn class_getInstanceMethod(class: *mut c_void, sel: *const c_void) -> *mut c_void {
    // SAFETY: the caller vouches for both.
    let (class, sel) = unsafe { (ClassId::from_ptr(class), Sel::from_ptr(sel)) };
    method(class.class(), sel)
}

/// `Method class_getClassMethod(Class class, SEL sel)`: null when neither the class nor a superclass has it.
///
/// # Safety
/// `class` is nil or a class of this runtime, `sel` null or a registered selector.
pub unsafe extern "C-unwind" fn class_getClassMethod(class: *mut c_void, sel: *const c_void) -> *mut c_void {
    // SAFETY: the caller vouches for both.
    let (class, sel) = unsafe { (ClassId::from_ptr(class), Sel::from_ptr(sel)) };
    method(class.as_id().class(), sel)
}

/// `BOOL class_respondsToSelector(Class class, SEL sel)`: whether instances of the class answer.
///
/// # Safety
/// `class` is nil or a class of this runtime, `sel` null or a registered selector.
pub unsafe extern "C-unwind" fn class_respondsToSelector(class: *mut c_void, sel: *const c_void) -> bool {
    // SAFETY: the caller vouches for both.
    let (class, sel) = unsafe { (ClassId::from_ptr(class), Sel::from_ptr(sel)) };
    class.class().is_some_and(|class| class.lookup(sel).is_some())
}

/// `const char *method_getTypeEncoding(Method method)`: null for null.
///
/// # Safety
/// `method` is null or comes from [`class_getInstanceMethod`] or [`class_getClassMethod`].
pub unsafe extern "C-unwind" fn method_getTypeEncoding(method: *mut c_void) -> *const c_char {
    // SAFETY: the caller vouches that it is null or an entry, and entries are never freed.
    let entry: Option<&'static MethodEntry> = unsafe { method.cast::<MethodEntry>().as_ref() };
    entry.map_or(std::ptr::null(), |entry| entry.encoding().as_ptr())
}

/// `id objc_retain(id object)`.
///
/// # Safety
/// `object` is nil, an object or a class of this runtime.
pub unsafe extern "C-unwind" fn objc_retain(object: *mut c_void) -> *mut c_void {
    // SAFETY: the caller vouches for it.
    unsafe { Id::from_ptr(object) }.retain().as_ptr()
}

/// `void objc_release(id object)`.
///
/// # Safety
/// `object` is nil, an object or a class of this runtime, and the caller owns the reference that it gives up.
pub unsafe extern "C-unwind" fn objc_release(object: *mut c_void) {
    // SAFETY: the caller vouches for it.
    unsafe { Id::from_ptr(object).release() }
}

/// `id objc_autorelease(id object)`.
///
/// # Safety
/// `object` is nil, an object or a class of this runtime, and the caller owns the reference that it gives away.
pub unsafe extern "C-unwind" fn objc_autorelease(object: *mut c_void) -> *mut c_void {
    // SAFETY: the caller vouches for it.
    unsafe { Id::from_ptr(object).autorelease() }.as_ptr()
}

/// `id objc_retainAutoreleasedReturnValue(id object)`: takes the reference back that a method has put into the pool
/// just before, as Apple's runtime does; otherwise a retain.
///
/// # Safety
/// `object` is nil, an object or a class of this runtime.
pub unsafe extern "C-unwind" fn objc_retainAutoreleasedReturnValue(object: *mut c_void) -> *mut c_void {
    // SAFETY: the caller vouches for it.
    let object = unsafe { Id::from_ptr(object) };
    if autorelease::take_back(object) { object.as_ptr() } else { object.retain().as_ptr() }
}

/// `void *objc_autoreleasePoolPush(void)`.
///
/// # Safety
/// None beyond the signature; it is unsafe because Apple's symbol is.
pub unsafe extern "C-unwind" fn objc_autoreleasePoolPush() -> *mut c_void {
    autorelease::push()
}

/// `void objc_autoreleasePoolPop(void *pool)`.
///
/// # Safety
/// `pool` comes from [`objc_autoreleasePoolPush`] on this thread.
pub unsafe extern "C-unwind" fn objc_autoreleasePoolPop(pool: *mut c_void) {
    autorelease::pop(pool);
}

/// `objc_exception_preprocessor objc_setExceptionPreprocessor(objc_exception_preprocessor fn)`: gives back the one
/// before. It is called with an `NSException` for each violation.
///
/// # Safety
/// `function` takes an object and gives one back.
pub unsafe extern "C-unwind" fn objc_setExceptionPreprocessor(function: Option<Preprocessor>) -> Option<Preprocessor> {
    violation::set_preprocessor(function, ns_exception::exception)
}

/// What blocks on the stack begin with the address of.
#[expect(non_upper_case_globals, reason = "Apple's name")]
pub static _NSConcreteStackBlock: Isa = Isa::new();

/// What blocks that are constants begin with the address of.
#[expect(non_upper_case_globals, reason = "Apple's name")]
pub static _NSConcreteGlobalBlock: Isa = Isa::new();

/// `void *_Block_copy(const void *block)`: a reference to a copy, for blocks on the stack a new one.
///
/// # Safety
/// `block` is null or a live block.
pub unsafe extern "C-unwind" fn _Block_copy(block: *const c_void) -> *mut c_void {
    // SAFETY: the caller vouches for it.
    unsafe { block::copy(block) }
}

/// `void _Block_release(const void *block)`.
///
/// # Safety
/// `block` is null or comes from [`_Block_copy`], and the caller gives up the reference that it got there.
pub unsafe extern "C-unwind" fn _Block_release(block: *const c_void) {
    // SAFETY: the caller vouches for it.
    unsafe { block::release(block) }
}
