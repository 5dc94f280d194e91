//! Operations on integer tiles; bool is `u8` here, and the builder brings its results back to 0 or 1.
//!
//! Loops that do not depend on the sign exist for the unsigned types only (`bits`), to keep the number of loops small.
//! Functions that only make sense for floats have no loop here: the builder computes them in f32 and casts back.

use super::math::TO_INTEGER;
use super::recipe::Recipe;
use super::tile::{IntType, TileElement, TileFn, TileLoop, int_type, operands, pick, tile1, tile2};
use crate::ir::{BinaryOp, UnaryOp};
use std::marker::PhantomData;

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
    #[inline(always)]
    fn rem(self, b: Self) -> Self {
        let rest = self.sub(self.div(b).mul(b));
        if b == Self::default() { b } else { rest }
    }
    fn and(self, b: Self) -> Self;
    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;
    fn shl(self, b: Self) -> Self;
    fn shr(self, b: Self) -> Self;
}

macro_rules! int {
    ($($t:ty: $div:expr),*) => {$(
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
            fn div(self, b: Self) -> Self { ($div)(self, b) }
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
        }
    )*};
}
// There are vectors of quotients for floats only. A quotient that is no integer is further away from the next one than
// it is rounded: f32 has enough digits for 16 bits, and f64 for 32.
int!(
    i8: |a, b| by_f32(a as f32, b as f32) as i8,
    i16: |a, b| by_f32(a as f32, b as f32) as i16,
    i32: |a, b| by_f64(a as f64, b as f64) as i32,
    i64: |a: i64, b| if b == 0 { 0 } else { a.wrapping_div(b) },
    u8: |a, b| by_f32(a as f32, b as f32) as u8,
    u16: |a, b| by_f32(a as f32, b as f32) as u16,
    u32: |a, b| by_f64(a as f64, b as f64),
    u64: |a: u64, b| a.checked_div(b).unwrap_or(0)
);

/// The low bits of a quotient of integers toward zero; 0 for a zero divisor. Adding 1.5 * 2^23 leaves the integer
/// there.
#[inline(always)]
fn by_f32(a: f32, b: f32) -> u32 {
    let quotient = ((a / b).trunc() + 12_582_912.0).to_bits();
    if b == 0.0 { 0 } else { quotient }
}

/// The same of wider integers, for which it is [`TO_INTEGER`].
#[inline(always)]
fn by_f64(a: f64, b: f64) -> u32 {
    let quotient = ((a / b).trunc() + TO_INTEGER).to_bits() as u32;
    if b == 0.0 { 0 } else { quotient }
}

