//! Objects: a header from the slab and a payload of any Rust type.
//!
//! The payload's type is checked on every access, and it is dropped when the last reference goes; the header stays
//! behind as a zombie (`slab`). Reference counts are atomic and checked: a count that is not positive belongs
//! to a dead object.

use std::any::{TypeId, type_name};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicIsize, AtomicPtr, fence};

use super::class::Class;
use super::define::ClassKind;
use super::{autorelease, registry, slab, version};

/// The header of an object. `isa` comes first, where the assembly reads it.
#[repr(C, align(32))]
#[derive(Debug)]
pub struct Object {
    isa: AtomicPtr<Class>,
    references: AtomicIsize,
    payload: AtomicPtr<PayloadHeader>,
    pub(crate) next_dead: AtomicPtr<Object>,
}

/// References of a class object: so many that no program reaches zero.
const IMMORTAL: isize = isize::MAX / 2;

/// Begins every payload, whatever its type.
#[repr(C)]
#[derive(Debug)]
struct PayloadHeader {
    type_id: TypeId,
    type_name: &'static str,
    drop: unsafe fn(*mut PayloadHeader),
}

#[repr(C)]
struct Payload<T> {
    header: PayloadHeader,
    value: T,
}

impl<T: Send + Sync + 'static> Payload<T> {
    fn boxed(value: T) -> *mut PayloadHeader {
        let header = PayloadHeader { type_id: TypeId::of::<T>(), type_name: type_name::<T>(), drop: Self::drop_boxed };
        Box::into_raw(Box::new(Self { header, value })).cast()
    }

    /// # Safety
    /// `payload` comes from `boxed` of the same type and is not used afterwards.
    unsafe fn drop_boxed(payload: *mut PayloadHeader) {
        // SAFETY: by this function's contract it is the box that `boxed` turned into a pointer.
        drop(unsafe { Box::from_raw(payload.cast::<Self>()) });
    }
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
        let isa = self.isa.load(Relaxed);
        // SAFETY: whoever has the object's address got it after `set_class`; classes are never freed.
        unsafe { &*isa }
    }
}

/// A reference to an object or to a class; may be nil. It owns nothing: see [`Strong`](super::Strong).
///
/// Every non-nil `Id` is the address of a header that is never freed, so the safe methods here panic, rather than
/// touch freed memory, when the object is dead.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(*mut Object);

// SAFETY: headers consist of atomics and live as long as the process; payloads are `Send + Sync`.
unsafe impl Send for Id {}
// SAFETY: as above.
unsafe impl Sync for Id {}

impl Id {
    /// No object.
    pub const NIL: Id = Id(ptr::null_mut());

    /// Whether it is nil.
    pub fn is_nil(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn from_ptr(pointer: *mut c_void) -> Self {
        Self(pointer.cast())
    }

    pub(crate) fn from_header(header: &'static Object) -> Self {
        Self(ptr::from_ref(header).cast_mut())
    }

    /// The address, as C sees it.
    pub fn as_ptr(self) -> *mut c_void {
        self.0.cast()
    }

    /// The header; `None` for nil.
    #[track_caller]
    pub(crate) fn header(self) -> Option<&'static Object> {
        assert!(self.is_aligned(), "{:p} is not the address of an object", self.0);
        // SAFETY: not nil and aligned, so by the invariant of `Id` it is a header, and headers are never freed.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn is_aligned(self) -> bool {
        self.0.is_aligned()
    }

