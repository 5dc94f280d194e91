//! The runtime as a client sees it: C functions and messages only.
//!
//! `messages` is the client's side of a send; the other files are tests, by topic. Test classes are registered under
//! names of their own, so that counting their live objects does not race with other tests in the process.

pub mod arguments;
pub mod foundation;
pub mod introspection;
pub mod lifetimes;
pub mod messages;
pub mod misuse;
pub mod systems;
pub mod threads;
