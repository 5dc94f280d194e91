//! Operations on f32 tiles, which hold the 16-bit floats too.
//!
//! Tests and comparisons yield bool, everything else f32. Methods refuse floats for operations that only make sense for
//! integers.

use super::inverse;
use super::math;
use super::recipe::{Function, Recipe};
use super::tile::{TileFn, TileLoop, conjure, operands, pick, tile1, tile2};
use crate::ir::{BinaryOp, UnaryOp};
use std::marker::PhantomData;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// `op` on f32.
pub fn unary(op: UnaryOp) -> Function {
    let exact = |run| Function { run, cost: 1, exact: true };
    let rounded = |cost, run| Function { run, cost, exact: false };
    match op {
        UnaryOp::Identity => exact(tile1(|x: f32| x)),
        UnaryOp::Abs => exact(tile1(f32::abs)),
        UnaryOp::Neg => exact(tile1(|x: f32| -x)),
        UnaryOp::Exp => rounded(12, tile1(math::exp)),
        UnaryOp::Log => rounded(12, tile1(math::ln)),
        UnaryOp::Square => rounded(1, tile1(|x: f32| math::product(x, x))),
        UnaryOp::Sqrt => rounded(3, tile1(f32::sqrt)),
        UnaryOp::Recip => rounded(3, tile1(|x: f32| math::quotient(1.0, x))),
        UnaryOp::Sin => rounded(12, trigonometric(math::sin, f64::sin)),
        UnaryOp::Cos => rounded(12, trigonometric(math::cos, f64::cos)),
        UnaryOp::Tan => rounded(12, trigonometric(math::tan, f64::tan)),
        UnaryOp::Asin => rounded(16, tile1(inverse::asin)),
        UnaryOp::Acos => rounded(16, tile1(inverse::acos)),
        UnaryOp::Atan => rounded(16, tile1(|x: f32| positive_zero(inverse::atan(x)))),
        UnaryOp::Sinh => rounded(12, tile1(math::sinh)),
        UnaryOp::Cosh => rounded(12, tile1(math::cosh)),
        UnaryOp::Tanh => rounded(12, tile1(|x: f32| positive_zero(math::tanh(x)))),
        UnaryOp::Asinh => rounded(24, tile1(inverse::asinh)),
        UnaryOp::Acosh => rounded(24, tile1(inverse::acosh)),
        UnaryOp::Atanh => rounded(24, tile1(inverse::atanh)),
        UnaryOp::Erf => rounded(12, tile1(math::erf)),
        UnaryOp::Ceil => exact(tile1(f32::ceil)),
        UnaryOp::Floor => exact(tile1(f32::floor)),
        UnaryOp::Rint => exact(tile1(f32::round_ties_even)),
        UnaryOp::Round => exact(tile1(f32::round)),
        UnaryOp::Trunc => exact(tile1(f32::trunc)),
        UnaryOp::Sign => exact(tile1(|x: f32| if x > 0.0 { 1.0 } else { 0.0 } - if x < 0.0 { 1.0 } else { 0.0f32 })),
        UnaryOp::Signbit => exact(tile1(|x: f32| truth(x.is_sign_negative()))),
        UnaryOp::Relu => exact(tile1(|x: f32| if x <= 0.0 { 0.0 } else { x })),
        UnaryOp::Sigmoid => rounded(12, tile1(math::sigmoid)),
        UnaryOp::Not => exact(tile1(|x: f32| truth(x == 0.0))),
        UnaryOp::IsNan => exact(tile1(|x: f32| x.is_nan() as u8)),
        UnaryOp::IsInf => exact(tile1(|x: f32| x.is_infinite() as u8)),
        UnaryOp::IsFinite => exact(tile1(|x: f32| x.is_finite() as u8)),
        UnaryOp::BitNot => unreachable!("the method refuses {op:?} of floats"),
    }
}

/// `op` on f32.
pub fn binary(op: BinaryOp) -> Recipe {
    let slow = |cost, run| Recipe::Loop { run, cost };
    match op {
        BinaryOp::Add => tile2(|a: f32, b: f32| a + b).into(),
        BinaryOp::Sub => tile2(|a: f32, b: f32| a - b).into(),
        BinaryOp::Mul => tile2(math::product).into(),
        BinaryOp::Div => slow(3, tile2(math::quotient)),
        BinaryOp::Mod => slow(12, pick::<Modulo<false>>()),
        BinaryOp::FloorMod => slow(12, pick::<Modulo<true>>()),
        BinaryOp::Pow => slow(30, pick::<Pow>()),
        BinaryOp::Min => tile2(|a: f32, b: f32| if (a < b) | b.is_nan() { a } else { b }).into(),
        BinaryOp::Max => tile2(|a: f32, b: f32| if (a > b) | b.is_nan() { a } else { b }).into(),
        BinaryOp::MinNan => tile2(smaller_or_nan).into(),
        BinaryOp::MaxNan => tile2(larger_or_nan).into(),
        BinaryOp::Atan2 => slow(24, pick::<Atan2>()),
        BinaryOp::Equal => tile2(|a: f32, b: f32| (a == b) as u8).into(),
        BinaryOp::NotEqual => tile2(|a: f32, b: f32| (a != b) as u8).into(),
        BinaryOp::Less => tile2(|a: f32, b: f32| (a < b) as u8).into(),
        BinaryOp::LessEqual => tile2(|a: f32, b: f32| (a <= b) as u8).into(),
        BinaryOp::Greater => Recipe::Swapped(BinaryOp::Less),
        BinaryOp::GreaterEqual => Recipe::Swapped(BinaryOp::LessEqual),
        BinaryOp::And => tile2(|a: f32, b: f32| truth((a != 0.0) & (b != 0.0))).into(),
        BinaryOp::Or => tile2(|a: f32, b: f32| truth((a != 0.0) | (b != 0.0))).into(),
        BinaryOp::Xor => tile2(|a: f32, b: f32| truth((a != 0.0) ^ (b != 0.0))).into(),
        BinaryOp::Xnor => Recipe::Complement(BinaryOp::Xor),
        BinaryOp::ReluGrad => tile2(|incoming: f32, x: f32| if x > 0.0 { incoming } else { 0.0 }).into(),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Shl | BinaryOp::Shr => {
            unreachable!("the method refuses {op:?} of floats")
        }
    }
}

