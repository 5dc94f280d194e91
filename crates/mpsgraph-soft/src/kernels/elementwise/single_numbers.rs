//! Operands that are one number for a whole tile, such as the mean of a row or the rate of an optimizer.
//!
//! Where only instructions read them that can stay at a block of copies ([`stepped`]), no tile of copies is made, which
//! would take as long as an operation.

use super::fused_loop::{Fetch, Instruction, Load, Run};
use super::pairs::Role;
use super::stepped::{BLOCK, Source};
use smallvec::SmallVec;

/// Copies of a number.
pub type Block = [f32; BLOCK];

/// Makes the loads [`Fetch::Number`] for which blocks are enough, and returns how many; `in_rows` tells whether tiles
/// stay within rows, and `outside` are the values in memory.
pub(super) fn find(loads: &mut [Load], instructions: &mut Vec<Instruction>, outside: &[bool], in_rows: bool) -> usize {
    let readers = readers(instructions, outside.len());
    let mut needless = Vec::new();
    let mut blocks = 0;
    for load in loads {
        let is_number = match load.fetch {
            Fetch::Once => load.geometry.is_scalar(),
            Fetch::Each => in_rows && load.geometry.step() == 0,
            Fetch::Direct | Fetch::Number => false,
        };
        if !is_number {
            continue;
        }
        // A 16-bit float is read as the f32 that is made of it.
        let of_load = &readers[load.register];
        let widens = |&at: &usize| {
            matches!(instructions[at].role, Some(Role::Widen(_))) && instructions[at].src[0] == load.register
        };
        let widener = of_load.iter().copied().find(widens);
        let number = widener.map_or(load.register, |at| instructions[at].dst);
        let is_stored = widener.is_some() && outside[number];
        // A selection takes it as it is in memory.
        let stays = widener.is_some() && of_load.iter().any(|&at| Some(at) != widener);
        let takes = |&at: &usize| instructions[at].form().is_some();
        if is_stored || stays || !readers[number].iter().all(takes) {
            continue;
        }
        if let Some(at) = widener
            && let Run::Tile(widen) = instructions[at].run
        {
            needless.push(at);
            (load.register, load.widen) = (number, Some(widen));
        }
        (load.fetch, load.buffer) = (Fetch::Number, blocks);
        blocks += 1;
        for &at in &readers[number] {
            let instruction = &mut instructions[at];
            let mut form = instruction.form().expect("it was asked before");
            let sources = form.sources.iter_mut().zip(instruction.src);
            sources.filter(|&(_, src)| src == number).for_each(|(source, _)| *source = Source::Number);
            instruction.run = form.run();
        }
    }
    needless.sort_unstable();
    let mut at = 0..;
    instructions.retain(|_| at.next().is_some_and(|at| needless.binary_search(&at).is_err()));
    blocks
}

/// The instructions that read each register. A loop may have as many as a program has ops.
fn readers(instructions: &[Instruction], registers: usize) -> Vec<SmallVec<[usize; 2]>> {
    let mut readers = vec![SmallVec::new(); registers];
    for (at, instruction) in instructions.iter().enumerate() {
        for (nth, &src) in instruction.src.iter().enumerate() {
            if !instruction.src[..nth].contains(&src) {
                readers[src].push(at);
            }
        }
    }
    readers
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
