//! Operations on integer tiles; bool is `u8` here, and the builder brings its results back to 0 or 1.
//!
//! What does not depend on the sign exists for the unsigned types only, to keep the number of loops down. Functions
//! that only make sense for floats have no loop here: the builder computes them in f32 and casts back. That is what
//! `None` means, which is why these matches are not exhaustive: an operation without a loop is still right.

use super::tile::{TileElement, TileFn, tile1, tile2};
use crate::ir::{BinaryOp, UnaryOp};

/// The arithmetic that the integer types share by name only.
pub trait Int: TileElement + Ord + Default + std::ops::Not<Output = Self> {
    const ONE: Self;
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn neg(self) -> Self;
    /// Truncating; 0 for a zero divisor.
    fn div(self, b: Self) -> Self;
    /// Sign of the dividend; 0 for a zero divisor.
    fn rem(self, b: Self) -> Self;
    fn and(self, b: Self) -> Self;
    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;
    fn shl(self, b: Self) -> Self;
    fn shr(self, b: Self) -> Self;
    fn popcount(self) -> Self;
}

macro_rules! int {
    ($($t:ty),*) => {$(
        impl Int for $t {
            const ONE: Self = 1;
            #[inline(always)]
            fn add(self, b: Self) -> Self { self.wrapping_add(b) }
            #[inline(always)]
            fn sub(self, b: Self) -> Self { self.wrapping_sub(b) }
            #[inline(always)]
            fn mul(self, b: Self) -> Self { self.wrapping_mul(b) }
            #[inline(always)]
            fn neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn div(self, b: Self) -> Self { if b == 0 { 0 } else { self.wrapping_div(b) } }
            #[inline(always)]
            fn rem(self, b: Self) -> Self { if b == 0 { 0 } else { self.wrapping_rem(b) } }
            #[inline(always)]
            fn and(self, b: Self) -> Self { self & b }
            #[inline(always)]
            fn or(self, b: Self) -> Self { self | b }
            #[inline(always)]
            fn xor(self, b: Self) -> Self { self ^ b }
            #[inline(always)]
            fn shl(self, b: Self) -> Self { self.wrapping_shl(b as u32) }
            #[inline(always)]
            fn shr(self, b: Self) -> Self { self.wrapping_shr(b as u32) }
            #[inline(always)]
            fn popcount(self) -> Self { self.count_ones() as $t }
        }
    )*};
}
int!(i8, i16, i32, i64, u8, u16, u32, u64);

/// The loop of `op` if it does not depend on the sign; `T` is unsigned.
pub fn unary_bits<T: Int>(op: UnaryOp) -> Option<TileFn> {
    Some(match op {
        UnaryOp::Identity | UnaryOp::Ceil | UnaryOp::Floor | UnaryOp::Round | UnaryOp::Rint | UnaryOp::Trunc => {
            tile1(|x: T| x)
        }
        UnaryOp::Neg => tile1(|x: T| x.neg()),
        UnaryOp::Square => tile1(|x: T| x.mul(x)),
        UnaryOp::Not => tile1(|x: T| truth::<T>(x == T::default())),
        UnaryOp::BitNot => tile1(|x: T| !x),
        UnaryOp::Popcount => tile1(|x: T| x.popcount()),
        UnaryOp::IsNan | UnaryOp::IsInf => tile1(|_: T| 0u8),
        UnaryOp::IsFinite => tile1(|_: T| 1u8),
        _ => return None,
    })
}

/// The loop of `op` if it depends on the sign; what is left makes sense for floats only.
pub fn unary<T: Int>(op: UnaryOp) -> Option<TileFn> {
    Some(match op {
        UnaryOp::Abs => tile1(|x: T| if x < T::default() { x.neg() } else { x }),
        UnaryOp::Sign => tile1(|x: T| truth::<T>(x > T::default()).sub(truth(x < T::default()))),
        UnaryOp::Signbit => tile1(|x: T| truth::<T>(x < T::default())),
        UnaryOp::Relu => tile1(|x: T| x.max(T::default())),
        _ => return None,
    })
}

