//! Pairs of instructions that one loop does: what the first makes stays in a register of the processor.
//!
//! These are the pairs by which small integers become floats: bits are moved up and back down to copy the sign, and an
//! integer becomes a float that is multiplied with a scale; pairs of basic operations of f32, a square root and a sum,
//! or bounds; and the choice of something else for numbers beyond a bound. The loop computes what the two would, bit by
//! bit.

use super::fused_loop::{Instruction, Run};
use super::int::Int;
use super::math::product;
use super::round::{self, HalfFloat};
use super::stepped::{Form, Step};
use super::tile::{IntType, TileLoop, TileType, int_type, operands, pick, tile3};
use super::uses::{Uses, remove};
use crate::ir::{BinaryOp, DType, UnaryOp};
use std::marker::PhantomData;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// What an instruction may be in a pair, or to an operation that makes the conversion itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// First, of i32.
    ShiftLeft,
    /// Second, of i32.
    ShiftRight,
    /// First, to f32.
    FromInt(IntType),
    /// First or second, of f32.
    Step(Step),
    /// First, of f32.
    Less,
    /// Second, of f32.
    Select,
    /// Conversions that an operation may make itself ([`half_floats`](super::half_floats)).
    Widen(HalfFloat),
    Round(HalfFloat),
    Narrow(HalfFloat),
}

impl Role {
    /// What `op` on tiles of `dtype` may be.
    pub fn of_binary(op: BinaryOp, dtype: DType) -> Option<Self> {
        let roles = [
            (TileType::Int(IntType::I32), BinaryOp::Shl, Role::ShiftLeft),
            (TileType::Int(IntType::I32), BinaryOp::Shr, Role::ShiftRight),
            (TileType::F32, BinaryOp::Add, Role::Step(Step::Add)),
            (TileType::F32, BinaryOp::Sub, Role::Step(Step::Sub)),
            (TileType::F32, BinaryOp::Mul, Role::Step(Step::Mul)),
            (TileType::F32, BinaryOp::Div, Role::Step(Step::Div)),
            (TileType::F32, BinaryOp::MinNan, Role::Step(Step::Min)),
            (TileType::F32, BinaryOp::MaxNan, Role::Step(Step::Max)),
            (TileType::F32, BinaryOp::Less, Role::Less),
        ];
        let role = roles.into_iter().find(|&(ty, of, _)| (ty, of) == (TileType::of(dtype), op));
        role.map(|(_, _, role)| role)
    }

    /// What `op` on tiles of `dtype` may be. Where a square has to be rounded it is a product, because both sources of
    /// an instruction with one operand are that operand; of f32, joining it with what follows gains nothing.
    pub fn of_unary(op: UnaryOp, dtype: DType) -> Option<Self> {
        let steps = [
            (UnaryOp::Sqrt, Step::Root, TileType::of(dtype) == TileType::F32),
            (UnaryOp::Square, Step::Mul, round::half_float(dtype).is_some()),
        ];
        let step = steps.into_iter().find(|&(of, _, fits)| of == op && fits);
        step.map(|(_, step, _)| Role::Step(step))
    }

    /// What a conversion between tiles may be.
    pub fn of_cast(from: TileType, to: TileType) -> Option<Self> {
        match (from, to) {
            (TileType::Int(from), TileType::F32) => Some(Role::FromInt(from)),
            (TileType::Int(_) | TileType::F32, TileType::Int(_)) | (TileType::F32, TileType::F32) => None,
        }
    }

    /// Whether it can be the first of a pair.
    fn is_first(self) -> bool {
        match self {
            Role::ShiftLeft | Role::FromInt(_) | Role::Step(_) | Role::Less => true,
            Role::ShiftRight | Role::Select | Role::Widen(_) | Role::Round(_) | Role::Narrow(_) => false,
        }
    }
}

