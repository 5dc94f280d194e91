//! Foundation's and Metal's objects, as the tests of graphs need them.

use std::ffi::c_void;

use mpsgraph_soft::objc::{Id, Strong};

use crate::support::{class, device, msg, owned};

pub fn array(objects: &[Id]) -> Id {
    msg!(class("NSArray"), "arrayWithObjects:count:", objects.as_ptr() => *const Id, objects.len() => usize; Id)
}

pub fn numbers(numbers: &[i64]) -> Id {
    let number = |&number: &i64| msg!(class("NSNumber"), "numberWithLongLong:", number => i64; Id);
    array(&numbers.iter().map(number).collect::<Vec<_>>())
}

pub fn dictionary(entries: &[(Id, Id)]) -> Id {
    let (keys, values): (Vec<Id>, Vec<Id>) = entries.iter().copied().unzip();
    msg!(
        class("NSDictionary"), "dictionaryWithObjects:forKeys:count:",
        values.as_ptr() => *const Id, keys.as_ptr() => *const Id, keys.len() => usize; Id
    )
}

pub fn objects(array: Id) -> Vec<Id> {
    let count = msg!(array, "count"; usize);
    (0..count).map(|at| msg!(array, "objectAtIndex:", at => usize; Id)).collect()
}

/// The extents of something that has a shape.
pub fn shape(object: Id) -> Vec<usize> {
    let extents = objects(msg!(object, "shape"; Id));
    extents.into_iter().map(|number| msg!(number, "unsignedIntegerValue"; usize)).collect()
}

pub fn data_type(object: Id) -> u32 {
    msg!(object, "dataType"; u32)
}

pub fn buffer(bytes: &[u8]) -> Strong {
    let buffer = msg!(
        device().id(), "newBufferWithBytes:length:options:",
        bytes.as_ptr().cast() => *const c_void, bytes.len() => usize, 0 => usize; Id
    );
    assert!(!buffer.is_nil());
    owned(buffer)
}

/// A copy of the first bytes of a buffer.
pub fn contents(buffer: Id, length: usize) -> Vec<u8> {
    assert!(length <= msg!(buffer, "length"; usize));
    let start = msg!(buffer, "contents"; *mut c_void);
    // SAFETY: the buffer is at least as long, and `-contents` is refused while something writes it.
    unsafe { std::slice::from_raw_parts(start.cast(), length) }.to_vec()
}
