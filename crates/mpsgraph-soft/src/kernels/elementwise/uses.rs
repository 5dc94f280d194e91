//! Who makes and who reads the values of a loop, for passes that join instructions.

use super::fused_loop::Instruction;

/// Which instruction makes each value, and which ones read it.
pub struct Uses {
    pub makers: Vec<Option<usize>>,
    pub readers: Vec<Vec<usize>>,
}

impl Uses {
    /// Of so many values.
    pub fn of(instructions: &[Instruction], values: usize) -> Self {
        let mut uses = Self { makers: vec![None; values], readers: vec![Vec::new(); values] };
        for (at, Instruction { dst, src, .. }) in instructions.iter().enumerate() {
            uses.makers[*dst] = Some(at);
            for &src in src {
                if uses.readers[src].last() != Some(&at) {
                    uses.readers[src].push(at);
                }
            }
        }
        uses
    }
}

/// Removes the instructions that are `gone`; returns how many.
pub fn remove(instructions: &mut Vec<Instruction>, gone: &[bool]) -> usize {
    let before = instructions.len();
    let mut gone = gone.iter();
    instructions.retain(|_| gone.next() == Some(&false));
    before - instructions.len()
}
