//! `MTLBuffer`: memory that the CPU and the device share.
//!
//! The CPU gets the bytes by `-contents`, so that message is refused while committed work will write them. Work gets
//! spans of the memory instead, and its command buffer retains the buffer until the work is done.

use std::collections::HashSet;
use std::ffi::c_void;
use std::ptr::NonNull;

use super::allocation::Allocation;
use super::in_use::{Access, InUse};
use super::label::Label;
use super::mtl_heap::Part;
use super::{fault, mtl_device};
use crate::kernels::span::{Span, SpanMut};
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, new_object};
use crate::violation;

/// The class of the buffers that `MTLDevice` makes.
pub static CLASS: ClassDef = ClassDef {
    name: "MTLBuffer",
    superclass: Some(&crate::foundation::ns_object::CLASS),
    kind: ClassKind::ProtocolInstance,
    min_macos: (10, 11),
    instance: &[
        method0("contents", contents),
        method0("length", length),
        method0("allocatedSize", allocated_size),
        method0("storageMode", storage_mode),
        method0("resourceOptions", resource_options),
        method0("hazardTrackingMode", hazard_tracking_mode),
        method0("heap", heap),
        method0("heapOffset", heap_offset),
        method0("device", device),
        method0("label", label),
        method1("setLabel:", set_label),
    ],
    class: &[],
};

/// `MTLResourceOptions` that are accepted: the cache mode, the storage mode and the hazard tracking mode.
const CACHE_MODE: usize = 0xf;
const STORAGE_MODE: usize = 0xf0;
const HAZARD_TRACKING: usize = 0x300;

/// Written buffers up to which each is looked for among all.
const FEW: usize = 8;

/// `MTLHazardTrackingMode`.
pub(super) const HAZARDS_UNTRACKED: usize = 1;
pub(super) const HAZARDS_TRACKED: usize = 2;

pub(super) const STORAGE_SHARED: usize = 0;
const STORAGE_MANAGED: usize = 1;
const STORAGE_PRIVATE: usize = 2;

/// A buffer's memory, aligned to 256 bytes at least.
pub(super) enum Memory {
    Own(Allocation),
    InHeap(Part),
}

impl Memory {
    /// First byte.
    pub fn start(&self) -> NonNull<u8> {
        match self {
            Memory::Own(allocation) => allocation.start(),
            Memory::InHeap(part) => part.start(),
        }
    }

    /// Usable bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Memory::Own(allocation) => allocation.bytes(),
            Memory::InHeap(part) => part.bytes(),
        }
    }
}

/// Payload of a buffer object.
pub struct Buffer {
    memory: Memory,
    length: usize,
    options: usize,
    in_use: InUse,
    label: Label,
}

impl Buffer {
    /// Bytes asked for.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The bytes, for work that reads them.
    ///
    /// # Safety
    /// The span is used from commit to completion of a command buffer only, which was given this buffer in `reads` or
    /// `writes`: so long it retains the buffer, and its queue runs it after the work that wrote the bytes. The host
    /// program, which may have kept the pointer from `-contents`, does not write through it meanwhile, and does not
    /// read what the work writes. Metal demands that of it; [`InUse`] finds some of what breaks it, and cannot prevent
    /// it.
    pub unsafe fn span(&self) -> Span {
        // SAFETY: the allocation is at least `length` bytes, initialised, and freed with the buffer only, which is
        // retained while the span is used, and not written by the host, as the caller promises.
        unsafe { Span::new(self.memory.start().as_ptr(), self.length) }
    }

    /// The bytes, for work that writes them.
    ///
    /// # Safety
    /// As for [`Buffer::span`]; the buffer is in `writes`.
    pub unsafe fn span_mut(&self) -> SpanMut {
        // SAFETY: as for `span`; work of one queue runs one command buffer after the other and a commit that races
        // with another queue's is refused, so no other work uses the bytes while this does, and the host does not, as
        // the caller promises.
        unsafe { SpanMut::new(self.memory.start().as_ptr(), self.length) }
    }

    /// Which committed work uses it.
    pub fn in_use(&self) -> &InUse {
        &self.in_use
    }

    /// Begins a use by work committed to `queue`; an error if it races with another queue's.
    pub(super) fn begin_use(&self, access: Access, queue: usize) -> Result<(), &'static str> {
        self.in_use.begin(access, queue, &self.memory)
    }

    /// Ends a use begun by a commit; an error if the CPU interfered.
    pub(super) fn end_use(&self, access: Access) -> Result<(), &'static str> {
        self.in_use.end(access, &self.memory)
    }

    /// Whether Metal orders work that uses it: without, the programs of one queue race.
    pub fn is_tracked(&self) -> bool {
        hazards_of(self.options) != HAZARDS_UNTRACKED
    }

    fn storage(&self) -> usize {
        storage_of(self.options)
    }
}

/// A buffer that is written twice, or read and written, by work with these `reads` and `writes`. On a device the
/// results of such work are wrong, without an error.
pub fn aliased(reads: &[Strong], writes: &[Strong]) -> Option<Id> {
    if writes.len() <= FEW {
        let again = |(at, write): (usize, &Strong)| writes[..at].contains(write) || reads.contains(write);
        return writes.iter().enumerate().find(|&write| again(write)).map(|(_, write)| write.id());
    }
    let mut written = HashSet::with_capacity(writes.len());
    let twice = writes.iter().map(Strong::id).find(|&buffer| !written.insert(buffer));
    twice.or_else(|| reads.iter().map(Strong::id).find(|buffer| written.contains(buffer)))
}

