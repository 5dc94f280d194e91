//! `MTLCommandBuffer`: committed work, its state and what went wrong.

use crate::ffi::foundation::ns_error::{NSError, NsError};
use crate::ffi::objc::{Retained, autoreleasepool, objc_enum, objc_methods, objc_protocol};

objc_protocol!(
    /// A batch of GPU work.
    MTLCommandBuffer
);

// SAFETY: only what Metal allows from any thread is declared here: waiting for, and asking about, committed work.
// Encoding and committing go through MPSCommandBuffer.
unsafe impl Send for MTLCommandBuffer {}
// SAFETY: as above.
unsafe impl Sync for MTLCommandBuffer {}

/// A batch of GPU work, retained.
pub(crate) type CommandBuffer = Retained<MTLCommandBuffer>;

objc_enum! {
    /// How far a command buffer has got.
    enum CommandBufferStatus: u64 = "MTLCommandBufferStatus" {
        NotEnqueued = "MTLCommandBufferStatusNotEnqueued" 0,
        Enqueued = "MTLCommandBufferStatusEnqueued" 1,
        Committed = "MTLCommandBufferStatusCommitted" 2,
        Scheduled = "MTLCommandBufferStatusScheduled" 3,
        /// All results are in their buffers.
        Completed = "MTLCommandBufferStatusCompleted" 4,
        /// Stopped; the contents of its result buffers mean nothing.
        Error = "MTLCommandBufferStatusError" 5,
    }
}

objc_methods! {
    "MTLCommandBuffer.h";
    impl MTLCommandBuffer {
        /// How far it has got.
        instance fn status() -> CommandBufferStatus = "status", since (10, 11);

        instance fn error_object() -> Option<Retained<NSError>> = "error", since (10, 11);

        /// Submits the work. Once only, and by whoever encoded it (`MpsCommandBuffer::commit`).
        instance fn commit() = "commit", since (10, 11);

        instance fn wait() = "waitUntilCompleted", since (10, 11);
    }
}

impl MTLCommandBuffer {
    /// Blocks until the work has completed or failed. On a command buffer that is never committed this blocks for
    /// ever.
    pub(crate) fn wait_until_completed(&self) {
        debug_assert_ne!(self.status(), CommandBufferStatus::NotEnqueued, "waiting for work that nobody committed");
        autoreleasepool(|| self.wait())
    }

    /// Why the work failed; `None` while it has not.
    pub(crate) fn error(&self) -> Option<NsError> {
        autoreleasepool(|| self.error_object().map(|error| NsError::from(&*error)))
    }
}
