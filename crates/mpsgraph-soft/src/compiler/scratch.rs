//! The memory in which plans run, shared by all of them: as many workspaces as plans ever ran at a time, each as large
//! as the largest plan that used it, that still exists, and that ran lately if it needs much.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use crate::brief_lock::{BriefLock, Held};
use crate::kernels::block::Block;
use crate::kernels::span::{Span, SpanMut};

/// Bytes that a workspace keeps if a plan needs them, however seldom that one runs.
const KEPT: usize = 64 << 20;
/// A plan has run lately if it was among so many last ones, or twice as many.
const LATELY: u32 = 256;

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
    /// The most that one of the last runs needed, and one of the [`LATELY`] before them.
    recent: [usize; 2],
    /// How many the last runs are.
    runs: u32,
}

/// The one that plans use.
pub static SHELF: Shelf = Shelf::new();

/// Gives the memory back that no run uses: somebody else has found none.
pub fn give_scratch_back() {
    SHELF.give_back();
}

/// Bytes of scratch memory that this process holds for plans.
pub fn scratch_held() -> usize {
    SHELF.content().bytes
}

impl Shelf {
    pub const fn new() -> Self {
        let needs = BTreeMap::new();
        Self(BriefLock::new(Content { free: Vec::new(), needs, bytes: 0, recent: [0; 2], runs: 0 }))
    }

    fn content(&self) -> Held<'_, Content> {
        self.0.lock()
    }

    /// Notes that a plan needs so many bytes, until the note is dropped.
    pub fn need(&'static self, bytes: usize) -> Need {
        *self.content().needs.entry(bytes).or_default() += 1;
        Need { shelf: self, bytes }
    }

    /// Panics if there is not enough memory, which fails the command buffer.
    fn take(&'static self, bytes: usize) -> Taken {
        let mut content = self.content();
        content.note_run(bytes);
        let mut workspace = content.free.pop().unwrap_or_default();
        let had = workspace.block.bytes();
        if had < bytes {
            content.bytes -= had;
            drop(content);
            // The old one goes first, so that both never exist at a time.
            workspace.block = Block::default();
            workspace.block = self.block(bytes);
            content = self.content();
            content.bytes += workspace.block.bytes();
        }
        drop(content);
        Taken { shelf: self, workspace }
    }

    fn block(&self, bytes: usize) -> Block {
        let again = || {
            self.give_back();
            Block::try_new(bytes)
        };
        let block = Block::try_new(bytes).or_else(again);
        block.unwrap_or_else(|| panic!("no memory for {bytes} bytes of inner values"))
    }

    /// Gives the memory back that no run uses.
    fn give_back(&self) {
        let mut content = self.content();
        let free = std::mem::take(&mut content.free);
        content.bytes -= free.iter().map(|workspace| workspace.block.bytes()).sum::<usize>();
        drop(content);
        drop(free);
    }
}

impl Content {
    fn note_run(&mut self, bytes: usize) {
        self.recent[0] = self.recent[0].max(bytes);
        self.runs += 1;
        if self.runs == LATELY {
            self.recent = [0, self.recent[0]];
            self.runs = 0;
        }
    }

    /// Lets go of blocks that are larger than any plan needs, or any that ran lately.
    fn trim(&mut self) -> Vec<Block> {
        let needed = self.needs.last_key_value().map_or(0, |(&bytes, _)| bytes);
        let lately = self.recent[0].max(self.recent[1]);
        let largest = Block::rounded(needed.min(lately.max(KEPT)));
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
