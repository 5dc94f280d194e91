//! Transposes a plane of two axes in blocks.
//!
//! A tile is read by rows of the source into a buffer and written by rows of the destination, so every cache line of
//! either side is touched once, also if the strides are powers of two. Tiles follow each other along the rows of the
//! source, 16 streams that the processor reads ahead, in bands short enough that the pages of the destination stay in
//! the translation cache.

#![expect(unsafe_code, reason = "strided memory behind pointers")]

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
const TILE: usize = 16;
/// Destination rows of a band.
const BAND: usize = 128;

/// Moves the whole plane.
///
/// # Safety
/// Every element of the plane must be readable from `src` and writable from `dst`, without overlap.
pub unsafe fn transpose<const N: usize>(plane: &Plane, src: *const u8, dst: *mut u8) {
    for band in (0..plane.rows).step_by(BAND) {
        let band_end = plane.rows.min(band + BAND);
        for j in (0..plane.columns).step_by(TILE) {
            let columns = TILE.min(plane.columns - j);
            for i in (band..band_end).step_by(TILE) {
                let rows = TILE.min(band_end - i);
                let from = src.wrapping_add(i * N).wrapping_offset(j as isize * plane.src_step);
                let to = dst.wrapping_offset(i as isize * plane.dst_row + j as isize * plane.dst_column);
                // SAFETY: the tile is a part of the plane that the caller vouches for.
                unsafe {
                    if rows == TILE && columns == TILE && plane.dst_column == N as isize {
                        full_tile::<N>(plane, from, to);
                    } else {
                        edge_tile::<N>(plane, rows, columns, from, to);
                    }
                }
            }
        }
    }
}

/// A tile of `TILE` by `TILE` with contiguous destination rows.
///
/// # Safety
/// As for [`transpose`], for this tile.
#[inline(always)]
unsafe fn full_tile<const N: usize>(plane: &Plane, src: *const u8, dst: *mut u8) {
    let mut tile = [[[0u8; N]; TILE]; TILE];
    for (j, row) in tile.iter_mut().enumerate() {
        // SAFETY: `TILE` contiguous elements of source row `j`; arrays of bytes need no alignment.
        *row = unsafe { src.wrapping_offset(j as isize * plane.src_step).cast::<[[u8; N]; TILE]>().read() };
    }
    let tile: [[[u8; N]; TILE]; TILE] = std::array::from_fn(|i| std::array::from_fn(|j| tile[j][i]));
    for (i, row) in tile.into_iter().enumerate() {
        // SAFETY: `TILE` contiguous elements of destination row `i`.
        unsafe { dst.wrapping_offset(i as isize * plane.dst_row).cast::<[[u8; N]; TILE]>().write(row) };
    }
}

/// A tile of any size.
///
/// # Safety
/// As for [`transpose`], for this tile.
unsafe fn edge_tile<const N: usize>(plane: &Plane, rows: usize, columns: usize, src: *const u8, dst: *mut u8) {
    for i in 0..rows {
        for j in 0..columns {
            let from = src.wrapping_add(i * N).wrapping_offset(j as isize * plane.src_step);
            let to = dst.wrapping_offset(i as isize * plane.dst_row + j as isize * plane.dst_column);
            // SAFETY: an element of the tile that the caller vouches for.
            unsafe { to.cast::<[u8; N]>().write(from.cast::<[u8; N]>().read()) };
        }
    }
}
