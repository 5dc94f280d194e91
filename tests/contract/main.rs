//! What this crate and `mpsgraph-soft` say about Apple's interfaces, against tables of facts (`apple/README.md`), and
//! against the methods of the system that the test runs on. And which default methods of Burn's traits this backend
//! keeps, and why.
//!
//! A selector, encoding, owner, version, constant or class that Apple does not have fails here, on any system.

mod declarations;
mod defaults;
mod running_system;
#[cfg(soft_runtime)]
mod soft;
#[cfg_attr(not(soft_runtime), expect(dead_code, reason = "some is asked about the software runtime only"))]
mod tables;
