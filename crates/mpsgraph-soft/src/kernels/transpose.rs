//! Transposes a plane of two axes in blocks.
//!
//! A plane of a few packed rows or columns is one loop ([`narrow`]). Others are divided into tiles. A tile is moved by
//! squares, which are read by rows of the source and written by rows of the destination, so few cache lines of either
//! side are in use at a time, also if the strides are powers of two. Tiles follow each other along the rows of the
//! source, 16 streams that the processor reads ahead, in bands short enough that the pages of the destination stay in
//! the translation cache.

#![expect(unsafe_code, reason = "strided memory behind pointers")]

mod narrow;

/// The plane: element `(i, j)` goes from `i * N + j * src_step` to `i * dst_row + j * dst_column` (bytes).
pub struct Plane {
    /// Extent of `i`, along which the source is contiguous.
    pub rows: usize,
    /// Extent of `j`, the innermost axis of the destination.
    pub columns: usize,
    /// Source step of `j`.
    pub src_step: isize,
    /// Destination step of `i`.
    pub dst_row: isize,
    /// Destination step of `j`.
    pub dst_column: isize,
}

/// Side of a tile: the elements of a cache line for 4-byte elements.
pub const TILE: usize = 16;
/// Destination rows of a band.
const BAND: usize = 128;

/// Moves the whole plane.
///
/// # Safety
/// Every element of the plane must be readable from `src` and writable from `dst`, without overlap.
pub unsafe fn transpose<const N: usize>(plane: &Plane, src: *const u8, dst: *mut u8) {
    // SAFETY: the caller's promise.
    if unsafe { narrow::transpose::<N>(plane, src, dst) } {
        return;
    }
    // A last tile that has no square begins earlier, so it writes some elements again.
    let (last_row, last_column) = (plane.rows.saturating_sub(side(N)), plane.columns.saturating_sub(side(N)));
    for band in (0..plane.rows).step_by(BAND) {
        let band_end = plane.rows.min(band + BAND);
        for j in (0..plane.columns).step_by(TILE) {
            let j = j.min(last_column);
            let columns = TILE.min(plane.columns - j);
            for i in (band..band_end).step_by(TILE) {
                let i = i.min(last_row);
                let rows = TILE.min(band_end - i);
                let from = src.wrapping_add(i * N).wrapping_offset(j as isize * plane.src_step);
                let to = dst.wrapping_offset(i as isize * plane.dst_row + j as isize * plane.dst_column);
                // SAFETY: the tile is a part of the plane that the caller vouches for.
                unsafe {
                    if rows.min(columns) < side(N) || plane.dst_column != N as isize {
                        each::<N>(plane, rows, columns, from, to);
                    } else if rows == TILE && columns == TILE {
                        tile::<N>(plane, TILE, TILE, from, to);
                    } else {
                        tile::<N>(plane, rows, columns, from, to);
                    }
                }
            }
        }
    }
}

/// Elements of `n` bytes that fill a vector.
const fn side(n: usize) -> usize {
    size_of::<Vector>() / n
}

/// A tile of at least a square with contiguous destination rows, by squares whose rows fill a vector.
///
/// # Safety
/// As for [`transpose`], for this tile.
#[inline(always)]
unsafe fn tile<const N: usize>(plane: &Plane, rows: usize, columns: usize, src: *const u8, dst: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        match N {
            1 => squares::<N, { side(1) }>(plane, rows, columns, src, dst),
            2 => squares::<N, { side(2) }>(plane, rows, columns, src, dst),
            4 => squares::<N, { side(4) }>(plane, rows, columns, src, dst),
            8 => squares::<N, { side(8) }>(plane, rows, columns, src, dst),
            _ => squares::<N, 1>(plane, rows, columns, src, dst),
        }
    }
}

/// A tile, by squares of `SIDE` by `SIDE` elements, a vector per row. The last ones may overlap those before.
///
/// # Safety
/// As for [`transpose`], for this tile, which has as many rows and columns as a square at least.
#[inline(always)]
unsafe fn squares<const N: usize, const SIDE: usize>(
    plane: &Plane,
    rows: usize,
    columns: usize,
    src: *const u8,
    dst: *mut u8,
) {
    for i in (0..rows).step_by(SIDE) {
        let i = i.min(rows - SIDE);
        for j in (0..columns).step_by(SIDE) {
            let j = j.min(columns - SIDE);
            let mut square: [Vector; SIDE] = std::array::from_fn(|row| {
                let from = src.wrapping_add(i * N).wrapping_offset((j + row) as isize * plane.src_step);
                // SAFETY: `SIDE` contiguous elements of a source row of the tile, which are a vector.
                unsafe { from.cast::<Vector>().read_unaligned() }
            });
            turn::<N, SIDE>(&mut square);
            for (column, row) in square.into_iter().enumerate() {
                let to = dst.wrapping_offset((i + column) as isize * plane.dst_row).wrapping_add(j * N);
                // SAFETY: `SIDE` contiguous elements of a destination row of the tile.
                unsafe { to.cast::<Vector>().write_unaligned(row) };
            }
        }
    }
}

