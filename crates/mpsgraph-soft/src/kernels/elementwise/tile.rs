//! What a tile is made of and how an element function becomes a loop over tiles.
//!
//! [`tile1`], [`tile2`] and [`tile3`] take a closure or function without captures. Its type alone identifies it, so
//! that each one is compiled into a loop of its own, once per instruction set, and can still be stored as a plain
//! function pointer. The default x86-64 target stops at SSE2, so loops are also compiled for AVX2 and, on f32, for
//! AVX-512; which one runs changes no result, since rustc never contracts two roundings into one. Functions too large
//! to be inlined by themselves must be `#[inline(always)]`.

use crate::ir::DType;
use bytemuck::{AnyBitPattern, NoUninit};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Runs one operation on `n` elements: destination, sources (unused ones repeat the first), count.
///
/// # Safety
/// The destination must be writable and the sources initialised for `n` elements of the types that the operation
/// was made for, all aligned to their element, and the destination must overlap no source.
pub type TileFn = unsafe fn(*mut u8, [*const u8; 3], usize);

/// Element type of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileType {
    F32,
    Int(IntType),
}

/// Element type of a tile of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntType {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl TileType {
    /// What values of `dtype` are in a tile.
    pub const fn of(dtype: DType) -> Self {
        TileType::Int(match dtype {
            DType::F32 | DType::F16 | DType::BF16 => return TileType::F32,
            DType::I8 => IntType::I8,
            DType::I16 => IntType::I16,
            DType::I32 => IntType::I32,
            DType::I64 => IntType::I64,
            DType::U8 | DType::Bool => IntType::U8,
            DType::U16 => IntType::U16,
            DType::U32 => IntType::U32,
            DType::U64 => IntType::U64,
        })
    }

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            TileType::F32 => 4,
            TileType::Int(ty) => ty.size(),
        }
    }
}

impl IntType {
    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            IntType::I8 | IntType::U8 => 1,
            IntType::I16 | IntType::U16 => 2,
            IntType::I32 | IntType::U32 => 4,
            IntType::I64 | IntType::U64 => 8,
        }
    }
}

/// Evaluates an expression with a type parameter bound to an [`IntType`]'s Rust type; `bits` for the unsigned integer
/// of the same size, which any [`TileType`] has, for operations that do not depend on the sign.
macro_rules! int_type {
    (bits $ty:expr, $t:ident => $body:expr) => {
        match $ty.size() {
            1 => {
                type $t = u8;
                $body
            }
            2 => {
                type $t = u16;
                $body
            }
            4 => {
                type $t = u32;
                $body
            }
            _ => {
                type $t = u64;
                $body
            }
        }
    };
    ($ty:expr, $t:ident => $body:expr) => {
        match $ty {
            $crate::kernels::elementwise::tile::IntType::I8 => {
                type $t = i8;
                $body
            }
            $crate::kernels::elementwise::tile::IntType::I16 => {
                type $t = i16;
                $body
            }
            $crate::kernels::elementwise::tile::IntType::I32 => {
                type $t = i32;
                $body
            }
            $crate::kernels::elementwise::tile::IntType::I64 => {
                type $t = i64;
                $body
            }
            $crate::kernels::elementwise::tile::IntType::U8 => {
                type $t = u8;
                $body
            }
            $crate::kernels::elementwise::tile::IntType::U16 => {
                type $t = u16;
                $body
            }
            $crate::kernels::elementwise::tile::IntType::U32 => {
                type $t = u32;
                $body
            }
            $crate::kernels::elementwise::tile::IntType::U64 => {
                type $t = u64;
                $body
            }
        }
    };
}
pub(crate) use int_type;

/// The destination and both sources of a loop on two operands.
///
/// # Safety
/// The promise of [`TileFn`], for these types.
#[inline(always)]
pub unsafe fn operands<'a, R, A, B>(dst: *mut u8, src: [*const u8; 3], n: usize) -> (&'a mut [R], &'a [A], &'a [B]) {
    // SAFETY: the caller's promise.
    unsafe {
        let dst = from_raw_parts_mut(dst.cast(), n);
        (dst, from_raw_parts(src[0].cast(), n), from_raw_parts(src[1].cast(), n))
    }
}

/// What a tile can hold.
pub trait TileElement: NoUninit + AnyBitPattern {
    /// Whether loops from and to this type are compiled for AVX-512 besides AVX2, and conversions from or to it: worth
    /// their code size for f32 only.
    const WIDE: bool;
}

macro_rules! element {
    ($($t:ty: $wide:expr),*) => {$(
        impl TileElement for $t {
            const WIDE: bool = $wide;
        }
    )*};
}
element!(f32: true, i8: false, i16: false, i32: false, i64: false, u8: false, u16: false, u32: false, u64: false);

/// The loop that sets `dst[i] = f(a[i])`.
pub fn tile1<A: TileElement, R: TileElement, F: Fn(A) -> R + Copy>(f: F) -> TileFn {
    let _ = f;
    pick::<Loop1<A, R, F>>()
}

