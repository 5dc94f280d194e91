//! Message sends: assembly per architecture, and what it jumps to when no method answers.
//!
//! The assembly uses scratch registers only, so every argument (integer, float, stack, the hidden result address)
//! reaches the method as the caller left it, and the method returns directly to the caller. There is no slow path:
//! tables are complete ([`super::class`]), so a miss jumps to `unanswered`, which panics in the method's place and
//! unwinds into the caller.

#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
compile_error!("mpsgraph-soft is for x86-64 and AArch64: its objc_msgSend is assembly");

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::objc_msgSend;
#[cfg(target_arch = "x86_64")]
pub use x86_64::{objc_msgSend, objc_msgSend_stret};

use super::class::{Class, ClassId};
use super::define::Imp;
use super::registry::since;
use super::version::macos;
use super::{Id, Sel};
use crate::violation;

/// The receiver does not answer the selector: says why.
#[cold]
pub(crate) extern "C-unwind" fn unanswered(this: Id, cmd: Sel) -> ! {
    if !this.is_aligned() {
        panic!("message `{}` to {:p}, which is not the address of an object", cmd.name(), this.as_ptr());
    }
    let class = this.class().expect("messages to nil are answered before");
    if class.dead {
        violation!(this, cmd, "message to the deallocated object at {:p}", this.as_ptr());
    }
    if let Some((major, minor)) = first_macos(class, cmd) {
        let (have, have_minor) = macos();
        violation!(this, cmd, "needs macOS {major}.{minor}; the configured system is {have}.{have_minor}");
    }
    let other_side = if class.info.is_meta {
        // SAFETY: its class is a metaclass, so the object is a class.
        unsafe { ClassId::from_ptr(this.as_ptr()) }.class()
    } else {
        Some(class.header.class())
    };
    if other_side.is_some_and(|class| class.lookup(cmd).is_some()) {
        let kind = if class.info.is_meta { "an instance" } else { "a class" };
        violation!(this, cmd, "unrecognized selector; {kind} method has this name");
    }
    violation!(this, cmd, "unrecognized selector")
}

/// The first macOS with a method that the class lacks in the configured one.
fn first_macos(class: &'static Class, cmd: Sel) -> Option<(u16, u16)> {
    class.ancestry().find_map(|class| {
        let def = class.info.def;
        let own = if class.info.is_meta { def.class } else { def.instance };
        own.iter().find(|method| method.selector == cmd.name()).map(|method| since(def, method))
    })
}

/// `objc_msgSend_stret` to nil: the result has a size that only the caller knows, and Apple's runtime leaves it
/// unwritten.
#[cfg(target_arch = "x86_64")]
#[cold]
pub(crate) extern "C-unwind" fn unanswered_struct(_result: *mut u8, this: Id, cmd: Sel) -> ! {
    if this.is_nil() {
        violation!(this, cmd, "a message that returns a struct was sent to nil; the struct would be left unwritten");
    }
    unanswered(this, cmd)
}

/// The function that answers a message to an object that is not nil; panics as the send would.
pub(crate) fn answer(this: Id, cmd: Sel) -> Imp {
    match this.class().and_then(|class| class.lookup(cmd)) {
        Some(imp) => imp,
        None => unanswered(this, cmd),
    }
}
