//! [`Id`]: the address of an object, as C sees it.
//!
//! Messages get and give objects as such addresses, which nothing says to be alive. So what is safe here asks the
//! object's header only, which stays when the object is dead, and panics with the object's class and what is wrong.
//! What counts references or reaches the payload is unsafe, and is for [`Strong`](super::Strong) and
//! [`This`](super::This), which know that a reference is held.

use std::any::type_name;
use std::ffi::c_void;
use std::ptr;

use super::autorelease;
use super::class::Class;
use super::object::{Object, Released};
use super::payload::Payload;
use super::strong::Strong;

/// The address of an object or of a class; may be nil. It owns nothing and may outlive its object.
///
/// Every `Id` that is not nil is the address of a header, and headers are never freed. So the safe methods here read
/// headers only, never payloads; to get at the payload, own the object ([`Strong`](super::Strong)) or be its method
/// ([`This`](super::This)).
///
/// An `Id` gives no access to the payload:
/// ```compile_fail,E0599
/// # use mpsgraph_soft::{foundation::ns_object, objc::new_object};
/// let object = new_object(&ns_object::CLASS, 7_u64);
/// assert_eq!(object.id().state::<u64>(), &7);
/// ```
/// Its owner does:
/// ```
/// # use mpsgraph_soft::{foundation::ns_object, objc::new_object};
/// let object = new_object(&ns_object::CLASS, 7_u64);
/// assert_eq!(object.state::<u64>(), &7);
/// ```
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

    /// The object at an address that comes from C.
    ///
    /// # Safety
    /// The pointer is null, misaligned for an object (which every use reports), or the address of an object or class
    /// of this runtime, dead or alive.
    pub(crate) unsafe fn from_ptr(pointer: *mut c_void) -> Self {
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

    /// References held; 0 for nil and for dead objects.
    pub fn retain_count(self) -> usize {
        self.header().map_or(0, |header| header.references().max(0).cast_unsigned())
    }

    /// The object as an owner sees it, for as long as this address is borrowed.
    ///
    /// # Safety
    /// Somebody keeps the object alive meanwhile, as who sends a message does with its arguments.
    pub(crate) unsafe fn lent(&self) -> &Strong {
        // SAFETY: `Strong` is a transparent `Id`. It is only lent, so it never releases the reference, which somebody
        // holds, as the caller promises.
        unsafe { &*ptr::from_ref(self).cast() }
    }

    /// Adds a reference; panics, naming the class, when the object is dead.
    #[track_caller]
    pub(crate) fn retain(self) -> Id {
        if let Some(header) = self.header()
            && !header.try_retain()
        {
            panic!("-[{} retain]: the object at {:p} is deallocated", self.class_name(), self.0);
        }
        self
    }

    /// Gives up a reference; the last one deallocates the object.
    ///
    /// # Safety
    /// The caller owns the reference that it gives up. (A release too many is reported by a panic while the header is
    /// a zombie; before, it takes the reference of another owner.)
    ///
    /// ```compile_fail,E0133
    /// # use mpsgraph_soft::{foundation::ns_object, objc::new_object};
    /// let owned = new_object(&ns_object::CLASS, ()).into_owned();
    /// owned.release();
    /// ```
    /// ```
    /// # use mpsgraph_soft::{foundation::ns_object, objc::new_object};
    /// let owned = new_object(&ns_object::CLASS, ()).into_owned();
    /// // SAFETY: `into_owned` gave us the reference.
    /// unsafe { owned.release() };
    /// assert_eq!(owned.retain_count(), 0);
    /// ```
    #[track_caller]
    pub unsafe fn release(self) {
        let Some(header) = self.header() else { return };
        // SAFETY: the caller owns the reference; the last one is followed by `deallocate`.
        match unsafe { header.release() } {
            Released::Alive => (),
            // SAFETY: as `Released::Last` says.
            Released::Last => unsafe { header.deallocate() },
            Released::Dead => {
                panic!("-[{} release]: over-release, the object at {:p} is deallocated", self.class_name(), self.0)
            }
        }
    }

    /// Gives a reference to the innermost autorelease pool of this thread.
    ///
    /// # Safety
    /// The caller owns the reference that it gives away.
    #[track_caller]
    pub unsafe fn autorelease(self) -> Id {
        if let Some(header) = self.header() {
            if header.class().dead {
                panic!("-[{} autorelease]: the object at {:p} is deallocated", self.class_name(), self.0);
            }
            // SAFETY: the caller gives its reference away.
            unsafe { autorelease::add(self) };
        }
        self
    }

    /// The payload. Panics, naming the class, when this is nil, dead, or holds another type.
    ///
    /// # Safety
    /// A reference to the object is held during `'a`.
    #[track_caller]
    pub(super) unsafe fn borrow_state<'a, T: 'static>(self) -> &'a T {
        // SAFETY: as the caller promises.
        match unsafe { self.payload() } {
            Some(value) => value,
            None => self.wrong_state(type_name::<T>()),
        }
    }

    /// The payload; `None` when this is nil or holds another type. A dead object still panics.
    ///
    /// # Safety
    /// As for [`Id::borrow_state`].
    #[track_caller]
    pub(super) unsafe fn try_borrow_state<'a, T: 'static>(self) -> Option<&'a T> {
        // SAFETY: as the caller promises.
        let value = unsafe { self.payload() };
        if value.is_none() && self.class().is_some_and(|class| class.dead) {
            self.wrong_state(type_name::<T>());
        }
        value
    }

    /// # Safety
    /// As for [`Id::borrow_state`].
    #[inline]
    #[track_caller]
    unsafe fn payload<'a, T: 'static>(self) -> Option<&'a T> {
        let payload = self.header()?.payload();
        if payload.is_null() {
            return None;
        }
        // SAFETY: a payload, once there, is dropped after the last reference only, and one is held during `'a`.
        unsafe { Payload::value(payload) }
    }

    #[cold]
    #[track_caller]
    fn wrong_state(self, expected: &str) -> ! {
        let (name, address) = (self.class_name(), self.0);
        let Some(header) = self.header() else { panic!("nil where an object that holds {expected} is needed") };
        if header.class().dead {
            panic!("{name} {address:p} is deallocated, but something still refers to it");
        }
        // SAFETY: a payload that is not null is a live box, because the caller holds a reference.
        match unsafe { header.payload().as_ref() } {
            None => panic!("{name} {address:p} was allocated but not initialised"),
            Some(payload) => panic!("{name} {address:p} holds {}, not {expected}", payload.type_name()),
        }
    }
}