/// A zeroed buffer for `-[MTLDevice newBufferWithLength:options:]`; none if it cannot be had.
pub(super) fn new(device: This<'_>, cmd: Sel, length: usize, options: usize) -> Option<Strong> {
    check_options(device, cmd, options);
    if length > mtl_device::max_length() || fault::allocation_due() {
        return None;
    }
    let memory = Memory::Own(Allocation::new(length)?);
    let label = Label::default();
    Some(new_object(&CLASS, Buffer { memory, length, options, in_use: InUse::default(), label }))
}

/// A buffer in part of a heap whose hazards are tracked in this mode, of shared storage.
pub(super) fn in_heap(part: Part, length: usize, hazards: usize) -> Strong {
    let (memory, options) = (Memory::InHeap(part), hazards << 8);
    new_object(&CLASS, Buffer { memory, length, options, in_use: InUse::default(), label: Label::default() })
}

/// A buffer with a copy of `length` bytes for `-[MTLDevice newBufferWithBytes:length:options:]`.
///
/// # Safety
/// `bytes` is null or valid for `length` reads.
pub(super) unsafe fn new_with_bytes(
    device: This<'_>,
    cmd: Sel,
    bytes: *const u8,
    length: usize,
    options: usize,
) -> Option<Strong> {
    if storage_of(options) != STORAGE_SHARED {
        violation!(device, cmd, "the CPU cannot fill a buffer of this storage mode (options {options:#x})");
    }
    if bytes.is_null() {
        violation!(device, cmd, "no bytes");
    }
    let buffer = new(device, cmd, length, options)?;
    let start = buffer.state::<Buffer>().memory.start();
    // SAFETY: the caller vouches for `length` readable bytes; the destination is as long, new, and known to nobody
    // else.
    unsafe { bytes.copy_to_nonoverlapping(start.as_ptr(), length) }
    Some(buffer)
}

/// The storage mode of options.
pub(super) fn storage_of(options: usize) -> usize {
    (options & STORAGE_MODE) >> 4
}

/// The CPU cache mode of options.
pub(super) fn cache_mode_of(options: usize) -> usize {
    options & CACHE_MODE
}

/// The hazard tracking mode of options; 0 is the default of the device or the heap.
pub(super) fn hazards_of(options: usize) -> usize {
    (options & HAZARD_TRACKING) >> 8
}

/// Refuses what no buffer can have, in the name of `device`, which a message asks for one.
pub(super) fn check_options(device: This<'_>, cmd: Sel, options: usize) {
    if options & !(CACHE_MODE | STORAGE_MODE | HAZARD_TRACKING) != 0 || options & CACHE_MODE > 1 {
        violation!(device, cmd, "options {options:#x} are not MTLResourceOptions");
    }
    match storage_of(options) {
        STORAGE_SHARED | STORAGE_PRIVATE => (),
        STORAGE_MANAGED => violation!(device, cmd, "managed storage is not for unified memory: use shared"),
        _ => violation!(device, cmd, "a buffer cannot have the storage mode of options {options:#x}"),
    }
}

extern "C-unwind" fn contents(this: This<'_>, cmd: Sel) -> *mut c_void {
    let buffer = this.state::<Buffer>();
    if buffer.storage() == STORAGE_PRIVATE {
        return std::ptr::null_mut();
    }
    if let Err(reason) = buffer.in_use.look(&buffer.memory) {
        violation!(this, cmd, "{reason}");
    }
    buffer.memory.start().as_ptr().cast()
}

extern "C-unwind" fn length(this: This<'_>, _: Sel) -> usize {
    this.state::<Buffer>().length
}

extern "C-unwind" fn allocated_size(this: This<'_>, _: Sel) -> usize {
    this.state::<Buffer>().memory.bytes()
}

extern "C-unwind" fn storage_mode(this: This<'_>, _: Sel) -> usize {
    this.state::<Buffer>().storage()
}

extern "C-unwind" fn resource_options(this: This<'_>, _: Sel) -> usize {
    this.state::<Buffer>().options
}

extern "C-unwind" fn hazard_tracking_mode(this: This<'_>, _: Sel) -> usize {
    if this.state::<Buffer>().is_tracked() { HAZARDS_TRACKED } else { HAZARDS_UNTRACKED }
}

extern "C-unwind" fn heap(this: This<'_>, _: Sel) -> Id {
    match &this.state::<Buffer>().memory {
        Memory::Own(_) => Id::NIL,
        Memory::InHeap(part) => part.place().0.id(),
    }
}

extern "C-unwind" fn heap_offset(this: This<'_>, _: Sel) -> usize {
    match &this.state::<Buffer>().memory {
        Memory::Own(_) => 0,
        Memory::InHeap(part) => part.place().1,
    }
}

extern "C-unwind" fn device(_: This<'_>, _: Sel) -> Id {
    mtl_device::shared()
}

extern "C-unwind" fn label(this: This<'_>, _: Sel) -> Id {
    this.state::<Buffer>().label.get()
}

extern "C-unwind" fn set_label(this: This<'_>, cmd: Sel, label: Id) {
    this.state::<Buffer>().label.set(this, cmd, label);
}
