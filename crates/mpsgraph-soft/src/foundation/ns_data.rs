//! `NSData`: immutable bytes, copied from those of the sender.

use std::ffi::c_void;

use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, method2, new_object};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSData",
    superclass: Some(&super::ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (10, 0),
    instance: &[
        method0("bytes", data_bytes),
        method0("length", length),
        method1("isEqualToData:", is_equal_to_data),
        method1("isEqual:", is_equal_to_data),
        method0("hash", length),
    ],
    class: &[method0("data", empty), method2("dataWithBytes:length:", data_with_bytes)],
};

/// The bytes, in words that are aligned for any element type (as Apple's are), and the number of bytes.
struct Bytes(Box<[u128]>, usize);

impl Bytes {
    fn copy(bytes: &[u8]) -> Self {
        let mut words = vec![0_u128; bytes.len().div_ceil(size_of::<u128>())].into_boxed_slice();
        bytemuck::cast_slice_mut::<u128, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self(words, bytes.len())
    }

    fn as_slice(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }
}

/// The contents; panics when `data` is nil or not data.
pub fn bytes(data: &Strong) -> &[u8] {
    data.state::<Bytes>().as_slice()
}

/// New data with a copy of the bytes, autoreleased.
pub fn data(bytes: &[u8]) -> Id {
    new_object(&CLASS, Bytes::copy(bytes)).autorelease()
}

extern "C-unwind" fn empty(_this: This<'_>, _cmd: Sel) -> Id {
    data(&[])
}

extern "C-unwind" fn data_with_bytes(this: This<'_>, cmd: Sel, bytes: *const c_void, length: usize) -> Id {
    if length == 0 {
        return data(&[]);
    }
    if bytes.is_null() {
        violation!(this, cmd, "{length} bytes are asked for, from a null pointer");
    }
    // SAFETY: not null, and the sender passes `length` readable bytes, as the method's contract says.
    data(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) })
}

extern "C-unwind" fn data_bytes(this: This<'_>, _cmd: Sel) -> *const c_void {
    bytes(&this).as_ptr().cast()
}

extern "C-unwind" fn length(this: This<'_>, _cmd: Sel) -> usize {
    bytes(&this).len()
}

extern "C-unwind" fn is_equal_to_data(this: This<'_>, _cmd: Sel, other: Id) -> bool {
    Strong::retain(other).try_state::<Bytes>().is_some_and(|other| other.as_slice() == bytes(&this))
}
