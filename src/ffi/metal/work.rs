//! Committed GPU work, and the claims on the buffers that it uses.

use smallvec::SmallVec;

use super::CommandBuffer;
use super::claim::Claim;

/// Committed work. Its claims on buffers end with it; dropping it waits until the work has ended.
pub(crate) struct Work {
    /// The live command buffers before and after encoding: encoding may commit the first and go on in another.
    roots: SmallVec<[CommandBuffer; 2]>,
    _claims: Vec<Claim>,
}

impl Work {
    /// The queue runs all command buffers of the work in order, `roots` are the first and the last of them, all are
    /// committed, and `claims` are on every buffer that they use.
    pub(in crate::ffi) fn new(roots: SmallVec<[CommandBuffer; 2]>, claims: Vec<Claim>) -> Self {
        Self { roots, _claims: claims }
    }

    /// The first and the last command buffer of the work, which may be the same one.
    pub(crate) fn roots(&self) -> &[CommandBuffer] {
        &self.roots
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // The queue's order makes the last one the last to end.
        if let Some(last) = self.roots.last()
            && !last.status().is_final()
        {
            last.wait_until_completed();
        }
    }
}
