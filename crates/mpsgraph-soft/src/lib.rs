//! A software implementation of the Objective-C runtime functions, Metal, Metal Performance Shaders and MPSGraph
//! classes that a machine-learning backend for Apple GPUs sends messages to.
//!
//! [`symbols`] holds the C functions; everything else is reached through messages, as on a Mac. It is stricter than the
//! original: where Apple's frameworks abort or give wrong results silently, this crate panics with
//! `-[Class selector]: reason`. [`objc`] is the runtime, [`foundation`], [`metal`], [`mps`] and [`mpsgraph`] are the
//! classes, [`ir`], [`compiler`] and [`kernels`] compute, and [`stats`] counts objects for leak tests.
//! [`objc_getClass`](symbols::objc_getClass) has an example.

#![deny(unsafe_code)]
#![warn(clippy::allow_attributes_without_reason)]
#![warn(clippy::wildcard_enum_match_arm)]

mod brief_lock;
pub mod classes;
pub mod compiler;
#[expect(unsafe_code, reason = "lists and texts in C's memory, and methods that are called by their addresses")]
pub mod foundation;
mod ignore_poison;
pub mod ir;
pub mod kernels;
#[expect(unsafe_code, reason = "the memory of buffers and heaps")]
pub mod metal;
pub mod mps;
pub mod mpsgraph;
#[expect(unsafe_code, reason = "the runtime: objects, messages and blocks behind pointers")]
pub mod objc;
mod prefetch;
pub mod stats;
#[expect(unsafe_code, reason = "C functions")]
pub mod symbols;