/// Turns a square. Each step interleaves its halves, as a riffle does with a pack of cards.
#[inline(always)]
fn turn<const N: usize, const SIDE: usize>(rows: &mut [Vector; SIDE]) {
    for _ in 0..SIDE.ilog2() {
        let halves = *rows;
        for at in 0..SIDE / 2 {
            let (low, high) = interleave::<N>(halves[at], halves[at + SIDE / 2]);
            (rows[2 * at], rows[2 * at + 1]) = (low, high);
        }
    }
}

/// Numbers of a row of a square that fill a vector.
pub const SIDE: usize = 4;

/// A square of numbers, turned.
#[inline(always)]
pub fn turned(square: &[[f32; SIDE]; SIDE]) -> [[f32; SIDE]; SIDE] {
    // SAFETY: each row is as large as a vector.
    let mut rows = std::array::from_fn(|row| unsafe { square[row].as_ptr().cast::<Vector>().read_unaligned() });
    turn::<{ size_of::<f32>() }, SIDE>(&mut rows);
    let mut turned = [[0.0; SIDE]; SIDE];
    for (to, row) in turned.iter_mut().zip(rows) {
        // SAFETY: as above.
        unsafe { to.as_mut_ptr().cast::<Vector>().write_unaligned(row) };
    }
    turned
}

#[cfg(target_arch = "x86_64")]
type Vector = std::arch::x86_64::__m128i;

#[cfg(target_arch = "aarch64")]
type Vector = std::arch::aarch64::uint8x16_t;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Vector = [u8; 16];

/// Elements of `N` bytes of `a` and of `b` in turn: those of the lower halves, and those of the higher ones.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn interleave<const N: usize>(a: Vector, b: Vector) -> (Vector, Vector) {
    use std::arch::x86_64::*;
    // SAFETY: every x86-64 processor has SSE2.
    unsafe {
        match N {
            1 => (_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)),
            2 => (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)),
            4 => (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)),
            8 => (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)),
            _ => (a, b),
        }
    }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn interleave<const N: usize>(a: Vector, b: Vector) -> (Vector, Vector) {
    use std::arch::aarch64::*;
    // SAFETY: every AArch64 processor has NEON; vectors of one size may be read as each other.
    unsafe {
        macro_rules! of {
            ($to:ident, $from:ident, $low:ident, $high:ident) => {{
                let (a, b) = ($to(a), $to(b));
                ($from($low(a, b)), $from($high(a, b)))
            }};
        }
        match N {
            1 => (vzip1q_u8(a, b), vzip2q_u8(a, b)),
            2 => of!(vreinterpretq_u16_u8, vreinterpretq_u8_u16, vzip1q_u16, vzip2q_u16),
            4 => of!(vreinterpretq_u32_u8, vreinterpretq_u8_u32, vzip1q_u32, vzip2q_u32),
            8 => of!(vreinterpretq_u64_u8, vreinterpretq_u8_u64, vzip1q_u64, vzip2q_u64),
            _ => (a, b),
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn interleave<const N: usize>(a: Vector, b: Vector) -> (Vector, Vector) {
    let from = |half: usize| std::array::from_fn(|at| [a, b][at / N % 2][half + at / (2 * N) * N + at % N]);
    (from(0), from(8))
}

/// A tile of any size, element by element.
///
/// # Safety
/// As for [`transpose`], for this tile.
unsafe fn each<const N: usize>(plane: &Plane, rows: usize, columns: usize, src: *const u8, dst: *mut u8) {
    for j in 0..columns as isize {
        let from = src.wrapping_offset(j * plane.src_step).cast::<[u8; N]>();
        let to = dst.wrapping_offset(j * plane.dst_column);
        for i in 0..rows {
            // SAFETY: an element of the tile that the caller vouches for.
            unsafe {
                to.wrapping_offset(i as isize * plane.dst_row).cast::<[u8; N]>().write(from.wrapping_add(i).read())
            };
        }
    }
}
