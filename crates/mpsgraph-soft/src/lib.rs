//! A software implementation of the Objective-C runtime functions, Metal, Metal Performance Shaders and MPSGraph
//! classes that a machine-learning backend for Apple GPUs sends messages to.
//!
//! [`symbols`] holds the C functions; everything else is reached through messages, as on a Mac. It differs from the
//! original in being strict: what Apple's frameworks answer by aborting, or by silently wrong results, panics here
//! with `-[Class selector]: reason`. [`objc`] is the runtime, [`foundation`], [`metal`], [`mps`] and [`mpsgraph`]
//! are the classes, [`ir`], [`compiler`] and [`kernels`] compute, and [`stats`] counts objects for leak tests.

pub mod classes;
pub mod compiler;
pub mod foundation;
pub mod ir;
pub mod kernels;
pub mod metal;
pub mod mps;
pub mod mpsgraph;
pub mod objc;
pub mod stats;
pub mod symbols;
