//! `MTLHeap`: one block of memory that many buffers share.
//!
//! Only what small buffers of unified memory need: automatic placement and shared storage. What a new buffer of a heap
//! holds is what the memory held before.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard};

use super::allocation::{Allocation, PAGE};
use super::label::Label;
use super::mtl_buffer::{HAZARDS_TRACKED, HAZARDS_UNTRACKED, STORAGE_SHARED};
use super::mtl_heap_descriptor::HeapDescriptor;
use super::{fault, mtl_buffer, mtl_device};
use crate::ignore_poison::IgnorePoison;
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, method2, new_object};
use crate::violation;

/// The class of the heaps that `MTLDevice` makes.
pub static CLASS: ClassDef = ClassDef {
    name: "MTLHeap",
    superclass: Some(&crate::foundation::ns_object::CLASS),
    kind: ClassKind::ProtocolInstance,
    min_macos: (10, 13),
    instance: &[
        method0("size", size),
        method0("usedSize", used_size),
        method0("currentAllocatedSize", size),
        method1("maxAvailableSizeWithAlignment:", max_available_size),
        method2("newBufferWithLength:options:", new_buffer_with_length),
        method0("storageMode", storage_mode),
        method0("hazardTrackingMode", hazard_tracking_mode),
        method0("type", heap_type),
        method0("device", device),
        method0("label", label),
        method1("setLabel:", set_label),
    ],
    class: &[],
};

/// Address and size of every buffer of a heap are multiples of this.
const ALIGNMENT: usize = 256;

/// Payload of a heap object.
pub(crate) struct Heap {
    memory: Allocation,
    hazards: usize,
    /// Offset and bytes of each part that no buffer has. Neighbours are one part.
    free: Mutex<BTreeMap<usize, usize>>,
    label: Label,
}

impl Heap {
    fn free(&self) -> MutexGuard<'_, BTreeMap<usize, usize>> {
        self.free.lock().ignore_poison()
    }

    /// The smallest free part with so many bytes.
    fn take(&self, bytes: usize) -> Option<usize> {
        let mut free = self.free();
        let enough = free.iter().filter(|&(_, &room)| room >= bytes);
        let (offset, room) = enough.min_by_key(|&(&offset, &room)| (room, offset)).map(|(&at, &room)| (at, room))?;
        free.remove(&offset);
        if room > bytes {
            free.insert(offset + bytes, room - bytes);
        }
        Some(offset)
    }

    fn give_back(&self, mut offset: usize, mut bytes: usize) {
        let mut free = self.free();
        if let Some(behind) = free.remove(&(offset + bytes)) {
            bytes += behind;
        }
        if let Some((&before, &room)) = free.range(..offset).next_back()
            && before + room == offset
        {
            (offset, bytes) = (before, room + bytes);
        }
        free.insert(offset, bytes);
    }
}

/// The part of a heap's memory that one buffer has.
pub(super) struct Part {
    heap: Strong,
    start: NonNull<u8>,
    offset: usize,
    bytes: usize,
}

// SAFETY: a part has its memory for itself, as an `Allocation` has, and keeps the heap; see there.
unsafe impl Send for Part {}
// SAFETY: as above.
unsafe impl Sync for Part {}

impl Part {
    fn new(heap: &Strong, length: usize) -> Option<Self> {
        let bytes = size_of_buffer(length)?;
        let state = heap.state::<Heap>();
        let offset = state.take(bytes)?;
        // SAFETY: the part is within the allocation.
        let start = unsafe { state.memory.start().add(offset) };
        Some(Self { heap: heap.clone(), start, offset, bytes })
    }

    /// First byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Usable bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The `MTLHeap`, and where in it the part begins.
    pub fn place(&self) -> (&Strong, usize) {
        (&self.heap, self.offset)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.heap.state::<Heap>().give_back(self.offset, self.bytes);
    }
}

fn size_of_buffer(length: usize) -> Option<usize> {
    if length == 0 { None } else { length.checked_next_multiple_of(ALIGNMENT) }
}

/// Size and alignment of a buffer, for `-[MTLDevice heapBufferSizeAndAlignWithLength:options:]`.
pub(super) fn size_and_align(device: This<'_>, cmd: Sel, length: usize, options: usize) -> (usize, usize) {
    mtl_buffer::check_options(device, cmd, options);
    match size_of_buffer(length) {
        Some(bytes) => (bytes, ALIGNMENT),
        None => violation!(device, cmd, "there are no buffers of {length} bytes"),
    }
}

