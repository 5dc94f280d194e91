//! `MTLCommandBuffer`: committed work, its state and what went wrong.

use super::CommandQueue;
use crate::ffi::foundation::ns_error::{NSError, NsError};
use crate::ffi::objc::{OnceBlock, Retained, autoreleasepool, in_some_pool, objc_enum, objc_methods, objc_protocol};

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

        /// The queue that it was made by.
        instance fn command_queue() -> CommandQueue = "commandQueue", since (10, 11);

        instance fn add_completed_handler(handler: &OnceBlock<fn(&MTLCommandBuffer)>) = "addCompletedHandler:",
            since (10, 11);
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

    /// Whether the queue has the work, ended or not.
    fn is_committed(self) -> bool {
        match self {
            Self::NotEnqueued | Self::Enqueued => false,
            Self::Committed | Self::Scheduled | Self::Completed | Self::Error => true,
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

    /// Calls `handler` once when the work has ended, with this command buffer. A thread of Metal's calls it, before waits
    /// for this work return; so the handler is short and waits for nothing. It is dropped with the work, also if that is
    /// never committed.
    ///
    /// # Panics
    /// If the work is committed already: Metal asserts.
    pub(crate) fn on_completed(&self, handler: impl Fn(&Self) + Send + 'static) {
        assert!(!self.status().is_committed(), "a completed handler comes before the commit");
        let block = OnceBlock::<fn(&Self)>::new(handler);
        in_some_pool(|| self.add_completed_handler(&block));
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
    let (called, calls) = std::sync::mpsc::channel();
    let mut commands = MpsCommandBuffer::from_queue(&queue);
    commands.on_completed(move |ended| called.send((ended.status(), ended.error())).expect("the test listens"));
    let work = commands.commit();
    assert_eq!(work.roots()[0].command_queue(), queue);
    for root in work.roots() {
        root.wait_until_completed();
        assert_eq!(root.status(), CommandBufferStatus::Completed);
        assert_eq!(root.error(), None);
    }
    assert_eq!(calls.into_iter().collect::<Vec<_>>(), [(CommandBufferStatus::Completed, None)]);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::ffi::MpsCommandBuffer;
    use crate::ffi::exercise::device;

    #[test]
    fn all_handlers_are_called_and_a_panic_stays_in_its_handler() {
        let queue = device().new_command_queue().unwrap();
        let (called, calls) = mpsc::channel();
        let mut commands = MpsCommandBuffer::from_queue(&queue);
        for at in 0..3 {
            let called = called.clone();
            commands.on_completed(move |ended| {
                called.send((at, ended.status(), ended.error())).unwrap();
                panic!("in a handler, on purpose");
            });
        }
        drop(called);
        drop(commands.commit());
        let ended = (CommandBufferStatus::Completed, None);
        assert_eq!(calls.into_iter().collect::<Vec<_>>(), [0, 1, 2].map(|at| (at, ended.0, ended.1.clone())));
    }

    #[test]
    fn the_handler_of_work_that_is_never_committed_is_dropped() {
        let queue = device().new_command_queue().unwrap();
        let (called, calls) = mpsc::channel::<()>();
        let mut commands = MpsCommandBuffer::from_queue(&queue);
        commands.on_completed(move |_| called.send(()).unwrap());
        drop(commands);
        assert!(calls.recv().is_err());
    }

    #[test]
    #[should_panic(expected = "a completed handler comes before the commit")]
    fn a_handler_after_the_commit_panics() {
        let queue = device().new_command_queue().unwrap();
        let work = MpsCommandBuffer::from_queue(&queue).commit();
        work.roots()[0].on_completed(|_| ());
    }
}
