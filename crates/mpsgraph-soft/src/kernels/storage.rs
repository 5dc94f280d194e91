//! The memory that the steps of a plan work on, each piece of it by a name. Plans are made in `compiler`, but it
//! forbids `unsafe`, which this needs.
//!
//! Inputs and outputs come from who runs the plan; constants and intermediate results are pieces of two blocks. A
//! [`Layout`] is made only if no step writes what it reads, or two results to the same memory, so a [`Memory`] may hand
//! out the spans of any one step.

#![expect(unsafe_code, reason = "a piece of memory for the step that writes it")]

use super::block::Block;
use super::span::{Span, SpanMut};
use std::fmt;

/// A piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Storage {
    /// An input of the run.
    Input(usize),
    /// An output of the run.
    Output(usize),
    /// A piece of the plan's constants.
    Constant(usize),
    /// An intermediate result.
    Scratch(usize),
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Storage::Input(at) => write!(f, "in{at}"),
            Storage::Output(at) => write!(f, "out{at}"),
            Storage::Constant(at) => write!(f, "const{at}"),
            Storage::Scratch(at) => write!(f, "t{at}"),
        }
    }
}

/// Part of a block, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub offset: usize,
    pub bytes: usize,
}

/// What a step touches at the same time: all of it is in different memory, except that it may read one piece twice.
#[derive(Debug)]
pub struct Access {
    pub reads: Vec<Storage>,
    pub writes: Vec<Storage>,
}

/// The constants of a plan, and where its intermediate results are in the scratch memory of a run.
#[derive(Debug)]
pub struct Layout {
    constants: Block,
    constant_pieces: Vec<Piece>,
    scratch_pieces: Vec<Piece>,
}

impl Layout {
    /// Panics if a step writes to a constant or an input, or to memory that it also touches in another way.
    pub fn new(constants: &[Vec<u8>], scratch_pieces: Vec<Piece>, steps: impl IntoIterator<Item = Access>) -> Self {
        let contents: Vec<&[u8]> = constants.iter().map(Vec::as_slice).collect();
        let (block, offsets) = Block::of(&contents);
        let piece = |(offset, content): (usize, &Vec<u8>)| Piece { offset, bytes: content.len() };
        let constant_pieces = offsets.into_iter().zip(constants).map(piece).collect();
        let layout = Self { constants: block, constant_pieces, scratch_pieces };
        for access in steps {
            layout.check(&access);
        }
        layout
    }

    /// In an order in which memory that overlaps is neighbours: a step may be a loop with thousands of results.
    fn check(&self, Access { reads, writes }: &Access) {
        let mut written: Vec<Place> = writes.iter().map(|&to| self.place(to)).collect();
        written.sort_unstable();
        for at in &written {
            assert!(matches!(at.name, Storage::Output(_) | Storage::Scratch(_)), "{} is read only", at.name);
        }
        for pair in written.windows(2) {
            pair[0].check_is_apart_from(&pair[1]);
        }
        for read in reads.iter().map(|&from| self.place(from)) {
            let before = written.partition_point(|to| (to.block, to.start) < (read.block, read.end));
            // What is written does not overlap, so of that which begins before the end the last one reaches farthest.
            if let Some(to) = written[..before].last() {
                to.check_is_apart_from(&read);
            }
        }
    }

    /// Inputs and outputs are blocks by themselves, which do not overlap, as who runs the plan promises.
    fn place(&self, name: Storage) -> Place {
        let whole = |block| Place { block, start: 0, end: 1, name };
        match name {
            Storage::Scratch(at) => {
                let Piece { offset, bytes } = self.scratch_pieces[at];
                Place { block: None, start: offset, end: offset + bytes, name }
            }
            Storage::Input(_) | Storage::Output(_) | Storage::Constant(_) => whole(Some(name)),
        }
    }
}

/// Where a name's memory is: bytes of the scratch memory, or of a block of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    block: Option<Storage>,
    start: usize,
    end: usize,
    name: Storage,
}

impl Place {
    fn check_is_apart_from(&self, other: &Place) {
        let overlaps = self.block == other.block && self.start < other.end && other.start < self.end;
        assert!(!overlaps, "a step writes {}, which overlaps its {}", self.name, other.name);
    }
}

/// The memory of one run, in which its steps run one after the other.
#[derive(Debug)]
pub struct Memory<'a> {
    layout: &'a Layout,
    inputs: &'a [Span],
    /// Borrowed by this alone.
    outputs: &'a [SpanMut],
    scratch: SpanMut,
}

impl<'a> Memory<'a> {
    /// The memory of a run that has `scratch` for itself.
    pub fn new(layout: &'a Layout, inputs: &'a [Span], outputs: &'a mut [SpanMut], scratch: &'a mut Block) -> Self {
        Self { layout, inputs, outputs, scratch: scratch.span_mut() }
    }

    /// What the step that runs reads.
    pub fn read(&self, storage: Storage) -> Span {
        let part = |block: Span, piece: Piece| block.part(piece.offset, piece.bytes);
        // SAFETY: who made the span for writing promised live and initialised memory; what a step reads, no other
        // part of it writes (checked by `Layout::new`), and steps run one after the other.
        let to_read = |span: &SpanMut| unsafe { Span::new(span.as_ptr(), span.len()) };
        match storage {
            Storage::Input(at) => self.inputs[at],
            Storage::Output(at) => to_read(&self.outputs[at]),
            Storage::Constant(at) => part(self.layout.constants.span(), self.layout.constant_pieces[at]),
            Storage::Scratch(at) => part(to_read(&self.scratch), self.layout.scratch_pieces[at]),
        }
    }

    /// What the step that runs writes. Tasks of one step may each ask for it, if each touches a part of its own.
    pub fn write(&self, storage: Storage) -> SpanMut {
        assert!(matches!(storage, Storage::Output(_) | Storage::Scratch(_)), "{storage} is read only");
        let span = self.read(storage);
        // SAFETY: the memory comes from a `SpanMut` (asserted above), and nothing else touches it while the step runs
        // (checked by `Layout::new`); of the tasks of a step `compiler::rows` gives each a part of its own.
        unsafe { SpanMut::new(span.as_ptr().cast_mut(), span.len()) }
    }
}

#[cfg(test)]
mod tests;
