//! The Objective-C runtime as typed Rust: what an object, a class and a selector are, how messages are declared and
//! sent, and who owns the results.
//!
//! A header's file declares its methods with [`objc_methods!`] (or `graph_methods!`); each row becomes a typed Rust
//! method and a [`Declaration`], so that tests can hold every row against Apple's own tables.

mod autorelease;
mod block;
mod class;
mod constants;
mod declaration;
mod declare;
mod encode;
mod retained;
mod send;
mod verify;
#[cfg(test)]
mod warm_send;

pub(crate) use autorelease::{autoreleasepool, in_autoreleasepool, in_some_pool};
pub(crate) use block::OnceBlock;
pub use class::Kind;
pub(crate) use class::{ClassType, Message, find_class, objc_class, objc_protocol};
pub(crate) use constants::objc_enum;
pub(crate) use declaration::Parameter;
pub use declaration::{Constant, Declaration};
pub(crate) use declare::{graph_methods, headers, objc_methods};
#[doc(hidden)]
pub(crate) use declare::{objc_argument_type, objc_kind, objc_method, objc_nil, objc_return_type, objc_tensor_return};
pub(crate) use encode::{Encode, impl_encode};
pub(crate) use retained::Retained;
#[cfg(test)]
pub(crate) use send::sent;
pub(crate) use send::{Argument, CallSite, Return, Unused, send};
pub(super) use verify::declaration as verify_declaration;
pub(crate) use verify::responds;
pub use verify::{Mismatch, MismatchReason};

/// An Objective-C object or class of any kind; only ever behind a pointer.
#[repr(C)]
pub(crate) struct Object {
    _opaque: [u8; 0],
}

/// A registered selector. The runtime never frees one.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Selector(pub(super) *const std::ffi::c_void);
