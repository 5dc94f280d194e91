//! The inner loops of scans, over what the elements stand for.

use crate::kernels::element::Element;
use crate::kernels::reduce::inner::Inner;
use crate::kernels::reduce::reducers::Reducer;
use crate::kernels::threads::Columns;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use bytemuck::{bytes_of, cast_slice, cast_slice_mut, pod_read_unaligned};
use std::marker::PhantomData;

/// Rows along the last axis that are accumulated at the same time. Twice as many streams of memory are as many as the
/// first cache has ways, if all begin at the same place in a page.
pub const CHAINS: usize = 4;
/// Elements that are joined before the step that waits: results that are computed at the same time.
const LANES: usize = 8;
/// Elements that are joined at a time, in the first cache.
const TILE: usize = 256;
/// The last columns that are accumulated at the same time, of which there are fewer.
const FEW: usize = 4;
/// Rows that are shorter are accumulated as if their order mattered.
pub const SHORT: usize = 4 * LANES;

/// The loops of one scan of elements of one type, on their bytes.
#[derive(Clone, Copy)]
pub struct Loops {
    /// Bytes of an element.
    pub size: usize,
    /// See [`Scan::IS_PLAIN`].
    pub is_plain: bool,
    /// The result of reducing nothing, in the first of these bytes.
    pub start: [u8; 8],
    /// The same reducer, without the results on the way.
    pub reduction: Inner,
    /// One element after the other, behind what is before.
    pub in_order: fn(&[u8], &[u8], &mut [u8]),
    /// See [`Chains`].
    pub chains: fn(&[u8], usize, &[u8], &mut [u8]),
    /// See [`Rows`].
    pub rows: fn(&[u8], [usize; 2], Columns<'_, u8>),
    /// See [`ends`] and [`Behind`]; only where the order of steps matters.
    pub ends: fn(&mut [u8], usize) -> bool,
    pub behind: fn(&mut [u8]) -> bool,
    /// See [`Windows`]; where the order of steps matters, there are none.
    pub windows: fn(&[u8], usize, &[u8], &mut [u8]),
}

impl Loops {
    /// The loops of this scan.
    pub fn of<T: Element, S: Scan<T>>() -> Self {
        let mut start = [0; 8];
        start[..size_of::<T>()].copy_from_slice(bytes_of(&S::Reducer::START));
        Self {
            size: size_of::<T>(),
            is_plain: S::IS_PLAIN,
            start,
            reduction: Inner::of::<T, S::Reducer>(),
            in_order: |x, before, out| in_order::<T, S>(cast_slice(x), pod_read_unaligned(before), cast_slice_mut(out)),
            chains: |x, length, before, out| {
                let (x, before) = (cast_slice(x), pod_read_unaligned::<[T; CHAINS]>(before));
                vectorised(Chains { x, length, before, out: cast_slice_mut(out), scan: PhantomData::<S> });
            },
            rows: |x, [apart, block], out| {
                let apart = apart / size_of::<T>();
                vectorised(Rows { x: cast_slice::<u8, T>(x), apart, block, out: out.of(), scan: PhantomData::<S> });
            },
            ends: |out, length| {
                if S::Reducer::ANY_ORDER {
                    unreachable!("results are never off");
                }
                ends::<T, S>(cast_slice_mut(out), length)
            },
            behind: |out| {
                if S::Reducer::ANY_ORDER {
                    unreachable!("results are never off");
                }
                vectorised(Behind { out: cast_slice_mut::<u8, T>(out), scan: PhantomData::<S> })
            },
            windows: |x, length, before, out| {
                if !S::Reducer::ANY_ORDER {
                    unreachable!("the order of steps matters");
                }
                let (x, before) = (cast_slice(x), pod_read_unaligned::<T>(before));
                vectorised(Windows { x, length, before, out: cast_slice_mut(out), scan: PhantomData::<S> });
            },
        }
    }
}

/// A reducer, and what it works with instead of the elements.
pub trait Scan<T: Element> {
    type Reducer: Reducer<T>;
    /// Whether the reducer also works with the elements themselves, so that a row can be cut in parts.
    const IS_PLAIN: bool;
    fn load(element: T) -> T;
    /// The inverse of `load`, where that has one.
    fn store(result: T) -> T;
}

/// The elements themselves.
pub struct Plain<R>(PhantomData<R>);

impl<T: Element, R: Reducer<T>> Scan<T> for Plain<R> {
    type Reducer = R;
    const IS_PLAIN: bool = true;
    #[inline(always)]
    fn load(element: T) -> T {
        element
    }
    #[inline(always)]
    fn store(result: T) -> T {
        result
    }
}

/// Bits of f32 as integers in the order of the numbers, with NaN beyond all others; a result is the positive NaN of all
/// ones.
pub struct Keys<R>(PhantomData<R>);

impl<R: Reducer<i32>> Scan<i32> for Keys<R> {
    type Reducer = R;
    const IS_PLAIN: bool = false;
    #[inline(always)]
    fn load(bits: i32) -> i32 {
        const INFINITY: i32 = 0x7f80_0000;
        if bits & i32::MAX > INFINITY { !R::START } else { turned(bits) }
    }
    #[inline(always)]
    fn store(key: i32) -> i32 {
        if key == !R::START { i32::MAX } else { turned(key) }
    }
}

/// The key of bits of f32, or the other way round: those below the sign are inverted if it is set.
#[inline(always)]
fn turned(bits: i32) -> i32 {
    bits ^ ((bits >> 31) & i32::MAX)
}

/// One element after the other, behind what `before` is.
#[inline(always)]
fn in_order<T: Element, S: Scan<T>>(x: &[T], mut before: T, out: &mut [T]) {
    for (&x, out) in x.iter().zip(out) {
        before = S::Reducer::step(before, S::load(x));
        *out = S::store(before);
    }
}

/// Makes the last results of blocks of `length` elements, which were accumulated on their own, what they are behind the
/// blocks before them, and says whether they are all finite.
fn ends<T: Element, S: Scan<T>>(out: &mut [T], length: usize) -> bool {
    let (mut before, mut are_finite) = (S::Reducer::START, true);
    for end in out.iter_mut().skip(length - 1).step_by(length) {
        // A block that overflows on its own may stay finite when it begins with the sum before it.
        are_finite &= is_finite(*end);
        before = S::Reducer::step(before, *end);
        are_finite &= is_finite(before);
        *end = before;
    }
    are_finite
}

#[inline(always)]
fn is_finite<T: Element>(x: T) -> bool {
    (T::LOWEST < x) & (x < T::HIGHEST)
}

/// Results of a block that was accumulated on its own, and in front of them what comes before it. Tells whether all are
/// finite then.
struct Behind<'a, T, S> {
    out: &'a mut [T],
    scan: PhantomData<S>,
}

