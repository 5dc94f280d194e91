//! `MTLCommandQueue`: runs command buffers in the order of their commits.

use crate::ffi::objc::{Retained, objc_protocol};

objc_protocol!(
    /// A queue of command buffers.
    MTLCommandQueue
);

// SAFETY: Metal documents command queues as usable from any thread.
unsafe impl Send for MTLCommandQueue {}
// SAFETY: as above.
unsafe impl Sync for MTLCommandQueue {}

/// A queue, retained. It is only handed on, to `MPSCommandBuffer`: no message is declared here.
pub(crate) type CommandQueue = Retained<MTLCommandQueue>;
