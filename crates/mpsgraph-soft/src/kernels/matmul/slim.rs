//! Products of which only one extent is long: points times a small matrix, and sums over many of them. Around a few
//! multiplications for each number `gemm` packs both operands.
//!
//! Long rows or columns are taken in blocks of [`LANES`], of which each line of the operand is made consecutive, so
//! that vectors go along it; so are the lines of operands that are deep, which `gemm` then sums up.

use super::product::Product;
use crate::kernels::vectorised::{VectorLoop, vectorised};
use std::cell::RefCell;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// The short extents at most.
const MOST: usize = 8;
/// Numbers of the long extent that are worked on together.
const LANES: usize = 64;
/// Numbers of a deep extent that are made consecutive together.
const DEPTH: usize = 512;

/// A few lines of a block.
type Lines<const LENGTH: usize> = [[f32; LENGTH]; MOST];

/// What is worked on: lines of the operand and of the result, or of both operands.
pub struct Blocks {
    long: [Lines<LANES>; 2],
    deep: [Lines<DEPTH>; 2],
}

impl Blocks {
    const EMPTY: Self = Self { long: [[[0.0; LANES]; MOST]; 2], deep: [[[0.0; DEPTH]; MOST]; 2] };
}

thread_local! {
    /// Kept because clearing them takes longer than a small product.
    pub static BLOCKS: RefCell<Blocks> = const { RefCell::new(Blocks::EMPTY) };
}

/// Which extent is long.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slim {
    Rows,
    Columns,
    Depth,
}

/// Lines of one extent, across, and lanes of another, along.
#[derive(Clone, Copy)]
struct Steps {
    across: usize,
    along: usize,
}

impl Product {
    /// Which extent is long, if the others are short.
    pub(super) fn slim(&self) -> Option<Slim> {
        let Self { extents: (m, n, k), a: (_, a), b: (_, b), c: (_, c_row), accumulate } = *self;
        let is_forward = [a.0, a.1, b.0, b.1].iter().all(|&stride| stride >= 0);
        // `gemm` is fast along rows of a right operand, and along the depth if both operands are consecutive there.
        let slim = match [m, n, k].map(|extent| extent <= MOST) {
            [false, true, true] if c_row == n => Slim::Rows,
            [true, false, true] if b.1 != 1 => Slim::Columns,
            [true, true, false] if a.1 != 1 || b.0 != 1 => Slim::Depth,
            _ => return None,
        };
        (is_forward && !accumulate).then_some(slim)
    }

    /// Multiplies.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub(super) unsafe fn run_slim(self, slim: Slim) {
        // SAFETY: the caller's promise.
        BLOCKS.with_borrow_mut(|blocks| unsafe { self.run_in(slim, blocks) });
    }

    /// Multiplies; what is in the blocks does not matter.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_in(self, slim: Slim, blocks: &mut Blocks) {
        let Self { extents: (m, n, k), a, b, c: (c, c_row), .. } = self;
        // SAFETY: from the first to the last element of an operand, for which the caller vouches.
        let a_elements = unsafe { from_raw_parts(a.0, reach([m, k], a.1)) };
        // SAFETY: likewise.
        let b_elements = unsafe { from_raw_parts(b.0, reach([k, n], b.1)) };
        let steps = |across: isize, along: isize| Steps { across: across as usize, along: along as usize };
        let [by_row, by_column] = [steps(a.1.0, a.1.1), steps(b.1.1, b.1.0)];
        let turned = |Steps { across, along }| Steps { across: along, along: across };
        let (extents, factors, long, out) = match slim {
            Slim::Depth => {
                // SAFETY: the caller's promise.
                return unsafe { self.by_depth([a_elements, b_elements], [by_row, by_column], &mut blocks.deep) };
            }
            Slim::Rows => {
                // SAFETY: the rows of the result follow each other, and are the caller's alone.
                let out = unsafe { from_raw_parts_mut(c, m * n) };
                let factors = small(b_elements, by_column, [n, k]);
                ([n, k, m], factors, (a_elements, turned(by_row)), Out::Together(out))
            }
            Slim::Columns => {
                let mut rows = [const { None }; MOST];
                for (row, to) in rows[..m].iter_mut().enumerate() {
                    // SAFETY: a row of the result, which is the caller's alone.
                    *to = Some(unsafe { from_raw_parts_mut(c.wrapping_add(row * c_row), n) });
                }
                let factors = small(a_elements, by_row, [m, k]);
                ([m, k, n], factors, (b_elements, turned(by_column)), Out::Apart(rows))
            }
        };
        vectorised(Long { extents, factors: &factors, long, out, blocks: &mut blocks.long });
    }

    /// Makes the lines of both operands consecutive, some numbers at a time, as `gemm` sums them up fast.
    ///
    /// # Safety
    /// As for [`run`](Self::run). The elements are those of the operands, and the steps those along their lines.
    unsafe fn by_depth(&self, elements: [&[f32]; 2], steps: [Steps; 2], blocks: &mut [Lines<DEPTH>; 2]) {
        let (m, n, k) = self.extents;
        for first in (0..k).step_by(DEPTH) {
            let count = DEPTH.min(k - first);
            let mut parts = [self.a, self.b];
            for (at, (part, to)) in parts.iter_mut().zip(&mut *blocks).enumerate() {
                let from = &elements[at][first * steps[at].along..];
                let mut across = steps[at].across;
                if steps[at].along == 1 {
                    part.0 = from.as_ptr();
                } else {
                    vectorised(Gather { from, steps: steps[at], lines: [m, n][at], count, to });
                    (part.0, across) = (to.as_ptr().cast(), DEPTH);
                }
                part.1 = if at == 0 { (across as isize, 1) } else { (1, across as isize) };
            }
            let [a, b] = parts;
            // SAFETY: the caller's promise for the result; the operands are parts of theirs, or what was gathered.
            unsafe { Self { extents: (m, n, count), a, b, accumulate: first > 0, ..*self }.run_by_gemm() };
        }
    }
}

