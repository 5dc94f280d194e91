//! [`This`]: the receiver of a message, for as long as it is answered.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;

use super::{Id, Strong};

/// The receiver of a message, which its sender keeps alive until the method returns. Not nil.
///
/// Only a message send makes one: the body of a method takes a `This<'_>` of any lifetime, so it cannot keep it. It
/// dereferences to [`Strong`], and so can be read as an owned reference, or cloned into one:
/// ```
/// # use mpsgraph_soft::objc::{Method, Sel, Strong, This, method0};
/// # use std::sync::Mutex;
/// static KEPT: Mutex<Option<Strong>> = Mutex::new(None);
/// extern "C-unwind" fn keep(this: This<'_>, _cmd: Sel) {
///     *KEPT.lock().unwrap() = Some(Strong::clone(&this));
/// }
/// static KEEP: Method = method0("keep", keep);
/// ```
/// A `This` cannot outlive the send, neither by a store
/// ```compile_fail,E0521
/// # use mpsgraph_soft::objc::{Method, Sel, Strong, This, method0};
/// # use std::sync::Mutex;
/// static KEPT: Mutex<Option<This<'static>>> = Mutex::new(None);
/// extern "C-unwind" fn keep(this: This<'_>, _cmd: Sel) {
///     *KEPT.lock().unwrap() = Some(this);
/// }
/// static KEEP: Method = method0("keep", keep);
/// ```
/// nor by a method that asks for more than the send gives:
/// ```compile_fail,E0308
/// # use mpsgraph_soft::objc::{Method, Sel, Strong, This, method0};
/// # use std::sync::Mutex;
/// static KEPT: Mutex<Option<This<'static>>> = Mutex::new(None);
/// extern "C-unwind" fn keep(this: This<'static>, _cmd: Sel) {
///     *KEPT.lock().unwrap() = Some(this);
/// }
/// static KEEP: Method = method0("keep", keep);
/// ```
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct This<'a>(Id, PhantomData<&'a Strong>);

impl<'a> This<'a> {
    pub(super) fn borrowing(owner: &'a Strong) -> Self {
        Self(owner.id(), PhantomData)
    }

    /// The payload, for as long as the message is answered. Panics, naming the class, when it has another type.
    #[track_caller]
    pub fn state<T: 'static>(self) -> &'a T {
        // SAFETY: the sender, or the owner that this was borrowed from, keeps the object alive during `'a`.
        unsafe { self.0.borrow_state() }
    }

    /// The payload; `None` when it has another type.
    #[track_caller]
    pub fn try_state<T: 'static>(self) -> Option<&'a T> {
        // SAFETY: as above.
        unsafe { self.0.try_borrow_state() }
    }
}

impl Deref for This<'_> {
    type Target = Strong;

    fn deref(&self) -> &Strong {
        // SAFETY: `Strong` is a transparent `Id`. It is only lent, so it never releases the reference, which someone
        // holds for as long as `self` exists.
        unsafe { &*ptr::from_ref(&self.0).cast() }
    }
}

impl From<This<'_>> for Id {
    fn from(this: This<'_>) -> Id {
        this.0
    }
}