/// A heap for `-[MTLDevice newHeapWithDescriptor:]`; none if the memory cannot be had.
pub(super) fn new(this: This<'_>, cmd: Sel, descriptor: Id) -> Option<Strong> {
    let descriptor = Strong::retain(descriptor);
    let Some(settings) = descriptor.try_state::<HeapDescriptor>() else {
        violation!(this, cmd, "the descriptor is {}, not an MTLHeapDescriptor", descriptor.id().class_name());
    };
    let [size, storage, hazards, kind] = settings.settings();
    if size == 0 {
        violation!(this, cmd, "the descriptor's size is 0: Metal asserts");
    }
    if kind != 0 {
        violation!(this, cmd, "only heaps of MTLHeapTypeAutomatic are supported here");
    }
    if storage != STORAGE_SHARED {
        violation!(
            this,
            cmd,
            "only heaps of MTLStorageModeShared are supported here, not {storage} (2 is the default)"
        );
    }
    if size > mtl_device::max_length() || fault::allocation_due() {
        return None;
    }
    let memory = Allocation::new(size.next_multiple_of(PAGE))?;
    let free = Mutex::new(BTreeMap::from([(0, memory.bytes())]));
    // A heap's default is untracked.
    let hazards = if hazards == HAZARDS_TRACKED { HAZARDS_TRACKED } else { HAZARDS_UNTRACKED };
    Some(new_object(&CLASS, Heap { memory, hazards, free, label: Label::default() }))
}

extern "C-unwind" fn new_buffer_with_length(this: This<'_>, cmd: Sel, length: usize, options: usize) -> Id {
    let heap = this.state::<Heap>();
    mtl_buffer::check_options(this, cmd, options);
    let hazards = mtl_buffer::hazards_of(options);
    if mtl_buffer::storage_of(options) != STORAGE_SHARED {
        violation!(this, cmd, "the storage mode of options {options:#x} is not the heap's");
    }
    if mtl_buffer::cache_mode_of(options) != 0 {
        violation!(this, cmd, "the CPU cache mode of options {options:#x} is not the heap's");
    }
    if hazards != 0 && hazards != heap.hazards {
        violation!(this, cmd, "the hazard tracking mode of options {options:#x} is not the heap's");
    }
    if fault::allocation_due() {
        return Id::NIL;
    }
    let part = Part::new(&this, length);
    part.map_or(Id::NIL, |part| mtl_buffer::in_heap(part, length, heap.hazards).into_owned())
}

extern "C-unwind" fn size(this: This<'_>, _: Sel) -> usize {
    this.state::<Heap>().memory.bytes()
}

extern "C-unwind" fn used_size(this: This<'_>, _: Sel) -> usize {
    let heap = this.state::<Heap>();
    heap.memory.bytes() - heap.free().values().sum::<usize>()
}

extern "C-unwind" fn max_available_size(this: This<'_>, cmd: Sel, alignment: usize) -> usize {
    if !alignment.is_power_of_two() {
        violation!(this, cmd, "an alignment of {alignment} is no power of two");
    }
    let heap = this.state::<Heap>();
    let room = |(&offset, &bytes): (&usize, &usize)| {
        bytes.saturating_sub(offset.next_multiple_of(alignment) - offset) / alignment * alignment
    };
    heap.free().iter().map(room).max().unwrap_or(0)
}

extern "C-unwind" fn storage_mode(_: This<'_>, _: Sel) -> usize {
    STORAGE_SHARED
}

extern "C-unwind" fn hazard_tracking_mode(this: This<'_>, _: Sel) -> usize {
    this.state::<Heap>().hazards
}

extern "C-unwind" fn heap_type(_: This<'_>, _: Sel) -> isize {
    0
}

extern "C-unwind" fn device(_: This<'_>, _: Sel) -> Id {
    mtl_device::shared()
}

extern "C-unwind" fn label(this: This<'_>, _: Sel) -> Id {
    this.state::<Heap>().label.get()
}

extern "C-unwind" fn set_label(this: This<'_>, cmd: Sel, label: Id) {
    this.state::<Heap>().label.set(this, cmd, label);
}
