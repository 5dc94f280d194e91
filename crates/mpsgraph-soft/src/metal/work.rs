//! What is encoded on a command buffer, with the buffers that it uses.

use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

use super::command_buffer_error::CommandBufferError;
use super::in_use::Access;
use super::mtl_buffer::Buffer;
use crate::compiler::Plan;
use crate::objc::Strong;

/// `MTLBuffer`s that work uses.
pub(crate) type Buffers = SmallVec<[Strong; 4]>;

/// A function that is encoded.
pub type Function = Box<dyn FnOnce() + Send>;

/// Something encoded.
pub(crate) enum Work {
    /// A compiled graph. Its inputs are what is read, in that order, and its outputs what is written.
    Plan(Arc<Plan>),
    Function(Function),
}

/// Work with the buffers that it uses.
pub(crate) struct Piece {
    /// Until it runs.
    work: Option<Work>,
    reads: Buffers,
    writes: Buffers,
}

impl Piece {
    pub fn new(work: Work, reads: Buffers, writes: Buffers) -> Self {
        Self { work: Some(work), reads, writes }
    }

    /// A function with the same buffers.
    pub fn with(&self, function: Function) -> Self {
        Self::new(Work::Function(function), self.reads.clone(), self.writes.clone())
    }

    pub fn reads(&self) -> &[Strong] {
        &self.reads
    }

    pub fn writes(&self) -> &[Strong] {
        &self.writes
    }

    fn buffers(&self) -> impl Iterator<Item = (&Strong, Access)> {
        let reads = self.reads().iter().map(|buffer| (buffer, Access::Read));
        reads.chain(self.writes().iter().map(|buffer| (buffer, Access::Write)))
    }

    /// Runs the work. The command buffer has been committed, and its queue has come to it.
    pub fn run(&mut self) {
        match self.work.take() {
            Some(Work::Plan(plan)) => {
                let inputs = std::iter::zip(self.reads(), plan.feeds())
                    // SAFETY: this piece holds the buffer until the work has run; a host program that wrote it
                    // meanwhile would break Metal's rules.
                    .map(|(buffer, ty)| unsafe { buffer.state::<Buffer>().span() }.part(0, ty.bytes()));
                let outputs = std::iter::zip(self.writes(), plan.targets())
                    // SAFETY: as above; nobody writes the buffer twice (`mtl_buffer::aliased`).
                    .map(|(buffer, ty)| unsafe { buffer.state::<Buffer>().span_mut() }.split_at(ty.bytes()).0);
                plan.run(inputs, outputs);
            }
            Some(Work::Function(function)) => function(),
            None => (),
        }
    }
}

/// Work in the order of encoding.
#[derive(Default)]
pub(crate) struct Recording {
    pieces: SmallVec<[Piece; 1]>,
    expected: Duration,
}

impl Recording {
    /// Appends work that is expected to take so long; what nobody knows takes for ever.
    pub fn push(&mut self, piece: Piece, expected: Duration) {
        self.expected = self.expected.saturating_add(expected);
        self.pieces.push(piece);
    }

    /// How long all is expected to take.
    pub fn expected(&self) -> Duration {
        self.expected
    }

    fn buffers(&self) -> impl Iterator<Item = (&Strong, Access)> {
        self.pieces.iter().flat_map(Piece::buffers)
    }

    /// Begins the use of every buffer by work on `queue`. An error, when a use is not allowed, leaves everything as it
    /// was.
    pub fn begin(&self, queue: usize) -> Result<(), &'static str> {
        for (begun, (buffer, access)) in self.buffers().enumerate() {
            if let Err(reason) = buffer.state::<Buffer>().begin_use(access, queue) {
                for (buffer, access) in self.buffers().take(begun) {
                    // Nothing ran, so it does not matter what the CPU did meanwhile.
                    let _ = buffer.state::<Buffer>().end_use(access);
                }
                return Err(reason);
            }
        }
        Ok(())
    }

    /// Runs one piece after the other.
    pub fn run(&mut self) {
        self.pieces.iter_mut().for_each(Piece::run);
    }

    /// Ends the use of every buffer and releases it, also when one of them reports an error.
    pub fn settle(self) -> Result<(), CommandBufferError> {
        let mut outcome = Ok(());
        for (buffer, access) in self.buffers() {
            outcome = outcome.and(buffer.state::<Buffer>().end_use(access));
        }
        outcome.map_err(|text| CommandBufferError::internal(format!("-[MTLBuffer contents]: {text}")))
    }
}
