//! What all tests share: how a test begins, and how it sends messages.
//!
//! A test begins with [`rule`], which names the source of what it claims about Apple's classes, or with [`plain`].
//! Either gives it the process for itself, and an autorelease pool. A test that forgets it fails at its first message.

mod begin;
mod block;
mod send;

pub use begin::Source::{Assumed, Documented, Probed, Reported};
pub use begin::{KINDS, Source, Test, inside, plain, rule};
pub use block::{Block, Closure};
pub(crate) use send::msg;
pub use send::{
    all_devices, class, device, new, outcome, owned, passes_with, pooled, refused, selector, text, violation,
};