impl<T: Element, S: Scan<T>> VectorLoop for Behind<'_, T, S> {
    type Output = bool;
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) -> bool {
        let mut are_finite = true;
        if let [before, results @ ..] = self.out {
            for result in results {
                *result = S::Reducer::step(*before, *result);
                are_finite &= is_finite(*result);
            }
        }
        are_finite
    }
}

/// Rows of `length` elements, at least `SHORT`, each of which begins with what comes before it.
struct Windows<'a, T, S> {
    x: &'a [T],
    length: usize,
    before: T,
    out: &'a mut [T],
    scan: PhantomData<S>,
}

impl<T: Element, S: Scan<T>> VectorLoop for Windows<'_, T, S> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON || size_of::<T>() == 8;

    #[inline(always)]
    fn run(self) {
        let mut halves = [S::Reducer::START; TILE + LANES / 2];
        for (x, out) in self.x.chunks_exact(self.length).zip(self.out.chunks_exact_mut(self.length)) {
            let (first, rest) = out.split_at_mut(LANES);
            in_order::<T, S>(x, self.before, first);
            let whole = rest.len() / LANES * LANES;
            let mut results: [T; LANES] = std::array::from_fn(|lane| S::load(first[lane]));
            for (tile, out) in rest[..whole].chunks_mut(TILE).enumerate() {
                // With the elements of the block before.
                let x = &x[tile * TILE..][..LANES + out.len()];
                windows::<T, S>(x, &mut halves, &mut results, out);
            }
            in_order::<T, S>(&x[LANES + whole..], results[LANES - 1], &mut rest[whole..]);
        }
    }
}

/// `x` has `LANES` elements more than `out`, in front, and `results` is what comes out for those. Leaves the last
/// results there.
#[inline(always)]
fn windows<T: Element, S: Scan<T>>(x: &[T], halves: &mut [T], results: &mut [T; LANES], out: &mut [T]) {
    const HALF: usize = LANES / 2;
    // Each element with the three before it; the first window begins behind the first element.
    let halves = &mut halves[..out.len() + HALF];
    let [a, b, c, d] = std::array::from_fn(|at| &x[1 + at..][..halves.len()]);
    for (at, half) in halves.iter_mut().enumerate() {
        // An extreme that began with a NaN would stay NaN.
        let first = S::Reducer::step(S::Reducer::START, S::load(a[at]));
        let rest = [b[at], c[at], d[at]];
        *half = rest.into_iter().fold(first, |joined, x| S::Reducer::step(joined, S::load(x)));
    }
    for (at, out) in out.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let window = &halves[at * LANES..][..LANES + HALF];
        for lane in 0..LANES {
            let half = S::Reducer::step(results[lane], window[lane]);
            results[lane] = S::Reducer::step(half, window[lane + HALF]);
        }
        *out = results.map(S::store);
    }
}