/// The loop that sets `dst[i] = f(a[i], b[i])`.
pub fn tile2<A: TileElement, B: TileElement, R: TileElement, F: Fn(A, B) -> R + Copy>(f: F) -> TileFn {
    let _ = f;
    pick::<Loop2<A, B, R, F>>()
}

/// The loop that sets `dst[i] = f(a[i], b[i], c[i])`.
pub fn tile3<A: TileElement, B: TileElement, C: TileElement, R: TileElement, F: Fn(A, B, C) -> R + Copy>(
    f: F,
) -> TileFn {
    let _ = f;
    pick::<Loop3<A, B, C, R, F>>()
}

/// A loop over tiles that does not depend on the instruction set it is compiled for.
pub trait TileLoop {
    /// Whether AVX-512 pays.
    const WIDE: bool;

    /// The loop; `#[inline(always)]` in every implementation.
    ///
    /// # Safety
    /// That of [`TileFn`]; and a value of each function type that the loop calls must have been given.
    unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize);
}

/// The loop as compiled for the best instruction set of this processor.
#[cfg(target_arch = "x86_64")]
pub fn pick<L: TileLoop>() -> TileFn {
    let wide = const { if L::WIDE { Some(avx512::<L> as TileFn) } else { None } };
    best(wide, Some(avx2::<L> as TileFn), L::run)
}

/// The first of these that this processor can run.
#[cfg(target_arch = "x86_64")]
pub(super) fn best<F>(avx512: Option<F>, avx2: Option<F>, run: F) -> F {
    use crate::kernels::vectorised::avx512_is_here;
    match (avx512, avx2) {
        (Some(avx512), _) if avx512_is_here() => avx512,
        (_, Some(avx2)) if std::arch::is_x86_feature_detected!("avx2") => avx2,
        _ => run,
    }
}

/// The loop as compiled for this target.
#[cfg(not(target_arch = "x86_64"))]
pub fn pick<L: TileLoop>() -> TileFn {
    L::run
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn avx512<L: TileLoop>(dst: *mut u8, src: [*const u8; 3], n: usize) {
    // SAFETY: the caller's promise.
    unsafe { L::run(dst, src, n) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<L: TileLoop>(dst: *mut u8, src: [*const u8; 3], n: usize) {
    // SAFETY: the caller's promise.
    unsafe { L::run(dst, src, n) }
}

struct Loop1<A, R, F>(PhantomData<(A, R, F)>);
struct Loop2<A, B, R, F>(PhantomData<(A, B, R, F)>);
struct Loop3<A, B, C, R, F>(PhantomData<(A, B, C, R, F)>);

impl<A: TileElement, R: TileElement, F: Fn(A) -> R + Copy> TileLoop for Loop1<A, R, F> {
    const WIDE: bool = A::WIDE || R::WIDE;
    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
        // SAFETY: the promise of `TileFn`; `tile1` took a value of `F`.
        let (dst, a, f) =
            unsafe { (from_raw_parts_mut(dst.cast::<R>(), n), from_raw_parts(src[0].cast::<A>(), n), conjure::<F>()) };
        for (d, &a) in dst.iter_mut().zip(a) {
            *d = f(a);
        }
    }
}

impl<A: TileElement, B: TileElement, R: TileElement, F: Fn(A, B) -> R + Copy> TileLoop for Loop2<A, B, R, F> {
    const WIDE: bool = A::WIDE && R::WIDE;
    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
        // SAFETY: the promise of `TileFn`; `tile2` took a value of `F`.
        let ((dst, a, b), f) = unsafe { (operands::<R, A, B>(dst, src, n), conjure::<F>()) };
        for ((d, &a), &b) in dst.iter_mut().zip(a).zip(b) {
            *d = f(a, b);
        }
    }
}

impl<A: TileElement, B: TileElement, C: TileElement, R: TileElement, F: Fn(A, B, C) -> R + Copy> TileLoop
    for Loop3<A, B, C, R, F>
{
    const WIDE: bool = A::WIDE && R::WIDE;
    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: [*const u8; 3], n: usize) {
        // SAFETY: the promise of `TileFn`; `tile3` took a value of `F`.
        let (dst, a, b, c, f) = unsafe {
            let (dst, a, b) = operands::<R, A, B>(dst, src, n);
            (dst, a, b, from_raw_parts(src[2].cast::<C>(), n), conjure::<F>())
        };
        for (((d, &a), &b), &c) in dst.iter_mut().zip(a).zip(b).zip(c) {
            *d = f(a, b, c);
        }
    }
}

/// A value of a closure type without captures.
///
/// # Safety
/// The caller must be reachable only where a value of `F` was given: that `F` is inhabited is not checked.
#[inline(always)]
pub unsafe fn conjure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "an element function captures nothing") };
    // SAFETY: `F` has no bytes, so any aligned pointer is good to read it from, and it is `Copy` and inhabited.
    unsafe { NonNull::<F>::dangling().read() }
}
