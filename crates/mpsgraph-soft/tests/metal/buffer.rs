//! `MTLBuffer`.

use std::ffi::{c_char, c_void};

use mpsgraph_soft::metal::{counters, fault};
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::*;
use crate::support::{Assumed, Documented, Probed, Reported};

const PAGE: usize = 16 * 1024;

#[test]
fn new_buffers_are_zeroed_pages() {
    let _test = plain();
    let device = device();
    let before = counters::snapshot();
    for length in [1, 4, PAGE, PAGE + 1, 5_000_000] {
        let buffer = buffer(length);
        assert_eq!(msg!(buffer.id(), "length"; usize), length);
        assert_eq!(msg!(buffer.id(), "allocatedSize"; usize), length.next_multiple_of(PAGE));
        let bytes = contents::<u8>(&buffer);
        assert!(bytes.as_ptr().addr().is_multiple_of(PAGE));
        assert!(bytes.iter().all(|&byte| byte == 0));
        bytes.fill(0xff);
        let live = before.bytes_live + length.next_multiple_of(PAGE) as u64;
        assert_eq!(msg!(device.id(), "currentAllocatedSize"; usize) as u64, live);
        assert_eq!(counters::snapshot().buffers_live, before.buffers_live + 1);
    }
    let after = counters::snapshot();
    assert_eq!((after.bytes_live, after.buffers_live), (before.bytes_live, before.buffers_live));
    assert_eq!(after.buffers_made, before.buffers_made + 5);
    assert!(after.bytes_peak >= before.bytes_live + 5_000_000);
}

#[test]
fn a_buffer_with_bytes_has_a_copy() {
    let _test = plain();
    let mut source = [1.5f32, -2.0, 3.0];
    let bytes: *const c_void = source.as_ptr().cast();
    let made = msg!(
        device().id(), "newBufferWithBytes:length:options:",
        bytes => *const c_void, 12 => usize, 0x100 => usize; Id
    );
    let made = owned(made);
    source.fill(0.0);
    assert_eq!(contents::<f32>(&made), [1.5, -2.0, 3.0]);
    assert_eq!(msg!(made.id(), "resourceOptions"; usize), 0x100);
    assert_eq!(msg!(made.id(), "device"; Id), device().id());
}

/// A buffer of this length and these options, nil if it cannot be had.
fn asked_for(length: usize, options: usize) -> Strong {
    owned(msg!(device().id(), "newBufferWithLength:options:", length => usize, options => usize; Id))
}

#[test]
fn a_buffer_without_bytes_is_nil() {
    let _test = rule(Probed("ml-explore/mlx mlx/backend/metal/allocator.cpp; kern0x1b/charon probes on macOS 27.0"));
    assert!(asked_for(0, 0).id().is_nil());
}

#[test]
fn a_buffer_beyond_max_buffer_length_is_nil() {
    let _test = rule(Reported("ml-explore/mlx mlx/backend/metal/allocator.cpp"));
    let largest = msg!(device().id(), "maxBufferLength"; usize);
    assert!(asked_for(largest + 1, 0).id().is_nil());
    assert!(asked_for(usize::MAX, 0).id().is_nil());
}

#[test]
fn a_buffer_is_nil_when_ordered() {
    let _test = plain();
    fault::refuse_allocation_here(2);
    assert_eq!([0; 3].map(|_| asked_for(64, 0).id().is_nil()), [false, true, false]);
}

#[test]
fn private_storage_is_out_of_reach() {
    let _test = rule(Documented("Apple's MTLBuffer.h (contents); Apple's documentation of MTLStorageMode.private"));
    let made = asked_for(64, 0x20);
    assert_eq!(msg!(made.id(), "storageMode"; usize), 2);
    assert!(msg!(made.id(), "contents"; *mut c_void).is_null());
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let _test = rule(Documented("Apple's MTLResource.h (MTLResourceOptions)"));
    for options in [0x10, 0x30, 0x40, 0x2, 0x1000] {
        let text = violation(|| asked_for(64, options));
        assert!(text.starts_with("-[MTLDevice newBufferWithLength:options:]: "), "{text}");
    }
}

#[test]
fn labels_are_kept() {
    let _test = rule(Assumed("the argument of setLabel: is declared as NSString"));
    // SAFETY: a C string.
    let class = unsafe { mpsgraph_soft::symbols::objc_getClass(c"NSString".as_ptr()) };
    // SAFETY: `Id` is a transparent pointer to an object or class, and this is a class.
    let class = unsafe { std::mem::transmute::<*mut c_void, Id>(class) };
    let weights = msg!(class, "stringWithUTF8String:", c"weights".as_ptr() => *const c_char; Id);
    let buffer = buffer(64);
    for object in [buffer.clone(), queue(), mps(&queue())] {
        assert!(msg!(object.id(), "label"; Id).is_nil());
        msg!(object.id(), "setLabel:", weights => Id; ());
        assert!(msg!(msg!(object.id(), "label"; Id), "isEqualToString:", weights => Id; bool));
        msg!(object.id(), "setLabel:", Id::NIL => Id; ());
        assert!(msg!(object.id(), "label"; Id).is_nil());
    }
    assert!(violation(|| msg!(buffer.id(), "setLabel:", buffer.id() => Id; ())).contains("not an NSString"));
}
