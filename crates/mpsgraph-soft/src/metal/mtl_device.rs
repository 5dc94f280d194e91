//! `MTLDevice`: the one device, which is this computer's CPU.
//!
//! It plays an Apple silicon GPU with unified memory. `MPSGRAPH_SOFT_GPU_FAMILY` names its newest family (`7` is M1,
//! `8` M2, `9` M3 and M4, `10` M5; `9` unless set), so code for one generation can be tested here. `discrete` is a GPU
//! of another maker with memory of its own, as in some Macs with an Intel processor, `virtual` that of a virtual Mac,
//! `hidden` one that is among all devices but not the default one, and `none` is no device.

use std::ffi::c_void;
use std::sync::LazyLock;

use super::allocation::PAGE;
use super::mtl_command_queue::{self, DEFAULT_PLACES};
use super::{counters, memory, mtl_buffer, mtl_heap};
use crate::foundation::{ns_array, ns_string};
use crate::objc::{
    ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, method2, method3, new_object, version,
};
use crate::{impl_encode, violation};

/// The class of the one device.
pub static CLASS: ClassDef = ClassDef {
    name: "MTLDevice",
    superclass: Some(&crate::foundation::ns_object::CLASS),
    kind: ClassKind::ProtocolInstance,
    min_macos: (10, 11),
    instance: &[
        method0("name", name),
        method0("registryID", registry_id),
        method0("hasUnifiedMemory", has_unified_memory),
        method0("recommendedMaxWorkingSetSize", recommended_max_working_set_size),
        method0("maxBufferLength", max_buffer_length),
        method0("currentAllocatedSize", current_allocated_size),
        method1("supportsFamily:", supports_family),
        method0("newCommandQueue", new_command_queue),
        method1("newCommandQueueWithMaxCommandBufferCount:", new_command_queue_with_max),
        method2("newBufferWithLength:options:", new_buffer_with_length),
        method3("newBufferWithBytes:length:options:", new_buffer_with_bytes),
        method2("heapBufferSizeAndAlignWithLength:options:", heap_buffer_size_and_align),
        method1("newHeapWithDescriptor:", new_heap_with_descriptor),
    ],
    class: &[],
};

/// The default device, owned by the caller (+1). Always the same object.
///
/// # Safety
/// None of its own; it is unsafe as every function that Apple exports is to its callers.
#[allow(non_snake_case, reason = "Apple's name")]
pub unsafe extern "C-unwind" fn MTLCreateSystemDefaultDevice() -> *mut c_void {
    match played() {
        Played { family: Some(_), is_default: true } => Strong::retain(shared()).into_owned().as_ptr(),
        Played { .. } => std::ptr::null_mut(),
    }
}

/// An `NSArray` of all devices, owned by the caller (+1): the one, if there is one.
///
/// # Safety
/// As for [`MTLCreateSystemDefaultDevice`].
#[allow(non_snake_case, reason = "Apple's name")]
pub unsafe extern "C-unwind" fn MTLCopyAllDevices() -> *mut c_void {
    ns_array::of(played().family.map(|_| shared())).into_owned().as_ptr()
}

/// The device, borrowed; it lives as long as the process.
pub fn shared() -> Id {
    static DEVICE: LazyLock<Strong> = LazyLock::new(|| new_object(&CLASS, Device));
    DEVICE.id()
}

/// Number of the newest `MTLGPUFamilyApple…` that the device belongs to; [`DISCRETE`] if to none.
pub fn apple_family() -> i64 {
    played().family.expect("asked of a device, so there is one")
}

/// The family of M3.
const USUAL: i64 = 9;
/// In place of a family: a GPU with memory of its own, which is of no family of Apple's.
const DISCRETE: i64 = 0;
/// The family of the GPU that a virtual Mac shows (JuliaGPU/Metal.jl#309).
const VIRTUAL: i64 = 5;

/// The GPU that is played.
#[derive(Clone, Copy)]
struct Played {
    /// `None` for a system without one, such as some virtual Macs.
    family: Option<i64>,
    /// Whether it is the default device. Processes without a window have been told of none although there is a GPU
    /// (huggingface/candle#3449).
    is_default: bool,
}