/// Some numbers of a few lines, and where they become consecutive.
struct Gather<'a> {
    from: &'a [f32],
    steps: Steps,
    lines: usize,
    count: usize,
    to: &'a mut Lines<DEPTH>,
}

impl VectorLoop for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        read(self.from, self.steps, self.lines, self.count, self.to);
    }
}

/// Elements from the first to the last of a matrix with no negative strides.
pub(super) fn reach(extents: [usize; 2], strides: (isize, isize)) -> usize {
    1 + (extents[0] - 1) * strides.0 as usize + (extents[1] - 1) * strides.1 as usize
}

/// The elements of a small matrix, by lines.
fn small(elements: &[f32], steps: Steps, [lines, along]: [usize; 2]) -> [[f32; MOST]; MOST] {
    let mut small = [[0.0; MOST]; MOST];
    for (line, small) in small[..lines].iter_mut().enumerate() {
        for (at, small) in small[..along].iter_mut().enumerate() {
            *small = elements[line * steps.across + at * steps.along];
        }
    }
    small
}

/// Brings `count` lanes of some lines in.
#[inline(always)]
fn read<const LENGTH: usize>(from: &[f32], steps: Steps, lines: usize, count: usize, to: &mut Lines<LENGTH>) {
    if steps.along == 1 {
        for (line, to) in to[..lines].iter_mut().enumerate() {
            to[..count].copy_from_slice(&from[line * steps.across..][..count]);
        }
        return;
    }
    if steps.across == 1 && steps.along == lines {
        let from = &from[..count * lines];
        return match lines {
            2 => apart::<2, _>(from, to),
            3 => apart::<3, _>(from, to),
            4 => apart::<4, _>(from, to),
            5 => apart::<5, _>(from, to),
            6 => apart::<6, _>(from, to),
            7 => apart::<7, _>(from, to),
            _ => apart::<MOST, _>(from, to),
        };
    }
    for (line, to) in to[..lines].iter_mut().enumerate() {
        for (lane, to) in to[..count].iter_mut().enumerate() {
            *to = from[line * steps.across + lane * steps.along];
        }
    }
}

/// Takes what belongs to each lane apart.
#[inline(always)]
fn apart<const LINES: usize, const LENGTH: usize>(from: &[f32], to: &mut Lines<LENGTH>) {
    for (lane, from) in from.as_chunks::<LINES>().0.iter().enumerate().take(LENGTH) {
        for line in 0..LINES {
            to[line][lane] = from[line];
        }
    }
}

/// The reverse of [`apart`].
#[inline(always)]
fn together<const LINES: usize>(from: &Lines<LANES>, to: &mut [f32]) {
    for (lane, to) in to.as_chunks_mut::<LINES>().0.iter_mut().enumerate().take(LANES) {
        for line in 0..LINES {
            to[line] = from[line][lane];
        }
    }
}

/// Where the lines of a result are.
enum Out<'a> {
    /// Those of a lane follow each other.
    Together(&'a mut [f32]),
    Apart([Option<&'a mut [f32]>; MOST]),
}

impl Out<'_> {
    /// Takes `count` lanes from `first` on.
    #[inline(always)]
    fn write(&mut self, lines: usize, [first, count]: [usize; 2], from: &Lines<LANES>) {
        match self {
            Out::Together(out) => {
                let to = &mut out[first * lines..][..count * lines];
                match lines {
                    1 => together::<1>(from, to),
                    2 => together::<2>(from, to),
                    3 => together::<3>(from, to),
                    4 => together::<4>(from, to),
                    5 => together::<5>(from, to),
                    6 => together::<6>(from, to),
                    7 => together::<7>(from, to),
                    _ => together::<MOST>(from, to),
                }
            }
            Out::Apart(rows) => {
                for (row, from) in rows.iter_mut().flatten().zip(from) {
                    row[first..first + count].copy_from_slice(&from[..count]);
                }
            }
        }
    }
}

/// A small matrix times a long one: lines, depth and lanes.
struct Long<'a> {
    extents: [usize; 3],
    factors: &'a [[f32; MOST]; MOST],
    long: (&'a [f32], Steps),
    out: Out<'a>,
    blocks: &'a mut [Lines<LANES>; 2],
}

impl VectorLoop for Long<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { extents: [lines, depth, lanes], factors, long: (long, steps), mut out, blocks } = self;
        let [x, y] = blocks;
        for first in (0..lanes).step_by(LANES) {
            let count = LANES.min(lanes - first);
            read(&long[first * steps.along..], steps, depth, count, x);
            for (y, factors) in y[..lines].iter_mut().zip(factors) {
                let mut sums = [0.0; LANES];
                for (x, &factor) in x[..depth].iter().zip(factors) {
                    for lane in 0..LANES {
                        sums[lane] += factor * x[lane];
                    }
                }
                *y = sums;
            }
            out.write(lines, [first, count], y);
        }
    }
}

#[cfg(test)]
mod tests;
