//! `MTLCommandBuffer`: committed work, its state and what went wrong.

use crate::ffi::foundation::ns_error::{NSError, NsError};
use crate::ffi::objc::{Retained, autoreleasepool, objc_enum, objc_methods, objc_protocol};

objc_protocol!(
    /// A batch of GPU work.
    MTLCommandBuffer
);

// SAFETY: only what Metal allows from any thread is safe to call here: waiting for, and asking about, committed work.
// Encoding and committing go through MpsCommandBuffer.
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

        unsafe_instance fn commit_once() = "commit", since (10, 11);

        instance fn wait() = "waitUntilCompleted", since (10, 11);
    }
}

impl CommandBufferStatus {
    /// Whether the work has ended, well or not: its buffers are the host's again.
    pub(crate) fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Error => true,
            Self::NotEnqueued | Self::Enqueued | Self::Committed | Self::Scheduled => false,
        }
    }
}

impl MTLCommandBuffer {
    /// Submits the work.
    ///
    /// # Safety
    /// The caller has encoded the work, commits it once only, and keeps the claims on its buffers until it has ended.
    pub(in crate::ffi) unsafe fn commit(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.commit_once() }
    }

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

#[cfg(test)]
pub(super) fn exercise() {
    use crate::ffi::MpsCommandBuffer;

    let queue = crate::ffi::exercise::device().new_command_queue().expect("a queue");
    let work = MpsCommandBuffer::from_queue(&queue).commit();
    for root in work.roots() {
        root.wait_until_completed();
        assert_eq!(root.status(), CommandBufferStatus::Completed);
        assert_eq!(root.error(), None);
    }
}