/// What `MPSGRAPH_SOFT_GPU_FAMILY` says.
fn played() -> Played {
    static PLAYED: LazyLock<Played> = LazyLock::new(|| {
        let usual = Played { family: Some(USUAL), is_default: true };
        let Ok(text) = std::env::var("MPSGRAPH_SOFT_GPU_FAMILY") else {
            return usual;
        };
        match (text.trim(), text.trim().parse()) {
            ("", _) => usual,
            ("none", _) => Played { family: None, ..usual },
            ("discrete", _) => Played { family: Some(DISCRETE), ..usual },
            ("virtual", _) => Played { family: Some(VIRTUAL), ..usual },
            ("hidden", _) => Played { is_default: false, ..usual },
            (_, Ok(family @ 7..=10)) => Played { family: Some(family), ..usual },
            _ => panic!(
                "MPSGRAPH_SOFT_GPU_FAMILY is `{text}`; expected 7 (M1) to 10 (M5), discrete, virtual, hidden, or none"
            ),
        }
    });
    *PLAYED
}

/// Largest `length` of a buffer: half the memory that the process may use, whole pages.
pub fn max_length() -> usize {
    memory::bytes() / 2 / PAGE * PAGE
}

/// `MTLSizeAndAlign`.
#[repr(C)]
#[derive(Clone, Copy)]
struct SizeAndAlign {
    size: usize,
    align: usize,
}

impl_encode!(unsafe SizeAndAlign, "{?=QQ}");

/// Payload of the device object, to tell it from other objects.
struct Device;

extern "C-unwind" fn name(_: This<'_>, _: Sel) -> Id {
    // What a virtual Mac's says.
    let is_virtual = apple_family() == VIRTUAL;
    ns_string::string(if is_virtual { "Apple Paravirtual device" } else { "mpsgraph-soft" })
}

extern "C-unwind" fn registry_id(_: This<'_>, _: Sel) -> u64 {
    0x736f_6674
}

extern "C-unwind" fn has_unified_memory(_: This<'_>, _: Sel) -> bool {
    apple_family() != DISCRETE
}

extern "C-unwind" fn recommended_max_working_set_size(_: This<'_>, _: Sel) -> u64 {
    (memory::bytes() / 4 * 3) as u64
}

extern "C-unwind" fn max_buffer_length(_: This<'_>, _: Sel) -> usize {
    max_length()
}

extern "C-unwind" fn current_allocated_size(_: This<'_>, _: Sel) -> usize {
    usize::try_from(counters::bytes_allocated()).expect("what is allocated fits the address space")
}

extern "C-unwind" fn supports_family(_: This<'_>, _: Sel, family: isize) -> bool {
    const APPLE: isize = 1000;
    match family {
        1001..=1010 => (family - APPLE) as i64 <= apple_family(),
        // Mac2, Common1 to Common3.
        2002 | 3001..=3003 => true,
        // Metal3 and Metal4 came with these systems; a family that a system does not know is not supported.
        5001 => version::macos() >= (13, 0),
        5002 => version::macos() >= (26, 0),
        _ => false,
    }
}

extern "C-unwind" fn new_command_queue(_: This<'_>, _: Sel) -> Id {
    mtl_command_queue::new(DEFAULT_PLACES).into_owned()
}

extern "C-unwind" fn new_command_queue_with_max(this: This<'_>, cmd: Sel, count: usize) -> Id {
    if count == 0 {
        violation!(this, cmd, "a queue needs room for at least one command buffer");
    }
    mtl_command_queue::new(count).into_owned()
}

extern "C-unwind" fn new_buffer_with_length(this: This<'_>, cmd: Sel, length: usize, options: usize) -> Id {
    mtl_buffer::new(this, cmd, length, options).map_or(Id::NIL, Strong::into_owned)
}

extern "C-unwind" fn new_buffer_with_bytes(
    this: This<'_>,
    cmd: Sel,
    bytes: *const c_void,
    length: usize,
    options: usize,
) -> Id {
    // SAFETY: the sender passes `length` readable bytes, as the method's contract says.
    let buffer = unsafe { mtl_buffer::new_with_bytes(this, cmd, bytes.cast(), length, options) };
    buffer.map_or(Id::NIL, Strong::into_owned)
}

extern "C-unwind" fn heap_buffer_size_and_align(
    this: This<'_>,
    cmd: Sel,
    length: usize,
    options: usize,
) -> SizeAndAlign {
    let (size, align) = mtl_heap::size_and_align(this, cmd, length, options);
    SizeAndAlign { size, align }
}

extern "C-unwind" fn new_heap_with_descriptor(this: This<'_>, cmd: Sel, descriptor: Id) -> Id {
    mtl_heap::new(this, cmd, descriptor).map_or(Id::NIL, Strong::into_owned)
}