/// Joins the pairs of which nothing else reads what the first makes; `outside` are the values in memory.
pub fn join(instructions: &mut Vec<Instruction>, outside: &[bool]) {
    let is_first = |instruction: &Instruction| instruction.role.is_some_and(Role::is_first);
    if !instructions.iter().any(is_first) {
        return;
    }
    let uses = Uses::of(instructions, outside.len());
    let mut gone = vec![false; instructions.len()];
    for at in 0..instructions.len() {
        let second = instructions[at];
        for (place, register) in second.src[..2].iter().enumerate() {
            let other = second.src[1 - place];
            let is_alone = uses.readers[*register].len() == 1 && !outside[*register] && other != *register;
            let Some(first) = uses.makers[*register].filter(|_| is_alone) else { continue };
            if let Some(joined) = joined(&instructions[first], &second, place) {
                (instructions[at], gone[first]) = (joined, true);
                break;
            }
        }
    }
    remove(instructions, &gone);
}

/// One instruction for both, where operand number `place` of `second` is what `first` makes.
fn joined(first: &Instruction, second: &Instruction, place: usize) -> Option<Instruction> {
    let other = second.src[1 - place];
    let (run, src) = match (first.role?, second.role?) {
        (Role::ShiftLeft, Role::ShiftRight) if place == 0 => {
            (Run::Tile(pick::<Moved>()), [first.src[0], first.src[1], other])
        }
        (Role::FromInt(ty), Role::Step(Step::Mul)) if second.form()?.float.is_none() => {
            let run = int_type!(ty, T => pick::<Scaled<T>>());
            (Run::Tile(run), [first.src[0], other, first.src[0]])
        }
        (Role::Step(_), Role::Step(_)) => {
            let form = Form::of_pair(first.form()?, second.form()?, place)?;
            (form.run(), [first.src[0], first.src[1], other])
        }
        // The mask stays in a register, so that a leaky relu takes little more than a relu.
        (Role::Less, Role::Select) if place == 0 => {
            let [x, otherwise] = [second.src[2], second.src[1]];
            let (run, bound) = match first.src {
                [tested, bound, _] if tested == x => {
                    (tile3(|x: f32, low: f32, y: f32| if x < low { y } else { x }), bound)
                }
                [bound, tested, _] if tested == x => {
                    (tile3(|x: f32, top: f32, y: f32| if top < x { y } else { x }), bound)
                }
                _ => return None,
            };
            (Run::Tile(run), [x, bound, otherwise])
        }
        (Role::ShiftLeft | Role::FromInt(_) | Role::ShiftRight | Role::Step(_), _) => return None,
        (Role::Less | Role::Select, _) => return None,
        (Role::Widen(_) | Role::Round(_) | Role::Narrow(_), _) => return None,
    };
    Some(Instruction { run, dst: second.dst, src, role: None })
}

/// i32 moved up and back down. Unpacking a tensor spends its time here and in [`Scaled`], so that they are worth their
/// code for AVX-512.
struct Moved;

impl TileLoop for Moved {
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
        // SAFETY: the promise of `TileFn`.
        let (dst, [x, up, down]) =
            unsafe { (from_raw_parts_mut(dst.cast::<i32>(), n), src.map(|src| from_raw_parts(src.cast::<i32>(), n))) };
        for (((to, &x), &up), &down) in dst.iter_mut().zip(x).zip(up).zip(down) {
            *to = x.shl(up).shr(down);
        }
    }
}

/// Integers as f32 times others.
struct Scaled<T>(PhantomData<T>);

macro_rules! scaled {
    ($($t:ty),*) => {$(
        impl TileLoop for Scaled<$t> {
            const WIDE: bool = true;

            #[inline(always)]
            unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
                // SAFETY: the promise of `TileFn`.
                let (dst, x, scale) = unsafe { operands::<f32, $t, f32>(dst, src, n) };
                for ((to, &x), &scale) in dst.iter_mut().zip(x).zip(scale) {
                    *to = product(x as f32, scale);
                }
            }
        }
    )*};
}
scaled!(i8, i16, i32, i64, u8, u16, u32, u64);