/// The loop of `op` on integers of this type; `None` for functions that only make sense for floats.
pub fn unary(op: UnaryOp, ty: IntType) -> Option<TileFn> {
    Some(match op {
        UnaryOp::Identity | UnaryOp::Ceil | UnaryOp::Floor | UnaryOp::Rint | UnaryOp::Round | UnaryOp::Trunc => {
            int_type!(bits ty, T => tile1(|x: T| x))
        }
        UnaryOp::Neg => int_type!(bits ty, T => tile1(|x: T| x.neg())),
        UnaryOp::Square => int_type!(bits ty, T => tile1(|x: T| x.mul(x))),
        UnaryOp::Not => int_type!(bits ty, T => tile1(|x: T| truth::<T>(x == T::default()))),
        UnaryOp::BitNot => int_type!(bits ty, T => tile1(|x: T| !x)),
        UnaryOp::IsNan | UnaryOp::IsInf => int_type!(bits ty, T => tile1(|_: T| 0u8)),
        UnaryOp::IsFinite => int_type!(bits ty, T => tile1(|_: T| 1u8)),
        UnaryOp::Abs => int_type!(ty, T => tile1(|x: T| if x < T::default() { x.neg() } else { x })),
        UnaryOp::Sign => int_type!(ty, T => tile1(|x: T| truth::<T>(x > T::default()).sub(truth(x < T::default())))),
        UnaryOp::Signbit => int_type!(ty, T => tile1(|x: T| truth::<T>(x < T::default()))),
        UnaryOp::Relu => int_type!(ty, T => tile1(|x: T| x.max(T::default()))),
        UnaryOp::Exp
        | UnaryOp::Log
        | UnaryOp::Sqrt
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

/// `op` on integers of this type.
pub fn binary(op: BinaryOp, ty: IntType) -> Recipe {
    let slow = |run| Recipe::Loop { run, cost: 20 };
    match op {
        BinaryOp::Add => int_type!(bits ty, T => tile2(|a: T, b: T| a.add(b))).into(),
        BinaryOp::Sub => int_type!(bits ty, T => tile2(|a: T, b: T| a.sub(b))).into(),
        BinaryOp::Mul => int_type!(bits ty, T => tile2(|a: T, b: T| a.mul(b))).into(),
        BinaryOp::Div => slow(match ty {
            IntType::I64 => pick::<Quotients<i64>>(),
            IntType::U64 => pick::<Quotients<u64>>(),
            IntType::I8 | IntType::I16 | IntType::I32 | IntType::U8 | IntType::U16 | IntType::U32 => {
                int_type!(ty, T => tile2(|a: T, b: T| a.div(b)))
            }
        }),
        BinaryOp::Mod => slow(int_type!(ty, T => tile2(|a: T, b: T| a.rem(b)))),
        BinaryOp::FloorMod => slow(int_type!(ty, T => tile2(floor_modulo::<T>))),
        BinaryOp::Pow => slow(int_type!(ty, T => pick::<Pow<T>>())),
        BinaryOp::Min | BinaryOp::MinNan => int_type!(ty, T => tile2(|a: T, b: T| a.min(b))).into(),
        BinaryOp::Max | BinaryOp::MaxNan => int_type!(ty, T => tile2(|a: T, b: T| a.max(b))).into(),
        BinaryOp::Equal => int_type!(bits ty, T => tile2(|a: T, b: T| (a == b) as u8)).into(),
        BinaryOp::NotEqual => int_type!(bits ty, T => tile2(|a: T, b: T| (a != b) as u8)).into(),
        BinaryOp::Less => int_type!(ty, T => tile2(|a: T, b: T| (a < b) as u8)).into(),
        BinaryOp::LessEqual => int_type!(ty, T => tile2(|a: T, b: T| (a <= b) as u8)).into(),
        BinaryOp::Greater => Recipe::Swapped(BinaryOp::Less),
        BinaryOp::GreaterEqual => Recipe::Swapped(BinaryOp::LessEqual),
        BinaryOp::And => int_type!(bits ty, T => tile2(|a: T, b: T| truth::<T>(is(a) & is(b)))).into(),
        BinaryOp::Or => int_type!(bits ty, T => tile2(|a: T, b: T| truth::<T>(is(a) | is(b)))).into(),
        BinaryOp::Xor => int_type!(bits ty, T => tile2(|a: T, b: T| truth::<T>(is(a) ^ is(b)))).into(),
        BinaryOp::Xnor => Recipe::Complement(BinaryOp::Xor),
        BinaryOp::BitAnd => int_type!(bits ty, T => tile2(|a: T, b: T| a.and(b))).into(),
        BinaryOp::BitOr => int_type!(bits ty, T => tile2(|a: T, b: T| a.or(b))).into(),
        BinaryOp::BitXor => int_type!(bits ty, T => tile2(|a: T, b: T| a.xor(b))).into(),
        BinaryOp::Shl => int_type!(bits ty, T => tile2(|a: T, b: T| a.shl(b))).into(),
        BinaryOp::Shr => int_type!(ty, T => tile2(|a: T, b: T| a.shr(b))).into(),
        BinaryOp::ReluGrad => {
            int_type!(ty, T => tile2(|incoming: T, x: T| if x > T::default() { incoming } else { T::default() })).into()
        }
        BinaryOp::Atan2 => Recipe::InF32,
    }
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
    if (r != zero) & ((r < zero) != (b < zero)) { r.add(b) } else { r }
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

/// Integers of 64 bits.
trait Wide: Int {
    /// Whether f64 holds it, and the quotients of such numbers are further from the next integer than they are rounded.
    fn is_small(self) -> bool;
    /// A small one.
    fn to_f64(self) -> f64;
    /// A small quotient toward zero; 0 for a zero divisor.
    fn quotient(a: f64, b: f64) -> Self;
}

macro_rules! wide {
    ($($t:ty: |$x:ident| $is_small:expr),*) => {$(
        impl Wide for $t {
            #[inline(always)]
            fn is_small(self) -> bool {
                let $x = self;
                $is_small
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from_bits(TO_INTEGER.to_bits().wrapping_add(self as u64)) - TO_INTEGER
            }
            #[inline(always)]
            fn quotient(a: f64, b: f64) -> Self {
                let bits = ((a / b).trunc() + TO_INTEGER).to_bits().wrapping_sub(TO_INTEGER.to_bits());
                if b == 0.0 { 0 } else { bits as Self }
            }
        }
    )*};
}
wide!(
    i64: |x| (x.wrapping_add(1 << 50) as u64) < 1 << 51,
    u64: |x| x < 1 << 50
);

/// The loop of quotients of 64-bit integers: in f64, which vectorises, for blocks of numbers that are small enough.
struct Quotients<T>(PhantomData<T>);

impl<T: Wide> TileLoop for Quotients<T> {
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
        // SAFETY: the promise of `TileFn`.
        let (dst, a, b) = unsafe { operands::<T, T, T>(dst, src, n) };
        for ((dst, a), b) in dst.chunks_mut(BLOCK).zip(a.chunks(BLOCK)).zip(b.chunks(BLOCK)) {
            let pairs = dst.iter_mut().zip(a.iter().zip(b));
            if a.iter().zip(b).fold(true, |all, (a, b)| all & a.is_small() & b.is_small()) {
                for (to, (a, b)) in pairs {
                    *to = T::quotient(a.to_f64(), b.to_f64());
                }
            } else {
                for (to, (&a, &b)) in pairs {
                    *to = a.div(b);
                }
            }
        }
    }
}

/// Elements whose powers or quotients are computed side by side.
const BLOCK: usize = 32;

/// The loop of [`pow`]: a block takes as many steps as its largest exponent has bits.
struct Pow<T>(PhantomData<T>);

impl<T: Int> TileLoop for Pow<T> {
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
        // SAFETY: the promise of `TileFn`.
        let (dst, bases, exponents) = unsafe { operands::<T, T, T>(dst, src, n) };
        for ((dst, bases), exponents) in dst.chunks_mut(BLOCK).zip(bases.chunks(BLOCK)).zip(exponents.chunks(BLOCK)) {
            if exponents.iter().fold(false, |any, &exponent| any | (exponent < T::default())) {
                for ((power, &base), &exponent) in dst.iter_mut().zip(bases).zip(exponents) {
                    *power = pow(base, exponent);
                }
                continue;
            }
            // Elements that a short block lacks have exponents of 0.
            let (mut base, mut exponent) = ([T::ONE; BLOCK], [T::default(); BLOCK]);
            base[..bases.len()].copy_from_slice(bases);
            exponent[..exponents.len()].copy_from_slice(exponents);
            let mut power = [T::ONE; BLOCK];
            while exponent.iter().fold(T::default(), |any, &exponent| any.or(exponent)) != T::default() {
                for at in 0..BLOCK {
                    let factor = if is(exponent[at].and(T::ONE)) { base[at] } else { T::ONE };
                    power[at] = power[at].mul(factor);
                    base[at] = base[at].mul(base[at]);
                    exponent[at] = exponent[at].shr(T::ONE);
                }
            }
            dst.copy_from_slice(&power[..dst.len()]);
        }
    }
}
