//! Operands that are one number for a whole tile, such as the mean of a row or the rate of an optimizer.
//!
//! Where only instructions read them that can stay at a block of copies ([`stepped`]), no tile of copies is made, which
//! would take as long as an operation.

use super::fused_loop::{Fetch, Instruction, Load, Run};
use super::pairs::Half;
use super::stepped::{self, BLOCK};

/// Copies of a number.
pub type Block = [f32; BLOCK];

/// Makes the loads [`Fetch::Number`] for which blocks are enough, and returns how many; `in_rows` tells whether tiles
/// stay within rows.
pub(super) fn find(loads: &mut [Load], instructions: &mut [Instruction], in_rows: bool) -> usize {
    let mut blocks = 0;
    for load in loads {
        let is_number = match load.fetch {
            Fetch::Once => load.geometry.is_scalar(),
            Fetch::Each => in_rows && load.geometry.step() == 0,
            Fetch::Direct | Fetch::Number => false,
        };
        let reads = |instruction: &Instruction| instruction.src.contains(&load.register);
        let takes = |instruction: &Instruction| match (instruction.run, instruction.half) {
            (Run::Stepped(..), _) | (_, Some(Half::Basic(_))) => true,
            (Run::Tile(_), _) => false,
        };
        if !is_number || !instructions.iter().filter(|instruction| reads(instruction)).all(takes) {
            continue;
        }
        (load.fetch, load.buffer) = (Fetch::Number, blocks);
        blocks += 1;
        for instruction in instructions.iter_mut().filter(|instruction| reads(instruction)) {
            if let (Run::Tile(_), Some(Half::Basic(op))) = (instruction.run, instruction.half) {
                instruction.run = Run::Stepped(stepped::single(op), [BLOCK; 3]);
            }
            if let Run::Stepped(_, steps) = &mut instruction.run {
                let sources = steps.iter_mut().zip(instruction.src);
                sources.filter(|&(_, src)| src == load.register).for_each(|(step, _)| *step = 0);
            }
        }
    }
    blocks
}

impl Load {
    /// Fills its block, of those from `blocks` on, with element `at` of the memory at `base`.
    ///
    /// # Safety
    /// The element must be readable and the block writable.
    pub unsafe fn fill_block(&self, base: *const u8, at: usize, blocks: *mut Block) {
        // SAFETY: the caller's promise; an array needs no other alignment than its elements, and tiles begin at lines.
        unsafe {
            let number = *base.cast::<f32>().offset(self.geometry.position(at));
            *blocks.add(self.buffer) = [number; BLOCK];
        }
    }
}
