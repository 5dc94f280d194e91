//! Pairs of instructions that one loop does: what the first makes stays in a register of the processor.
//!
//! These are the pairs by which small integers become floats: bits are moved up and back down to copy the sign, and an
//! integer becomes a float that is multiplied with a scale. The loop computes what the two would, bit by bit.

use super::fused_loop::Instruction;
use super::int::Int;
use super::tile::{IntType, TileType, int_type, tile2, tile3};
use crate::ir::{BinaryOp, DType};

/// What an instruction may be in a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// First, of i32.
    ShiftLeft,
    /// Second, of i32.
    ShiftRight,
    /// First, to f32.
    FromInt(IntType),
    /// Second, of f32.
    Product,
}

impl Half {
    /// What `op` on tiles of `dtype` may be.
    pub fn of_binary(op: BinaryOp, dtype: DType) -> Option<Self> {
        match (TileType::of(dtype), op) {
            (TileType::Int(IntType::I32), BinaryOp::Shl) => Some(Half::ShiftLeft),
            (TileType::Int(IntType::I32), BinaryOp::Shr) => Some(Half::ShiftRight),
            (TileType::F32, BinaryOp::Mul) => Some(Half::Product),
            _ => None,
        }
    }

    /// What a conversion between tiles may be.
    pub fn of_cast(from: TileType, to: TileType) -> Option<Self> {
        match (from, to) {
            (TileType::Int(from), TileType::F32) => Some(Half::FromInt(from)),
            (TileType::Int(_) | TileType::F32, TileType::Int(_)) | (TileType::F32, TileType::F32) => None,
        }
    }

    /// Whether it can be the first of a pair.
    fn is_first(self) -> bool {
        match self {
            Half::ShiftLeft | Half::FromInt(_) => true,
            Half::ShiftRight | Half::Product => false,
        }
    }
}

/// Joins the pairs of which nothing else reads what the first makes; `outside` are the values in memory.
pub fn join(instructions: &mut Vec<Instruction>, outside: &[bool]) {
    let is_first = |instruction: &Instruction| instruction.half.is_some_and(Half::is_first);
    if !instructions.iter().any(is_first) {
        return;
    }
    let mut makers = vec![None; outside.len()];
    let mut readers = vec![0; outside.len()];
    for (at, Instruction { dst, src: [a, b, c], .. }) in instructions.iter().enumerate() {
        makers[*dst] = Some(at);
        readers[*a] += 1;
        readers[*b] += usize::from(b != a);
        readers[*c] += usize::from(c != a && c != b);
    }
    let mut gone = vec![false; instructions.len()];
    for at in 0..instructions.len() {
        let second = instructions[at];
        for (place, register) in second.src[..2].iter().enumerate() {
            let other = second.src[1 - place];
            let first =
                makers[*register].filter(|_| readers[*register] == 1 && !outside[*register] && other != *register);
            let Some(first) = first else { continue };
            if let Some(joined) = joined(&instructions[first], &second, place) {
                (instructions[at], gone[first]) = (joined, true);
                break;
            }
        }
    }
    let mut gone = gone.into_iter();
    instructions.retain(|_| gone.next() == Some(false));
}

/// One instruction for both, where operand number `place` of `second` is what `first` makes.
fn joined(first: &Instruction, second: &Instruction, place: usize) -> Option<Instruction> {
    let other = second.src[1 - place];
    let (run, src) = match (first.half?, second.half?) {
        (Half::ShiftLeft, Half::ShiftRight) if place == 0 => {
            let run = tile3(|x: i32, up: i32, down: i32| x.shl(up).shr(down));
            (run, [first.src[0], first.src[1], other])
        }
        (Half::FromInt(ty), Half::Product) => {
            let run = int_type!(ty, T => tile2(|x: T, scale: f32| x as f32 * scale));
            (run, [first.src[0], other, first.src[0]])
        }
        (Half::ShiftLeft | Half::FromInt(_) | Half::ShiftRight | Half::Product, _) => return None,
    };
    Some(Instruction { run, dst: second.dst, src, half: None })
}