    /// The class, or its zombie; `None` for nil.
    #[track_caller]
    pub(crate) fn class(self) -> Option<&'static Class> {
        self.header().map(Object::class)
    }

    /// Whether it is a class object.
    pub fn is_class(self) -> bool {
        self.is_aligned() && self.class().is_some_and(|class| class.info.is_meta)
    }

    /// Name of the object's class, also when it is dead; of the class itself for a class object.
    pub fn class_name(self) -> &'static str {
        if !self.is_aligned() {
            return "(not an object)";
        }
        self.class().map_or("nil", Class::name)
    }

    /// Whether the object's class has this name or inherits from one that has.
    pub fn is_kind_of(self, class_name: &str) -> bool {
        !self.is_class() && self.class().is_some_and(|class| class.ancestry().any(|c| c.name() == class_name))
    }

    /// The payload. Panics, naming the class, when this is nil, dead, or holds another type.
    #[track_caller]
    pub fn state<'a, T: 'static>(self) -> &'a T {
        match self.payload::<T>() {
            Some(value) => value,
            None => self.wrong_state(type_name::<T>()),
        }
    }

    /// The payload; `None` when this is nil or holds another type. A dead object still panics.
    #[track_caller]
    pub fn try_state<'a, T: 'static>(self) -> Option<&'a T> {
        let value = self.payload::<T>();
        if value.is_none() && self.class().is_some_and(|class| class.dead) {
            self.wrong_state(type_name::<T>());
        }
        value
    }

    #[inline]
    #[track_caller]
    fn payload<'a, T: 'static>(self) -> Option<&'a T> {
        let payload = self.header()?.payload.load(Acquire);
        // SAFETY: a payload that is not null is a live box from `Payload::boxed`: deallocation takes it out of the
        // header first. That the caller's reference outlives the borrow is the sender's duty, as in Objective-C.
        let header = unsafe { payload.as_ref()? };
        if header.type_id != TypeId::of::<T>() {
            return None;
        }
        // SAFETY: the type was just checked; the value lives as long as the header does.
        Some(unsafe { &(*payload.cast::<Payload<T>>()).value })
    }

    #[cold]
    #[track_caller]
    fn wrong_state(self, expected: &str) -> ! {
        let name = self.class_name();
        let Some(header) = self.header() else { panic!("nil where an object that holds {expected} is needed") };
        if header.class().dead {
            panic!("{name} {:p} is deallocated, but something still refers to it", self.0);
        }
        // SAFETY: as in `payload`.
        match unsafe { header.payload.load(Acquire).as_ref() } {
            None => panic!("{name} {:p} was allocated but not initialised", self.0),
            Some(payload) => panic!("{name} {:p} holds {}, not {expected}", self.0, payload.type_name),
        }
    }

    /// Gives an allocated object its payload; used once, by an `init…` method.
    #[track_caller]
    pub fn set_state<T: Send + Sync + 'static>(self, state: T) {
        let header = self.header().expect("an object to initialise, not nil");
        let payload = Payload::boxed(state);
        if header.payload.compare_exchange(ptr::null_mut(), payload, AcqRel, Acquire).is_err() {
            // SAFETY: the exchange failed, so the box is still ours alone.
            unsafe { Payload::<T>::drop_boxed(payload) };
            panic!("{} {:p} was initialised before", self.class_name(), self.0);
        }
    }

    /// Adds a reference.
    #[track_caller]
    pub fn retain(self) -> Id {
        if let Some(header) = self.header()
            && header.references.fetch_add(1, Relaxed) <= 0
        {
            header.references.fetch_sub(1, Relaxed);
            panic!("-[{} retain]: the object at {:p} is deallocated", self.class_name(), self.0);
        }
        self
    }

    /// Gives up a reference; the last one deallocates the object.
    #[track_caller]
    pub fn release(self) {
        let Some(header) = self.header() else { return };
        match header.references.fetch_sub(1, Release) {
            1 => {
                fence(Acquire);
                self.deallocate(header);
            }
            2.. => {}
            ..=0 => {
                header.references.fetch_add(1, Relaxed);
                panic!("-[{} release]: over-release, the object at {:p} is deallocated", self.class_name(), self.0);
            }
        }
    }

    /// Gives a reference to the innermost autorelease pool of this thread.
    #[track_caller]
    pub fn autorelease(self) -> Id {
        if let Some(header) = self.header() {
            if header.class().dead {
                panic!("-[{} autorelease]: the object at {:p} is deallocated", self.class_name(), self.0);
            }
            autorelease::add(self);
        }
        self
    }

    /// References held; 0 for nil and for dead objects.
    pub fn retain_count(self) -> usize {
        self.header().map_or(0, |header| header.references.load(Relaxed).max(0).cast_unsigned())
    }

    fn deallocate(self, header: &'static Object) {
        let class = header.class();
        // From here on messages miss, also those that the payload's own destructor might send.
        header.set_class(class.info.zombie.get().expect("registration gives every class its zombie"));
        let payload = header.payload.swap(ptr::null_mut(), AcqRel);
        class.info.live.fetch_sub(1, Relaxed);
        if !payload.is_null() {
            // SAFETY: the payload was taken out of the header, the last reference is gone, and `drop` is the function
            // that belongs to its type.
            unsafe { ((*payload).drop)(payload) };
        }
        slab::bury(header);
    }

    /// Allocates an instance (+1) without a payload.
    pub(crate) fn allocate(class: &'static Class) -> Id {
        let header = slab::take();
        header.references.store(1, Relaxed);
        header.set_class(class);
        class.info.live.fetch_add(1, Relaxed);
        Id::from_header(header)
    }
}

/// A new instance (+1) of a registered class, with its payload.
#[track_caller]
pub fn new_object<T: Send + Sync + 'static>(class_name: &'static str, state: T) -> Id {
    let class = registry::class_named(class_name).unwrap_or_else(|| panic!("no class `{class_name}` is registered"));
    if !class.info.available {
        let (major, minor) = class.info.def.min_macos;
        let (have, have_minor) = version::macos();
        panic!("{class_name} needs macOS {major}.{minor}; the configured system is {have}.{have_minor}");
    }
    let id = Id::allocate(class);
    let header = id.header().expect("just allocated");
    header.payload.store(Payload::boxed(state), Release);
    id
}

/// Whether instances may be made by `+alloc`.
pub(crate) fn allocatable(class: &Class) -> bool {
    class.info.def.kind == ClassKind::Class && class.info.available
}
