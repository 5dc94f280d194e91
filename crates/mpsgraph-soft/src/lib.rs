//! A software implementation of the Objective-C runtime functions, Metal, Metal Performance Shaders and MPSGraph
//! classes that a machine-learning backend for Apple GPUs sends messages to.
//!
//! [`symbols`] holds the C functions; everything else is reached through messages, as on a Mac. It is stricter than the
//! original: where Apple's frameworks abort or give wrong results silently, this crate panics with
//! `-[Class selector]: reason`. [`objc`] is the runtime, [`foundation`], [`metal`], [`mps`] and [`mpsgraph`] are the
//! classes, [`ir`], [`compiler`] and [`kernels`] compute, and [`stats`] counts objects for leak tests.
//!
//! ```
//! use std::ffi::{c_char, c_void};
//! use mpsgraph_soft::symbols::*;
//!
//! type Id = *mut c_void;
//! type Sel = *const c_void;
//! // SAFETY: the messages are sent with the methods' own types, inside an autorelease pool.
//! let length = unsafe {
//!     let pool = objc_autoreleasePoolPush();
//!     let make: extern "C-unwind" fn(Id, Sel, *const c_char) -> Id = std::mem::transmute(objc_msgSend as *const ());
//!     let length_of: extern "C-unwind" fn(Id, Sel) -> usize = std::mem::transmute(objc_msgSend as *const ());
//!     let class = objc_getClass(c"NSString".as_ptr());
//!     let string = make(class, sel_registerName(c"stringWithUTF8String:".as_ptr()), c"hello".as_ptr());
//!     let length = length_of(string, sel_registerName(c"length".as_ptr()));
//!     objc_autoreleasePoolPop(pool);
//!     length
//! };
//! assert_eq!(length, 5);
//! ```

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
pub mod stats;
#[expect(unsafe_code, reason = "C functions")]
pub mod symbols;
