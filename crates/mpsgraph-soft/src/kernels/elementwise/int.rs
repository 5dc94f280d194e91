//! Operations on integer tiles; bool is `u8` here, and the builder brings its results back to 0 or 1.
//!
//! Functions that only make sense for floats have no loop here: the builder computes them in f32 and casts back.

use super::tile::{Element, TileFn, tile1, tile2};
use crate::ir::{BinaryOp, UnaryOp};

/// The arithmetic that the integer types share by name only.
pub trait Int: Element + Ord + Default + std::ops::Not<Output = Self> {
    const ONE: Self;
    const SIGNED: bool;
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
            const SIGNED: bool = <$t>::MIN != 0;
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

/// The loop of `op`, or `None` if it is to be computed in f32.
pub fn unary<T: Int>(op: UnaryOp) -> Option<TileFn> {
    Some(match op {
        UnaryOp::Identity | UnaryOp::Ceil | UnaryOp::Floor | UnaryOp::Round | UnaryOp::Rint | UnaryOp::Trunc => {
            tile1(|x: T| x)
        }
        UnaryOp::Abs => tile1(|x: T| if x < T::default() { x.neg() } else { x }),
        UnaryOp::Neg => tile1(|x: T| x.neg()),
        UnaryOp::Square => tile1(|x: T| x.mul(x)),
        UnaryOp::Sign => tile1(|x: T| truth::<T>(x > T::default()).sub(truth(x < T::default()))),
        UnaryOp::Signbit => tile1(|x: T| truth::<T>(x < T::default())),
        UnaryOp::Relu => tile1(|x: T| x.max(T::default())),
        UnaryOp::Not => tile1(|x: T| truth::<T>(x == T::default())),
        UnaryOp::BitNot => tile1(|x: T| !x),
        UnaryOp::Popcount => tile1(|x: T| x.popcount()),
        UnaryOp::IsNan | UnaryOp::IsInf => tile1(|_: T| 0u8),
        UnaryOp::IsFinite => tile1(|_: T| 1u8),
        UnaryOp::Exp
        | UnaryOp::Exp2
        | UnaryOp::Exp10
        | UnaryOp::Log
        | UnaryOp::Log2
        | UnaryOp::Log10
        | UnaryOp::Sqrt
        | UnaryOp::Rsqrt
        | UnaryOp::Recip
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tan
        | UnaryOp::Asin
        | UnaryOp::Acos
        | UnaryOp::Atan
        | UnaryOp::Sinh
        | UnaryOp::Cosh
        | UnaryOp::Tanh
        | UnaryOp::Asinh
        | UnaryOp::Acosh
        | UnaryOp::Atanh
        | UnaryOp::Erf
        | UnaryOp::Sigmoid => return None,
    })
}

/// The loop of `op`, or `None` if it is to be computed in f32.
pub fn binary<T: Int>(op: BinaryOp) -> Option<TileFn> {
    Some(match op {
        BinaryOp::Add => tile2(|a: T, b: T| a.add(b)),
        BinaryOp::Sub => tile2(|a: T, b: T| a.sub(b)),
        BinaryOp::Mul => tile2(|a: T, b: T| a.mul(b)),
        BinaryOp::Div | BinaryOp::DivNoNan => tile2(|a: T, b: T| a.div(b)),
        BinaryOp::Mod => tile2(|a: T, b: T| a.rem(b)),
        BinaryOp::FloorMod => tile2(floor_modulo::<T>),
        BinaryOp::Pow => tile2(pow::<T>),
        BinaryOp::Min | BinaryOp::MinNan => tile2(|a: T, b: T| a.min(b)),
        BinaryOp::Max | BinaryOp::MaxNan => tile2(|a: T, b: T| a.max(b)),
        BinaryOp::Equal => tile2(|a: T, b: T| (a == b) as u8),
        BinaryOp::NotEqual => tile2(|a: T, b: T| (a != b) as u8),
        BinaryOp::Less => tile2(|a: T, b: T| (a < b) as u8),
        BinaryOp::LessEqual => tile2(|a: T, b: T| (a <= b) as u8),
        BinaryOp::Greater => tile2(|a: T, b: T| (a > b) as u8),
        BinaryOp::GreaterEqual => tile2(|a: T, b: T| (a >= b) as u8),
        BinaryOp::And => tile2(|a: T, b: T| truth::<T>(is(a) & is(b))),
        BinaryOp::Or => tile2(|a: T, b: T| truth::<T>(is(a) | is(b))),
        BinaryOp::Xor => tile2(|a: T, b: T| truth::<T>(is(a) ^ is(b))),
        BinaryOp::Nand => tile2(|a: T, b: T| truth::<T>(!(is(a) & is(b)))),
        BinaryOp::Nor => tile2(|a: T, b: T| truth::<T>(!(is(a) | is(b)))),
        BinaryOp::Xnor => tile2(|a: T, b: T| truth::<T>(is(a) == is(b))),
        BinaryOp::BitAnd => tile2(|a: T, b: T| a.and(b)),
        BinaryOp::BitOr => tile2(|a: T, b: T| a.or(b)),
        BinaryOp::BitXor => tile2(|a: T, b: T| a.xor(b)),
        BinaryOp::Shl => tile2(|a: T, b: T| a.shl(b)),
        BinaryOp::Shr => tile2(|a: T, b: T| a.shr(b)),
        BinaryOp::ReluGrad => tile2(|incoming: T, x: T| if x > T::default() { incoming } else { T::default() }),
        BinaryOp::LeakyRelu => tile2(|x: T, alpha: T| if x > T::default() { x } else { alpha.mul(x) }),
        BinaryOp::Atan2 | BinaryOp::SigmoidGrad => return None,
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
