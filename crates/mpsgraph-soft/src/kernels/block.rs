//! Memory aligned to cache lines: the constants of a plan, and the scratch memory of runs. What is in it is reached
//! through [`Memory`](super::storage::Memory) only.

#![expect(unsafe_code, reason = "memory as spans")]

use super::span::{Span, SpanMut};
use bytemuck::{Pod, Zeroable};
use std::alloc::{Layout, alloc_zeroed};
use std::ptr::NonNull;

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line([u8; 64]);

// SAFETY: it is an array of bytes as large as it is aligned, so there is nothing between or behind them.
unsafe impl Zeroable for Line {}
// SAFETY: as above.
unsafe impl Pod for Line {}

impl Line {
    pub const ZEROS: Self = Self([0; 64]);
}

/// Bytes, zeros at first.
#[derive(Default)]
pub struct Block {
    lines: Vec<Line>,
}

// Not derived, because the contents would not help a reader.
impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({} bytes)", self.bytes())
    }
}

impl Block {
    /// A block of at least `bytes` bytes.
    pub fn new(bytes: usize) -> Self {
        Self { lines: vec![Line::ZEROS; bytes.div_ceil(64)] }
    }

    /// Likewise; `None` if there is not enough memory.
    pub fn try_new(bytes: usize) -> Option<Self> {
        let count = bytes.div_ceil(64);
        if count == 0 {
            return Some(Self::default());
        }
        let layout = Layout::array::<Line>(count).ok()?;
        // SAFETY: the layout is of at least one line.
        let lines = NonNull::new(unsafe { alloc_zeroed(layout) })?.cast::<Line>();
        // SAFETY: the global allocator has given the memory of exactly so many lines, and zeros are lines.
        Some(Self { lines: unsafe { Vec::from_raw_parts(lines.as_ptr(), count, count) } })
    }

    /// How many bytes a block of at least `bytes` bytes has.
    pub fn rounded(bytes: usize) -> usize {
        bytes.next_multiple_of(64)
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> usize {
        self.lines.len() * 64
    }

    /// A block that holds these pieces, and where each starts.
    pub fn of(pieces: &[&[u8]]) -> (Self, Vec<usize>) {
        let mut total = 0usize;
        let mut offsets = Vec::with_capacity(pieces.len());
        for piece in pieces {
            offsets.push(total);
            total = (total + piece.len()).next_multiple_of(64);
        }
        let mut block = Self::new(total);
        let mut all = block.span_mut();
        for (piece, &offset) in pieces.iter().zip(&offsets) {
            all.slice::<u8>()[offset..offset + piece.len()].copy_from_slice(piece);
        }
        (block, offsets)
    }

    /// All of it, for reading while the block is borrowed.
    pub(super) fn span(&self) -> Span {
        // SAFETY: the lines live as long as the block, which a `Memory` borrows for as long as it gives out the span's
        // parts; nothing writes a block that was only borrowed.
        unsafe { Span::new(self.lines.as_ptr().cast(), self.bytes()) }
    }

    /// All of it, for writing while the block is borrowed.
    pub(super) fn span_mut(&mut self) -> SpanMut {
        // SAFETY: as for `span`; the exclusive borrow keeps other users away.
        unsafe { SpanMut::new(self.lines.as_mut_ptr().cast(), self.bytes()) }
    }
}

/// Calls `run` with copies of the inputs and with memory for outputs of these sizes, and returns what it has written.
/// Each begins 8 bytes behind the start of a cache line.
#[cfg(test)]
pub fn with_memory(inputs: &[&[u8]], outputs: &[usize], run: impl FnOnce(&[Span], &mut [SpanMut])) -> Vec<Vec<u8>> {
    let block = |bytes: usize| Block::new(8 + bytes);
    let span = |block: &mut Block, bytes: usize| block.span_mut().part(8, bytes);
    let mut read: Vec<Block> = inputs.iter().map(|bytes| block(bytes.len())).collect();
    for (block, bytes) in read.iter_mut().zip(inputs) {
        span(block, bytes.len()).slice().copy_from_slice(bytes);
    }
    let mut written: Vec<Block> = outputs.iter().map(|&bytes| block(bytes)).collect();
    let mut spans = || written.iter_mut().zip(outputs).map(|(block, &bytes)| span(block, bytes)).collect::<Vec<_>>();
    let inputs = read.iter().zip(inputs).map(|(block, bytes)| block.span().part(8, bytes.len())).collect::<Vec<_>>();
    run(&inputs, &mut spans());
    spans().iter_mut().map(|span| span.slice().to_vec()).collect()
}
