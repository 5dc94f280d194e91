//! Registered classes and their dispatch tables.
//!
//! All methods of a class, inherited ones included, are known when it is registered and never change. So the "method
//! cache" is complete from the start: each class has an immutable open-addressing table, which the assembly in
//! `msg_send` probes without locks or barriers. A miss is always a violation. A deallocated object's `isa` becomes its
//! class's *zombie*, a class with an empty table, so every message to it misses.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

use super::define::{ClassDef, Imp};
use super::method::MethodEntry;
use super::object::Object;
use super::{Id, Sel};

/// One place of a dispatch table; `sel` is null where it is empty. The assembly reads both fields.
#[repr(C)]
pub(crate) struct Slot {
    pub(crate) sel: Sel,
    pub(crate) imp: Option<Imp>,
}

/// log2 of the size of a [`Slot`].
pub(crate) const SLOT_SHIFT: usize = 4;
const _: () = assert!(size_of::<Slot>() == 1 << SLOT_SHIFT);

/// A class or metaclass. It begins as an object does, so that it can receive messages itself.
#[repr(C)]
pub struct Class {
    pub(crate) header: Object,
    pub(crate) table: *const Slot,
    pub(crate) mask: usize,
    pub(crate) dead: bool,
    pub(crate) info: &'static ClassInfo,
}

// SAFETY: `table` points to a leaked, immutable table; the header is made of atomics.
unsafe impl Send for Class {}
// SAFETY: as above.
unsafe impl Sync for Class {}

/// What a class and its zombie share.
pub(crate) struct ClassInfo {
    pub(crate) def: &'static ClassDef,
    /// The name with a NUL, for `class_getName`.
    pub(crate) c_name: &'static std::ffi::CStr,
    pub(crate) is_meta: bool,
    /// Whether the configured macOS has it.
    pub(crate) available: bool,
    pub(crate) superclass: Option<&'static Class>,
    /// Own and inherited methods that the configured macOS has.
    pub(crate) methods: HashMap<Sel, &'static MethodEntry>,
    pub(crate) zombie: OnceLock<&'static Class>,
    pub(crate) live: AtomicUsize,
}

impl Class {
    /// The name.
    pub(crate) fn name(&self) -> &'static str {
        self.info.def.name
    }

    pub(crate) fn as_id(&'static self) -> Id {
        Id::from_header(&self.header)
    }

    /// The function that answers a selector.
    pub(crate) fn lookup(&self, sel: Sel) -> Option<Imp> {
        let mut slot = self.table.wrapping_add(sel.slot() & self.mask);
        loop {
            // SAFETY: `table` has more than `mask + 1` slots and ends with an empty one (`dispatch_table`).
            let Slot { sel: at, imp } = unsafe { &*slot };
            if *at == sel || at.is_null() {
                return *imp;
            }
            slot = slot.wrapping_add(1);
        }
    }

    /// Whether it is this class or a subclass of it.
    pub(crate) fn descends_from(&'static self, ancestor: &Class) -> bool {
        self.ancestry().any(|class| std::ptr::eq(class, ancestor))
    }

    /// The class, its superclass and so on.
    pub(crate) fn ancestry(&'static self) -> impl Iterator<Item = &'static Class> {
        std::iter::successors(Some(self), |class| class.info.superclass)
    }
}

/// Lays out methods for the probe: slots from the hashed place on, without wrapping, one empty slot at the end.
pub(crate) fn dispatch_table(methods: &HashMap<Sel, &'static MethodEntry>) -> (*const Slot, usize) {
    let capacity = (methods.len() * 2).next_power_of_two();
    let mask = capacity - 1;
    let mut slots: Vec<Slot> = (0..capacity + methods.len() + 1).map(|_| Slot { sel: Sel::NULL, imp: None }).collect();
    for (&sel, entry) in methods {
        let mut at = sel.slot() & mask;
        while !slots[at].sel.is_null() {
            at += 1;
        }
        slots[at] = Slot { sel, imp: Some(entry.def.imp) };
    }
    (Box::leak(slots.into_boxed_slice()).as_ptr(), mask)
}

/// A class as an argument or result of a method (`#`); may be nil.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassId(*const Class);

// SAFETY: classes are immutable and live as long as the process.
unsafe impl Send for ClassId {}
// SAFETY: as above.
unsafe impl Sync for ClassId {}

impl ClassId {
    /// No class.
    pub const NIL: ClassId = ClassId(std::ptr::null());

    pub(crate) fn of(class: &'static Class) -> Self {
        Self(class)
    }

    /// The class at an address that comes from C.
    ///
    /// # Safety
    /// The pointer is null or a class of this runtime.
    pub(crate) unsafe fn from_ptr(pointer: *mut c_void) -> Self {
        Self(pointer.cast_const().cast())
    }

    pub(crate) fn as_ptr(self) -> *mut c_void {
        self.0.cast_mut().cast()
    }

    /// The class; `None` for nil.
    pub(crate) fn class(self) -> Option<&'static Class> {
        // SAFETY: a class that is not nil comes from the registry, which never frees (`of`, `from_ptr`).
        unsafe { self.0.as_ref() }
    }

    /// The class as an object that messages can be sent to.
    pub fn as_id(self) -> Id {
        self.class().map_or(Id::NIL, Class::as_id)
    }
}