/// The loop of `op` if it does not depend on the sign; `T` is unsigned.
pub fn binary_bits<T: Int>(op: BinaryOp) -> Option<TileFn> {
    Some(match op {
        BinaryOp::Add => tile2(|a: T, b: T| a.add(b)),
        BinaryOp::Sub => tile2(|a: T, b: T| a.sub(b)),
        BinaryOp::Mul => tile2(|a: T, b: T| a.mul(b)),
        BinaryOp::Equal => tile2(|a: T, b: T| (a == b) as u8),
        BinaryOp::NotEqual => tile2(|a: T, b: T| (a != b) as u8),
        BinaryOp::And => tile2(|a: T, b: T| truth::<T>(is(a) & is(b))),
        BinaryOp::Or => tile2(|a: T, b: T| truth::<T>(is(a) | is(b))),
        BinaryOp::Xor => tile2(|a: T, b: T| truth::<T>(is(a) ^ is(b))),
        BinaryOp::BitAnd => tile2(|a: T, b: T| a.and(b)),
        BinaryOp::BitOr => tile2(|a: T, b: T| a.or(b)),
        BinaryOp::BitXor => tile2(|a: T, b: T| a.xor(b)),
        BinaryOp::Shl => tile2(|a: T, b: T| a.shl(b)),
        _ => return None,
    })
}

/// The loop of `op` if it depends on the sign; what is left makes sense for floats only.
pub fn binary<T: Int>(op: BinaryOp) -> Option<TileFn> {
    Some(match op {
        BinaryOp::Div | BinaryOp::DivNoNan => tile2(|a: T, b: T| a.div(b)),
        BinaryOp::Mod => tile2(|a: T, b: T| a.rem(b)),
        BinaryOp::FloorMod => tile2(floor_modulo::<T>),
        BinaryOp::Pow => tile2(pow::<T>),
        BinaryOp::Min | BinaryOp::MinNan => tile2(|a: T, b: T| a.min(b)),
        BinaryOp::Max | BinaryOp::MaxNan => tile2(|a: T, b: T| a.max(b)),
        BinaryOp::Less => tile2(|a: T, b: T| (a < b) as u8),
        BinaryOp::LessEqual => tile2(|a: T, b: T| (a <= b) as u8),
        BinaryOp::Shr => tile2(|a: T, b: T| a.shr(b)),
        BinaryOp::ReluGrad => tile2(|incoming: T, x: T| if x > T::default() { incoming } else { T::default() }),
        BinaryOp::LeakyRelu => tile2(|x: T, alpha: T| if x > T::default() { x } else { alpha.mul(x) }),
        _ => return None,
    })
}

#[inline(always)]
fn is<T: Int>(x: T) -> bool {
    x != T::default()
}

#[inline(always)]
fn truth<T: Int>(b: bool) -> T {
    if b { T::ONE } else { T::default() }
}

#[inline(always)]
fn floor_modulo<T: Int>(a: T, b: T) -> T {
    let r = a.rem(b);
    let zero = T::default();
    if r != zero && (r < zero) != (b < zero) { r.add(b) } else { r }
}

/// Wrapping power; a negative exponent gives the truncated reciprocal, which only bases 1 and -1 have, and 0 for 0.
fn pow<T: Int>(mut base: T, mut exponent: T) -> T {
    let (zero, one) = (T::default(), T::ONE);
    let mut value = one;
    if exponent < zero {
        let minus_one = zero.sub(one);
        let odd = exponent.and(one) == one;
        return match base {
            _ if base == one => one,
            _ if base == minus_one && odd => minus_one,
            _ if base == minus_one => one,
            _ => zero,
        };
    }
    while exponent != zero {
        if exponent.and(one) == one {
            value = value.mul(base);
        }
        base = base.mul(base);
        exponent = exponent.shr(one);
    }
    value
}
