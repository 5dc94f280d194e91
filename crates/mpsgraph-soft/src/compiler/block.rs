//! Memory aligned to cache lines: the constants of a plan, and the scratch memory of runs.

use crate::kernels::span::{Span, SpanMut};

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "read and written through pointers")] [u8; 64]);

/// Zeroed bytes. The contents are reached through spans only.
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
        Self { lines: vec![Line([0; 64]); bytes.div_ceil(64)] }
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

    /// All of it, for reading while the block is not written.
    pub fn span(&self) -> Span {
        // SAFETY: the lines live as long as the block; the plan keeps it while a run uses the span, and nothing
        // writes a block that was only borrowed.
        unsafe { Span::new(self.lines.as_ptr().cast(), self.bytes()) }
    }

    /// All of it, for writing.
    pub fn span_mut(&mut self) -> SpanMut {
        // SAFETY: the lines live as long as the block; the exclusive borrow (and during a run, that one run has taken
        // it off the shelf) keeps other users away.
        unsafe { SpanMut::new(self.lines.as_mut_ptr().cast(), self.bytes()) }
    }
}
