//! The Objective-C runtime: classes that are data, objects with a Rust payload, and message sends.
//!
//! A class file exposes one `pub static CLASS: ClassDef` ([`define`]); its method bodies are plain `extern "C-unwind"`
//! functions over types that implement [`Encode`]. An object ([`Id`]) is a header from a slab plus a payload of any
//! Rust type ([`object`]); a deallocated header stays a zombie, so misuse is reported by name. Who may read a payload
//! is in the types: [`Id`] is an address, [`Strong`] an owner, [`This`] the receiver of a message. `msg_send` is the
//! assembly that callers reach through [`crate::symbols`].

pub(crate) mod autorelease;
pub(crate) mod block;
pub(crate) mod class;
pub(crate) mod define;
mod encode;
mod id;
pub(crate) mod method;
pub(crate) mod msg_send;
pub(crate) mod object;
mod payload;
pub(crate) mod registry;
pub(crate) mod selector;
pub(crate) mod slab;
mod strong;
#[cfg(test)]
mod tests;
mod this;
pub mod version;
pub mod violation;

pub use crate::{impl_encode, violation};
pub use autorelease::pool;
pub use block::{Block, RawBlock};
pub use class::ClassId;
pub use define::{
    ClassDef, ClassKind, MacOs, Method, method0, method1, method2, method3, method4, method5, method6, method7,
    method8, method9, method10, method11, method12, method13, method14,
};
pub use encode::Encode;
pub use id::Id;
pub use object::new_object;
pub use registry::register;
pub use selector::Sel;
pub use strong::Strong;
pub use this::This;
