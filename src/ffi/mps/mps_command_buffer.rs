//! `MPSCommandBuffer`: what MPSGraph encodes into. It wraps a Metal command buffer and may commit that and go on with
//! another while encoding.

use crate::ffi::metal::mtl_command_queue::MTLCommandQueue;
use crate::ffi::metal::{CommandBuffer, CommandQueue};
use crate::ffi::objc::{Retained, autoreleasepool, objc_class, objc_methods};

objc_class!(
    /// A command buffer for MPSGraph.
    MPSCommandBuffer
);

// SAFETY: it has no ties to the thread that made it; it is not Sync, so one thread at a time encodes, as Metal asks.
unsafe impl Send for MPSCommandBuffer {}

/// A command buffer for MPSGraph, retained. Make a new one for each commit: it keeps MPSGraph's scratch memory until
/// it is released.
#[derive(Debug)]
pub(crate) struct MpsCommandBuffer(Retained<MPSCommandBuffer>);

// SAFETY: the only reference outside of autorelease pools, which do nothing but release; see MPSCommandBuffer.
unsafe impl Send for MpsCommandBuffer {}

objc_methods! {
    "MPSCore/MPSCommandBuffer.h";
    impl MPSCommandBuffer {
        class fn from_command_queue(queue: &MTLCommandQueue) -> Retained<MPSCommandBuffer>
            = "commandBufferFromCommandQueue:", since (10, 15);

        instance fn root() -> CommandBuffer = "rootCommandBuffer", since (10, 15);
    }
}

impl MpsCommandBuffer {
    /// A fresh command buffer of `queue`.
    pub(crate) fn from_queue(queue: &CommandQueue) -> Self {
        autoreleasepool(|| Self(MPSCommandBuffer::from_command_queue(queue)))
    }

    /// The Metal command buffer that is being encoded into now. Ask before [`commit`](Self::commit) and after
    /// encoding, to know what to wait for.
    pub(crate) fn root_command_buffer(&self) -> CommandBuffer {
        autoreleasepool(|| self.0.root())
    }

    /// Submits what was encoded and gives back the Metal command buffer to wait for.
    pub(crate) fn commit(self) -> CommandBuffer {
        let root = self.root_command_buffer();
        autoreleasepool(|| root.commit());
        root
    }

    pub(in crate::ffi) fn object(&self) -> &MPSCommandBuffer {
        &self.0
    }
}
