//! `MPSCommandBuffer`: what MPSGraph encodes into. It wraps a Metal command buffer and may commit that and go on with
//! another while encoding.

use smallvec::SmallVec;

use crate::ffi::metal::claim::{Access, Claims, Held};
use crate::ffi::metal::mtl_command_buffer::MTLCommandBuffer;
use crate::ffi::metal::mtl_command_queue::MTLCommandQueue;
use crate::ffi::metal::{CommandBuffer, CommandBufferStatus, CommandQueue, Work};
use crate::ffi::objc::{Retained, autoreleasepool, in_some_pool, objc_class, objc_methods};

objc_class!(
    /// A command buffer for MPSGraph.
    MPSCommandBuffer
);

// SAFETY: it has no ties to the thread that made it; it is not Sync, so one thread at a time encodes, as Metal asks.
unsafe impl Send for MPSCommandBuffer {}

/// A command buffer for MPSGraph, retained. Make a new one for each commit: it keeps MPSGraph's scratch memory until
/// it is released.
pub(crate) struct MpsCommandBuffer {
    object: Retained<MPSCommandBuffer>,
    /// The Metal command buffer that it began with.
    first: CommandBuffer,
    /// On what was encoded so far uses.
    claims: Held,
    /// The Metal command buffer that is being encoded into, if nothing was encoded since it was asked for.
    live: Option<CommandBuffer>,
}

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
        autoreleasepool(|| {
            let object = MPSCommandBuffer::from_command_queue(queue);
            let first = object.root();
            Self { object, live: None, first, claims: Held::new() }
        })
    }

    /// Submits what was encoded.
    pub(crate) fn commit(mut self) -> Work {
        let last = self.take_root();
        // SAFETY: taken by value, so once only; the claims of what was encoded go into the work, which keeps them until
        // the last command buffer of the queue's order has ended.
        in_some_pool(|| unsafe { last.commit() });
        let claims = std::mem::take(&mut self.claims);
        let roots = if last == self.first { SmallVec::from_iter([last]) } else { [self.first.clone(), last].into() };
        Work::new(roots, claims)
    }

    /// Calls `handler` once when the live command buffer, which is being encoded into now, has ended, with that. A thread
    /// of Metal's calls it, so it is short and waits for nothing.
    ///
    /// Encoding may commit that one and go on in another, which does not take the handler over.
    pub(crate) fn on_completed(&mut self, handler: impl Fn(&MTLCommandBuffer) + Send + 'static) {
        self.root().on_completed(handler);
    }

    /// What is encoded next accesses these buffers in this way.
    ///
    /// # Panics
    /// If the host accesses one of them in a way that excludes it.
    pub(in crate::ffi) fn claim<'a>(&mut self, buffers: impl Iterator<Item = &'a Claims>, access: Access) {
        buffers.for_each(|claims| self.claims.push(claims.claim(access)));
    }

    /// The Metal command buffer that is being encoded into now.
    fn root(&mut self) -> &CommandBuffer {
        let asked = || in_some_pool(|| self.object.root());
        self.live.get_or_insert_with(asked)
    }

    fn take_root(&mut self) -> CommandBuffer {
        self.live.take().unwrap_or_else(|| in_some_pool(|| self.object.root()))
    }

    /// For encoding.
    pub(in crate::ffi) fn object(&mut self) -> &MPSCommandBuffer {
        self.live = None;
        &self.object
    }
}

impl Drop for MpsCommandBuffer {
    fn drop(&mut self) {
        if self.claims.is_empty() {
            return; // committed, or nothing was encoded
        }
        let nothing_runs = self.take_root() == self.first && self.first.status() == CommandBufferStatus::NotEnqueued;
        if !nothing_runs {
            // Encoding has committed some of the work. An empty command buffer behind it on the queue ends after it,
            // and so do the claims, which go with its handler.
            let claims = std::mem::take(&mut self.claims);
            let mut behind = Self::from_queue(&autoreleasepool(|| self.first.command_queue()));
            behind.on_completed(move |_| _ = &claims);
            drop(behind.commit());
        }
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    let queue = crate::ffi::exercise::device().new_command_queue().expect("a queue");
    let mut commands = MpsCommandBuffer::from_queue(&queue);
    commands.object();
    assert_eq!(commands.take_root(), commands.first);
    let work = commands.commit();
    assert_eq!(work.roots().len(), 1);
}