/// Zero without its sign, as these two kernels of Apple's give it (seen on macOS 27).
#[inline(always)]
fn positive_zero(x: f32) -> f32 {
    x + 0.0
}

/// The smaller one, or NaN if there is one, `a`'s before `b`'s. The comparison gives `b` if either is NaN, as the
/// processor's instruction for minima does, so it becomes that instruction, and only a NaN in `a` is put in behind it.
#[inline(always)]
pub fn smaller_or_nan(a: f32, b: f32) -> f32 {
    let smaller = if a < b { a } else { b };
    if a.is_nan() { a } else { smaller }
}

/// The larger one, or NaN if there is one, in the way of [`smaller_or_nan`].
#[inline(always)]
pub fn larger_or_nan(a: f32, b: f32) -> f32 {
    let larger = if a > b { a } else { b };
    if a.is_nan() { a } else { larger }
}

#[inline(always)]
fn truth(b: bool) -> f32 {
    if b { 1.0 } else { 0.0 }
}

/// Elements between two looks at whether the arguments are small enough for the fast way.
const BLOCK: usize = 64;

/// The loop of a function whose fast form needs `math::reducible` arguments; a block with another one takes the
/// slow form for exactly those elements, so that no value depends on its neighbours.
fn trigonometric<F: Fn(f32) -> f32 + Copy, S: Fn(f64) -> f64 + Copy>(fast: F, slow: S) -> TileFn {
    let _ = (fast, slow);
    pick::<Reduced<F, S>>()
}

struct Reduced<F, S>(PhantomData<(F, S)>);

impl<F: Fn(f32) -> f32 + Copy, S: Fn(f64) -> f64 + Copy> TileLoop for Reduced<F, S> {
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
        // SAFETY: the promise of `TileFn`; `trigonometric` took a value of both function types.
        let (dst, src, fast, slow) = unsafe {
            let (dst, src) = (from_raw_parts_mut(dst.cast::<f32>(), n), from_raw_parts(src[0].cast::<f32>(), n));
            (dst, src, conjure::<F>(), conjure::<S>())
        };
        for (dst, src) in dst.chunks_mut(BLOCK).zip(src.chunks(BLOCK)) {
            for (d, &x) in dst.iter_mut().zip(src) {
                *d = fast(x);
            }
            if !src.iter().fold(true, |all, &x| all & math::reducible(x)) {
                for (d, &x) in dst.iter_mut().zip(src).filter(|(_, x)| !math::reducible(**x)) {
                    *d = slow(x as f64) as f32;
                }
            }
        }
    }
}

/// The loop of remainders, with the sign of the divisor if `FLOORED`; the slow form where the fast one would be wrong.
struct Modulo<const FLOORED: bool>;

impl<const FLOORED: bool> TileLoop for Modulo<FLOORED> {
    const WIDE: bool = true;
    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
        // SAFETY: the promise of `TileFn`.
        let (dst, a, b) = unsafe { operands::<f32, f32, f32>(dst, src, n) };
        let finish = |r: f32, b: f32| if FLOORED { math::floored(r, b) } else { r };
        for ((dst, a), b) in dst.chunks_mut(BLOCK).zip(a.chunks(BLOCK)).zip(b.chunks(BLOCK)) {
            let mut countable = true;
            for ((d, &a), &b) in dst.iter_mut().zip(a).zip(b) {
                *d = finish(math::fast_modulo(a, b), b);
                countable &= math::countable(a, b);
            }
            if !countable {
                let pairs = dst.iter_mut().zip(a.iter().zip(b));
                for (d, (&a, &b)) in pairs.filter(|(_, (a, b))| !math::countable(**a, **b)) {
                    *d = finish(math::modulo(a, b), b);
                }
            }
        }
    }
}

/// Loops of functions of two numbers, written out: as arguments of `tile2` they are called through a shim that is not
/// inlined.
macro_rules! written_out {
    ($($name:ident: $function:path),*) => {$(
        struct $name;

        impl TileLoop for $name {
            const WIDE: bool = true;
            #[inline(always)]
            unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
                // SAFETY: the promise of `TileFn`.
                let (dst, a, b) = unsafe { operands::<f32, f32, f32>(dst, src, n) };
                for ((d, &a), &b) in dst.iter_mut().zip(a).zip(b) {
                    *d = $function(a, b);
                }
            }
        }
    )*};
}

written_out!(Pow: math::pow, Atan2: inverse::atan2);
