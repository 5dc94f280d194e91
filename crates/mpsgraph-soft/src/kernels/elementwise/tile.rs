//! What a tile is made of and how an element function becomes a loop over tiles.
//!
//! [`tile1`], [`tile2`] and [`tile3`] take a closure or function without captures. Its type alone identifies it, so
//! that each one is compiled into a loop of its own, once per instruction set ([`vectorised`]), and can still be
//! stored as a plain function pointer. Functions too large to be inlined by themselves must be `#[inline(always)]`.

use crate::ir::DType;
use crate::kernels::vectorised::{Kernel, vectorised};
use bytemuck::{AnyBitPattern, NoUninit};
use std::ptr::NonNull;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Runs one operation on `n` elements: destination, sources (unused ones repeat the first), count.
///
/// # Safety
/// The destination must be writable and the sources initialised for `n` elements of the lanes that the operation
/// was made for, all aligned to their element, and the destination must overlap no source.
pub type TileFn = unsafe fn(*mut u8, [*const u8; 3], usize);

/// Element type of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    F32,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl Lane {
    /// What values of `dtype` are in a tile.
    pub const fn of(dtype: DType) -> Self {
        match dtype {
            DType::F32 | DType::F16 | DType::BF16 => Lane::F32,
            DType::I8 => Lane::I8,
            DType::I16 => Lane::I16,
            DType::I32 => Lane::I32,
            DType::I64 => Lane::I64,
            DType::U8 | DType::Bool => Lane::U8,
            DType::U16 => Lane::U16,
            DType::U32 => Lane::U32,
            DType::U64 => Lane::U64,
        }
    }

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Lane::I8 | Lane::U8 => 1,
            Lane::I16 | Lane::U16 => 2,
            Lane::F32 | Lane::I32 | Lane::U32 => 4,
            Lane::I64 | Lane::U64 => 8,
        }
    }
}

/// Evaluates an expression with a type parameter bound to a [`Lane`]'s Rust type; `int` leaves out f32.
macro_rules! lane {
    ($lane:expr, $t:ident => $body:expr) => {
        match $lane {
            $crate::kernels::elementwise::tile::Lane::F32 => {
                type $t = f32;
                $body
            }
            other => $crate::kernels::elementwise::tile::lane!(int other, $t => $body),
        }
    };
    (int $lane:expr, $t:ident => $body:expr) => {
        match $lane {
            $crate::kernels::elementwise::tile::Lane::F32 => unreachable!("f32 has operations of its own"),
            $crate::kernels::elementwise::tile::Lane::I8 => { type $t = i8; $body }
            $crate::kernels::elementwise::tile::Lane::I16 => { type $t = i16; $body }
            $crate::kernels::elementwise::tile::Lane::I32 => { type $t = i32; $body }
            $crate::kernels::elementwise::tile::Lane::I64 => { type $t = i64; $body }
            $crate::kernels::elementwise::tile::Lane::U8 => { type $t = u8; $body }
            $crate::kernels::elementwise::tile::Lane::U16 => { type $t = u16; $body }
            $crate::kernels::elementwise::tile::Lane::U32 => { type $t = u32; $body }
            $crate::kernels::elementwise::tile::Lane::U64 => { type $t = u64; $body }
        }
    };
}
pub(crate) use lane;

/// What a tile can hold.
pub trait Element: NoUninit + AnyBitPattern {}
impl<T: NoUninit + AnyBitPattern> Element for T {}

/// The loop that sets `dst[i] = f(a[i])`.
pub fn tile1<A: Element, R: Element, F: Fn(A) -> R + Copy>(f: F) -> TileFn {
    let _ = f;
    entry1::<A, R, F>
}

/// The loop that sets `dst[i] = f(a[i], b[i])`.
pub fn tile2<A: Element, B: Element, R: Element, F: Fn(A, B) -> R + Copy>(f: F) -> TileFn {
    let _ = f;
    entry2::<A, B, R, F>
}

/// The loop that sets `dst[i] = f(a[i], b[i], c[i])`.
pub fn tile3<A: Element, B: Element, C: Element, R: Element, F: Fn(A, B, C) -> R + Copy>(f: F) -> TileFn {
    let _ = f;
    entry3::<A, B, C, R, F>
}

struct Loop1<'a, A, R, F>(&'a mut [R], &'a [A], F);
struct Loop2<'a, A, B, R, F>(&'a mut [R], &'a [A], &'a [B], F);
struct Loop3<'a, A, B, C, R, F>(&'a mut [R], &'a [A], &'a [B], &'a [C], F);

impl<A: Copy, R, F: Fn(A) -> R> Kernel for Loop1<'_, A, R, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (d, &a) in self.0.iter_mut().zip(self.1) {
            *d = (self.2)(a);
        }
    }
}

impl<A: Copy, B: Copy, R, F: Fn(A, B) -> R> Kernel for Loop2<'_, A, B, R, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for ((d, &a), &b) in self.0.iter_mut().zip(self.1).zip(self.2) {
            *d = (self.3)(a, b);
        }
    }
}

impl<A: Copy, B: Copy, C: Copy, R, F: Fn(A, B, C) -> R> Kernel for Loop3<'_, A, B, C, R, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (((d, &a), &b), &c) in self.0.iter_mut().zip(self.1).zip(self.2).zip(self.3) {
            *d = (self.4)(a, b, c);
        }
    }
}

unsafe fn entry1<A: Element, R: Element, F: Fn(A) -> R + Copy>(dst: *mut u8, src: [*const u8; 3], n: usize) {
    // SAFETY: the promise of `TileFn`.
    let (dst, a) = unsafe { (from_raw_parts_mut(dst.cast::<R>(), n), from_raw_parts(src[0].cast::<A>(), n)) };
    // SAFETY: the functions that name this one took a value of `F`.
    vectorised(Loop1(dst, a, unsafe { conjure::<F>() }));
}

unsafe fn entry2<A: Element, B: Element, R: Element, F: Fn(A, B) -> R + Copy>(
    dst: *mut u8,
    src: [*const u8; 3],
    n: usize,
) {
    // SAFETY: the promise of `TileFn`.
    let (dst, a, b) = unsafe {
        let dst = from_raw_parts_mut(dst.cast::<R>(), n);
        (dst, from_raw_parts(src[0].cast::<A>(), n), from_raw_parts(src[1].cast::<B>(), n))
    };
    // SAFETY: the functions that name this one took a value of `F`.
    vectorised(Loop2(dst, a, b, unsafe { conjure::<F>() }));
}

unsafe fn entry3<A: Element, B: Element, C: Element, R: Element, F: Fn(A, B, C) -> R + Copy>(
    dst: *mut u8,
    src: [*const u8; 3],
    n: usize,
) {
    // SAFETY: the promise of `TileFn`.
    let (dst, a, b, c) = unsafe {
        let dst = from_raw_parts_mut(dst.cast::<R>(), n);
        let (a, b) = (from_raw_parts(src[0].cast::<A>(), n), from_raw_parts(src[1].cast::<B>(), n));
        (dst, a, b, from_raw_parts(src[2].cast::<C>(), n))
    };
    // SAFETY: the functions that name this one took a value of `F`.
    vectorised(Loop3(dst, a, b, c, unsafe { conjure::<F>() }));
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
