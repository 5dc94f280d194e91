//! Operands that are one number for a whole tile, such as the mean of a row or the rate of an optimizer.
//!
//! Where only instructions read them that can stay at a block of copies ([`stepped`]), no tile of copies is made, which
//! would take as long as an operation.

use super::fused_loop::{Fetch, Instruction, Load, Run};
use super::pairs::Role;
use super::stepped::{BLOCK, Source};

/// Copies of a number.
pub type Block = [f32; BLOCK];

/// Makes the loads [`Fetch::Number`] for which blocks are enough, and returns how many; `in_rows` tells whether tiles
/// stay within rows, and `outside` are the values in memory.
pub(super) fn find(loads: &mut [Load], instructions: &mut Vec<Instruction>, outside: &[bool], in_rows: bool) -> usize {
    let mut blocks = 0;
    for load in loads {
        let is_number = match load.fetch {
            Fetch::Once => load.geometry.is_scalar(),
            Fetch::Each => in_rows && load.geometry.step() == 0,
            Fetch::Direct | Fetch::Number => false,
        };
        // A 16-bit float is read as the f32 that is made of it.
        let widens = |instruction: &Instruction| matches!(instruction.role, Some(Role::Widen(_)));
        let widener = instructions.iter().position(|reader| widens(reader) && reader.src[0] == load.register);
        let number = widener.map_or(load.register, |at| instructions[at].dst);
        let reads = |instruction: &Instruction| instruction.src.contains(&number);
        let takes = |instruction: &Instruction| instruction.form().is_some();
        let is_stored = widener.is_some() && outside[number];
        // A selection takes it as it is in memory.
        let takes_narrow =
            |(at, reader): (usize, &Instruction)| Some(at) != widener && reader.src.contains(&load.register);
        let stays = widener.is_some() && instructions.iter().enumerate().any(takes_narrow);
        if !is_number || is_stored || stays || !instructions.iter().filter(|instruction| reads(instruction)).all(takes)
        {
            continue;
        }
        if let Some(at) = widener
            && let Run::Tile(widen) = instructions.remove(at).run
        {
            (load.register, load.widen) = (number, Some(widen));
        }
        (load.fetch, load.buffer) = (Fetch::Number, blocks);
        blocks += 1;
        for instruction in instructions.iter_mut().filter(|instruction| reads(instruction)) {
            let mut form = instruction.form().expect("it was asked before");
            let sources = form.sources.iter_mut().zip(instruction.src);
            sources.filter(|&(_, src)| src == number).for_each(|(source, _)| *source = Source::Number);
            instruction.run = form.run();
        }
    }
    blocks
}

impl Load {
    /// Fills its block, of those from `blocks` on, with element `at` of the memory at `base`.
    ///
    /// # Safety
    /// The element, an f32 or what `widen` takes, must be readable and the block writable.
    pub unsafe fn fill_block(&self, base: *const u8, at: usize, blocks: *mut Block) {
        // SAFETY: the caller's promise; an array needs no other alignment than its elements, and tiles begin at lines.
        unsafe {
            let from = base.offset(self.geometry.position(at) * self.size as isize);
            let mut number = 0.0_f32;
            match self.widen {
                Some(widen) => widen((&raw mut number).cast(), [from; 3], 1),
                None => number = *from.cast(),
            }
            *blocks.add(self.buffer) = [number; BLOCK];
        }
    }
}
