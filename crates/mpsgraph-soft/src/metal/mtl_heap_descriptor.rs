//! `MTLHeapDescriptor`: what a heap shall be. The defaults are Apple's.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::objc::{ClassDef, ClassKind, Id, Sel, This, method0, method1};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MTLHeapDescriptor",
    superclass: Some(&crate::foundation::ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (10, 13),
    instance: &[
        method0("init", init),
        method0("size", size),
        method1("setSize:", set_size),
        method0("storageMode", storage_mode),
        method1("setStorageMode:", set_storage_mode),
        method0("hazardTrackingMode", hazard_tracking_mode),
        method1("setHazardTrackingMode:", set_hazard_tracking_mode),
        method0("type", heap_type),
        method1("setType:", set_heap_type),
    ],
    class: &[],
};

/// `MTLStorageModePrivate`.
const PRIVATE: usize = 2;

/// Payload of a heap descriptor: the constants as Apple numbers them.
#[derive(Default)]
pub(crate) struct HeapDescriptor {
    size: AtomicUsize,
    storage: AtomicUsize,
    hazards: AtomicUsize,
    kind: AtomicUsize,
}

impl HeapDescriptor {
    /// Size, storage mode, hazard tracking mode and type.
    pub fn settings(&self) -> [usize; 4] {
        [&self.size, &self.storage, &self.hazards, &self.kind].map(|setting| setting.load(Relaxed))
    }
}

extern "C-unwind" fn init(this: This<'_>, _: Sel) -> Id {
    this.set_state(HeapDescriptor { storage: AtomicUsize::new(PRIVATE), ..HeapDescriptor::default() });
    this.id()
}

extern "C-unwind" fn size(this: This<'_>, _: Sel) -> usize {
    this.state::<HeapDescriptor>().size.load(Relaxed)
}

extern "C-unwind" fn set_size(this: This<'_>, _: Sel, size: usize) {
    this.state::<HeapDescriptor>().size.store(size, Relaxed);
}

extern "C-unwind" fn storage_mode(this: This<'_>, _: Sel) -> usize {
    this.state::<HeapDescriptor>().storage.load(Relaxed)
}

extern "C-unwind" fn set_storage_mode(this: This<'_>, cmd: Sel, mode: usize) {
    if mode > 3 {
        violation!(this, cmd, "{mode} is not an MTLStorageMode");
    }
    this.state::<HeapDescriptor>().storage.store(mode, Relaxed);
}

extern "C-unwind" fn hazard_tracking_mode(this: This<'_>, _: Sel) -> usize {
    this.state::<HeapDescriptor>().hazards.load(Relaxed)
}

extern "C-unwind" fn set_hazard_tracking_mode(this: This<'_>, cmd: Sel, mode: usize) {
    if mode > 2 {
        violation!(this, cmd, "{mode} is not an MTLHazardTrackingMode");
    }
    this.state::<HeapDescriptor>().hazards.store(mode, Relaxed);
}

extern "C-unwind" fn heap_type(this: This<'_>, _: Sel) -> isize {
    this.state::<HeapDescriptor>().kind.load(Relaxed).cast_signed()
}

extern "C-unwind" fn set_heap_type(this: This<'_>, cmd: Sel, kind: isize) {
    match usize::try_from(kind) {
        Ok(kind @ 0..=2) => this.state::<HeapDescriptor>().kind.store(kind, Relaxed),
        _ => violation!(this, cmd, "{kind} is not an MTLHeapType"),
    }
}
