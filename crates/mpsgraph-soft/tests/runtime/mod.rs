//! The runtime as a client sees it: C functions and messages only.
//!
//! `messages` is the client's side of a send; the other files are tests, by topic.

mod arguments;
mod foundation;
mod introspection;
mod lifetimes;
mod messages;
mod misuse;
mod soundness;
mod systems;
mod threads;
