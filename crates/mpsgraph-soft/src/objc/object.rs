//! Objects: a header from the slab, with a reference count and a payload of any Rust type.
//!
//! The count is positive exactly as long as the object lives. [`Object::try_retain`] never raises a count of zero, so
//! an object whose last reference is gone cannot come back, and its payload can be dropped: nobody can read it any
//! more. The header stays behind as a zombie ([`slab`]).

use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicIsize, AtomicPtr, fence};

use super::class::Class;
use super::define::{ClassDef, ClassKind};
use super::payload::Payload;
use super::{Id, Strong, registry, slab, version};

/// The header of an object. `isa` comes first, where the assembly reads it.
#[repr(C, align(32))]
#[derive(Debug)]
pub struct Object {
    isa: AtomicPtr<Class>,
    references: AtomicIsize,
    payload: AtomicPtr<Payload>,
    pub(crate) next_dead: AtomicPtr<Object>,
}

/// References of a class object: so many that no program reaches zero.
const IMMORTAL: isize = isize::MAX / 2;

/// What a release left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Released {
    /// Other references.
    Alive,
    /// No reference: the caller must deallocate the object.
    Last,
    /// The object was dead before; the count is unchanged.
    Dead,
}

impl Object {
    /// A header without a class.
    pub(crate) const fn vacant() -> Self {
        Self {
            isa: AtomicPtr::new(ptr::null_mut()),
            references: AtomicIsize::new(0),
            payload: AtomicPtr::new(ptr::null_mut()),
            next_dead: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The header of a class; its own class follows with [`Object::set_class`].
    pub(crate) const fn immortal() -> Self {
        Self { references: AtomicIsize::new(IMMORTAL), ..Self::vacant() }
    }

    pub(crate) fn set_class(&self, class: &'static Class) {
        self.isa.store(ptr::from_ref(class).cast_mut(), Release);
    }

    pub(crate) fn next_dead(&self) -> Option<&'static Object> {
        // SAFETY: the link is null or a header of the slab, which never frees.
        unsafe { self.next_dead.load(Relaxed).as_ref() }
    }

    /// The class, or its zombie when the object is dead.
    pub(crate) fn class(&self) -> &'static Class {
        // SAFETY: an address is given out after `set_class` only, so `isa` is a class, and classes are never freed.
        // `Acquire` makes the class's fields visible to a thread that kept the address of an earlier object.
        unsafe { &*self.isa.load(Acquire) }
    }

    /// References held; not positive for a dead object.
    pub(crate) fn references(&self) -> isize {
        self.references.load(Relaxed)
    }

    /// Adds a reference, unless the object is dead. `Acquire`, because this may be the first that the thread sees of
    /// the object.
    pub(crate) fn try_retain(&self) -> bool {
        self.references.fetch_update(Acquire, Relaxed, |count| (count > 0).then_some(count + 1)).is_ok()
    }

    /// Adds a reference for someone who has one, so that the object is alive.
    pub(crate) fn retain_again(&self) {
        self.references.fetch_add(1, Relaxed);
    }

    /// Gives up a reference.
    ///
    /// # Safety
    /// The caller owns the reference, and deallocates the object when it was the last.
    pub(crate) unsafe fn release(&self) -> Released {
        match self.references.fetch_sub(1, Release) {
            1 => {
                fence(Acquire);
                Released::Last
            }
            2.. => Released::Alive,
            ..=0 => {
                self.references.fetch_add(1, Relaxed);
                Released::Dead
            }
        }
    }

    /// The payload; null without one.
    pub(crate) fn payload(&self) -> *mut Payload {
        self.payload.load(Acquire)
    }

    /// Puts in the payload, once in an object's life; whether there was none. If two threads do so at once, one of the
    /// payloads is leaked: somebody may have borrowed either.
    pub(crate) fn set_payload<T: Send + Sync + 'static>(&self, value: T) -> bool {
        let is_first = self.payload.load(Acquire).is_null();
        if is_first {
            self.payload.store(Payload::boxed(value), Release);
        }
        is_first
    }

    /// Turns the object into a zombie, drops the payload and buries the header.
    ///
    /// # Safety
    /// The last reference was released just now, by the caller.
    pub(crate) unsafe fn deallocate(&'static self) {
        let class = self.class();
        // From here on messages miss, also those that the payload's own destructor might send.
        self.set_class(class.info.zombie.get().expect("registration gives every class its zombie"));
        // Nobody else has a reference, and so nobody puts one in.
        let payload = self.payload.load(Acquire);
        self.payload.store(ptr::null_mut(), Release);
        if !payload.is_null() {
            // SAFETY: borrows of the value last as long as a reference, and there is none and will be none: the count
            // is zero. The payload was taken out of the header, so this is the only use of it.
            unsafe { Payload::drop_boxed(payload) };
        }
        slab::bury(self, &class.info.live);
    }

    /// A new instance (+1) of `class`. The count is stored last: until then a stale address of this header cannot
    /// retain it.
    fn made(class: &'static Class, payload: *mut Payload) -> Strong {
        let header = slab::take(&class.info.live);
        header.set_class(class);
        header.payload.store(payload, Release);
        header.references.store(1, Release);
        // SAFETY: the object begins with one reference, which nobody else owns.
        unsafe { Strong::from_owned(Id::from_header(header)) }
    }
}

/// A new instance of a class, with its payload. The class is registered if it was not.
#[track_caller]
pub fn new_object<T: Send + Sync + 'static>(def: &'static ClassDef, state: T) -> Strong {
    let class = registry::class_of(def);
    if !class.info.available {
        let (major, minor) = def.min_macos;
        let (have, have_minor) = version::macos();
        panic!("{} needs macOS {major}.{minor}; the configured system is {have}.{have_minor}", def.name);
    }
    Object::made(class, Payload::boxed(state))
}

/// A new instance without a payload, for an `init…` method to fill.
pub(crate) fn allocate(class: &'static Class) -> Strong {
    Object::made(class, ptr::null_mut())
}

/// Whether instances may be made by `+alloc`.
pub(crate) fn allocatable(class: &Class) -> bool {
    class.info.def.kind == ClassKind::Class && class.info.available
}