/// Rows of `length` elements, of which `CHAINS` are accumulated at the same time; there are a multiple of them. What
/// comes before a row is the same for every so manieth.
struct Chains<'a, T, S> {
    x: &'a [T],
    length: usize,
    before: [T; CHAINS],
    out: &'a mut [T],
    scan: PhantomData<S>,
}

impl<T: Element, S: Scan<T>> VectorLoop for Chains<'_, T, S> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(self) {
        let together = CHAINS * self.length;
        let mut loaded = [S::Reducer::START; CHAINS * SHORT];
        for (x, out) in self.x.chunks_exact(together).zip(self.out.chunks_exact_mut(together)) {
            if S::IS_PLAIN {
                chains::<T, S::Reducer>(x, self.before, out);
            } else {
                // Loads and stores many elements at a time. Rows that are not plain are shorter than `SHORT`.
                let loaded = &mut loaded[..together];
                for (loaded, &x) in loaded.iter_mut().zip(x) {
                    *loaded = S::load(x);
                }
                chains::<T, S::Reducer>(loaded, self.before, out);
                out.iter_mut().for_each(|out| *out = S::store(*out));
            }
        }
    }
}

/// One element of each row after the other.
#[inline(always)]
fn chains<T: Element, R: Reducer<T>>(x: &[T], mut before: [T; CHAINS], mut out: &mut [T]) {
    let length = x.len() / CHAINS;
    let x: [&[T]; CHAINS] = std::array::from_fn(|chain| &x[chain * length..][..length]);
    let out: [&mut [T]; CHAINS] = std::array::from_fn(|_| {
        let (chain, behind) = std::mem::take(&mut out).split_at_mut(length);
        out = behind;
        chain
    });
    for at in 0..length {
        for chain in 0..CHAINS {
            before[chain] = R::step(before[chain], x[chain][at]);
            out[chain][at] = before[chain];
        }
    }
}

/// Rows, or some columns of them: those of `x` are `apart` elements from each other.
struct Rows<'a, T, S> {
    x: &'a [T],
    apart: usize,
    /// Rows after which another block begins, behind nothing.
    block: usize,
    out: Columns<'a, T>,
    scan: PhantomData<S>,
}

impl<T: Element, S: Scan<T>> VectorLoop for Rows<'_, T, S> {
    type Output = ();
    const WORTH_IT: bool = T::COMMON;

    #[inline(always)]
    fn run(mut self) {
        let width = self.out.width();
        for first in (0..width).step_by(TILE) {
            let mut out = self.out.part(first..width.min(first + TILE));
            let mut before = [S::Reducer::START; TILE];
            let before = &mut before[..out.width()];
            let mut left = self.block;
            for at in 0..out.rows() {
                if left == 0 {
                    before.fill(S::Reducer::START);
                    left = self.block;
                }
                left -= 1;
                if let Some(out) = out.row(at) {
                    row::<T, S>(&self.x[at * self.apart + first..][..out.len()], before, out);
                }
            }
        }
    }
}

/// One row behind what comes before it, which becomes that of the next row.
#[inline(always)]
fn row<T: Element, S: Scan<T>>(x: &[T], before: &mut [T], out: &mut [T]) {
    let whole = x.len() / (2 * LANES) * (2 * LANES);
    columns::<T, S>(&x[..whole], &mut before[..whole], &mut out[..whole]);
    let (x, last_x) = x[whole..].as_chunks::<FEW>();
    let (before, last_before) = before[whole..].as_chunks_mut::<FEW>();
    let (out, last_out) = out[whole..].as_chunks_mut::<FEW>();
    for ((&x, before), out) in x.iter().zip(before).zip(out) {
        let from = *before;
        *before = std::array::from_fn(|at| S::Reducer::step(from[at], S::load(x[at])));
        *out = before.map(S::store);
    }
    columns::<T, S>(last_x, last_before, last_out);
}

#[inline(always)]
fn columns<T: Element, S: Scan<T>>(x: &[T], before: &mut [T], out: &mut [T]) {
    for ((&x, before), out) in x.iter().zip(before).zip(out) {
        *before = S::Reducer::step(*before, S::load(x));
        *out = S::store(*before);
    }
}
