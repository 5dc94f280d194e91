//! What mpsgraph-soft does and refuses, as messages see it. These tests are its specification.
//!
//! `runtime` has the runtime and Foundation, `metal` buffers and command buffers, `graph` MPSGraph, and `rules` counts
//! the sources of the rules. `support` is how tests begin and send messages.

mod graph;
mod metal;
mod rules;
mod runtime;
mod support;
