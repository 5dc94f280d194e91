//! How much has been compiled and run in this process; the counts only grow.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

static GRAPHS_COMPILED: AtomicU64 = AtomicU64::new(0);
static NODES_COMPILED: AtomicU64 = AtomicU64::new(0);
static OPERATIONS_COMPILED: AtomicU64 = AtomicU64::new(0);
static KERNELS_COMPILED: AtomicU64 = AtomicU64::new(0);
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

/// Graphs compiled to executables.
pub fn graphs_compiled() -> u64 {
    GRAPHS_COMPILED.load(Relaxed)
}

/// Nodes of the compiled graphs, including those that no target needed.
pub fn nodes_compiled() -> u64 {
    NODES_COMPILED.load(Relaxed)
}

/// Results of messages to the compiled graphs, other than placeholders and constants: what MPSGraph is asked to
/// compute, also where several nodes stand for one message here.
pub fn operations_compiled() -> u64 {
    OPERATIONS_COMPILED.load(Relaxed)
}

/// Steps of the compiled graphs' plans.
pub fn kernels_compiled() -> u64 {
    KERNELS_COMPILED.load(Relaxed)
}

/// Runs of executables that were encoded to a command buffer.
pub fn executions() -> u64 {
    EXECUTIONS.load(Relaxed)
}

pub(super) fn compiled(nodes: usize, operations: usize, kernels: usize) {
    GRAPHS_COMPILED.fetch_add(1, Relaxed);
    NODES_COMPILED.fetch_add(nodes as u64, Relaxed);
    OPERATIONS_COMPILED.fetch_add(operations as u64, Relaxed);
    KERNELS_COMPILED.fetch_add(kernels as u64, Relaxed);
}

pub(super) fn encoded() {
    EXECUTIONS.fetch_add(1, Relaxed);
}
