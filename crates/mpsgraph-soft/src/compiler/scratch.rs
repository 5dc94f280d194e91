//! The memory in which plans run, shared by all of them: as many workspaces as plans ever ran at a time, each as large
//! as the largest plan that used it and that still exists.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use crate::brief_lock::{BriefLock, Held};
use crate::kernels::block::Block;
use crate::kernels::span::{Span, SpanMut};

/// What one run works in. After a step that panicked, the next run reads nothing of what the step left behind.
#[derive(Debug, Default)]
pub struct Workspace {
    pub block: Block,
    /// Of the run.
    pub inputs: Vec<Span>,
    pub outputs: Vec<SpanMut>,
    /// Operands and outputs of the step that runs, kept so that running allocates nothing.
    pub read: Vec<Span>,
    pub write: Vec<SpanMut>,
}

/// Workspaces that no run uses, and how much the plans need.
#[derive(Debug)]
pub struct Shelf(BriefLock<Content>);

#[derive(Debug)]
struct Content {
    free: Vec<Workspace>,
    /// How many plans need how many bytes.
    needs: BTreeMap<usize, usize>,
    /// Bytes of all workspaces, also of those that runs use.
    bytes: usize,
}

/// The one that plans use.
pub static SHELF: Shelf = Shelf::new();

/// Bytes of scratch memory that this process holds for plans.
pub fn scratch_held() -> usize {
    SHELF.content().bytes
}

impl Shelf {
    pub const fn new() -> Self {
        Self(BriefLock::new(Content { free: Vec::new(), needs: BTreeMap::new(), bytes: 0 }))
    }

    fn content(&self) -> Held<'_, Content> {
        self.0.lock()
    }

    /// Notes that a plan needs so many bytes, until the note is dropped.
    pub fn need(&'static self, bytes: usize) -> Need {
        *self.content().needs.entry(bytes).or_default() += 1;
        Need { shelf: self, bytes }
    }

    fn take(&'static self, bytes: usize) -> Taken {
        let mut content = self.content();
        let mut workspace = content.free.pop().unwrap_or_default();
        let had = workspace.block.bytes();
        if had < bytes {
            drop(content);
            // The old one goes first, so that both never exist at a time.
            workspace.block = Block::default();
            workspace.block = Block::new(bytes);
            content = self.content();
            content.bytes += workspace.block.bytes() - had;
        }
        drop(content);
        Taken { shelf: self, workspace }
    }
}

impl Content {
    /// Lets go of blocks that are larger than any plan needs.
    fn trim(&mut self) -> Vec<Block> {
        let largest = self.needs.last_key_value().map_or(0, |(&bytes, _)| Block::rounded(bytes));
        let too_large = self.free.iter_mut().filter(|workspace| workspace.block.bytes() > largest);
        let blocks: Vec<Block> = too_large.map(|workspace| std::mem::take(&mut workspace.block)).collect();
        self.bytes -= blocks.iter().map(Block::bytes).sum::<usize>();
        blocks
    }
}

/// That a plan needs scratch memory.
#[derive(Debug)]
pub struct Need {
    shelf: &'static Shelf,
    bytes: usize,
}

impl Need {
    /// How much.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The memory, for one run.
    pub fn take(&self) -> Taken {
        self.shelf.take(self.bytes)
    }
}

impl Drop for Need {
    fn drop(&mut self) {
        let mut content = self.shelf.content();
        let count = content.needs.get_mut(&self.bytes).expect("noted when this was made");
        *count -= 1;
        let blocks = if *count == 0 {
            content.needs.remove(&self.bytes);
            content.trim()
        } else {
            Vec::new()
        };
        drop(content);
        // Unlocked: giving much memory back takes its time.
        drop(blocks);
    }
}

/// A workspace that one run uses.
#[derive(Debug)]
pub struct Taken {
    shelf: &'static Shelf,
    workspace: Workspace,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut content = self.shelf.content();
        content.free.push(std::mem::take(&mut self.workspace));
        // The plan that needed this much may be gone meanwhile.
        let blocks = content.trim();
        drop(content);
        drop(blocks);
    }
}

impl Deref for Taken {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.workspace
    }
}

impl DerefMut for Taken {
    fn deref_mut(&mut self) -> &mut Workspace {
        &mut self.workspace
    }
}

#[cfg(test)]
mod tests;
