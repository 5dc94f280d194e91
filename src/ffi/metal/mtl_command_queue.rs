//! `MTLCommandQueue`: runs command buffers in the order of their commits.

use crate::ffi::objc::{Declaration, Retained, objc_protocol};

objc_protocol!(
    /// A queue of command buffers.
    MTLCommandQueue
);

// SAFETY: Metal documents command queues as usable from any thread.
unsafe impl Send for MTLCommandQueue {}
// SAFETY: as above.
unsafe impl Sync for MTLCommandQueue {}

/// A queue, retained.
pub(crate) type CommandQueue = Retained<MTLCommandQueue>;

/// Queues are only handed on, to `MPSCommandBuffer`.
pub(super) fn declarations() -> Vec<Declaration> {
    Vec::new()
}
