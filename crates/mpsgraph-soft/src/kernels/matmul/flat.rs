//! A few rows times a large matrix. The matrix is read once, row by row, so the time is that of its way from memory.
//!
//! Some of its rows at a time are added to the results, which stay in the first caches. In tiles of columns, because
//! each row of the left operand reads the same numbers again. Sums of columns in registers, as in [`super::row`], would
//! read a short piece of each row, and the processor reads ahead within a page only.

use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Rows of the matrix that are added at a time.
const TOGETHER: usize = 4;
/// Columns of a tile.
const TILE: usize = 1024;
/// Columns of which the sums are in registers, and of what is left of them.
const BLOCK: usize = 64;
const SMALL_BLOCK: usize = 16;

/// So many rows, columns, and products that are summed. The numbers of the left operand stand as `steps` says (by row,
/// by column), the rows of the matrix `between` apart, and those of the result `out_between`.
pub(super) struct FlatProduct<'a> {
    pub extents: [usize; 3],
    pub left: &'a [f32],
    pub steps: [usize; 2],
    pub matrix: &'a [f32],
    pub between: usize,
    pub out: *mut f32,
    pub out_between: usize,
    /// Whether the product is added to what is there.
    pub accumulate: bool,
}

impl FlatProduct<'_> {
    /// Rows up to which this is faster than `gemm`, columns and elements of the matrix from which on.
    pub const MOST_ROWS: usize = 4;
    pub const LEAST_COLUMNS: usize = BLOCK;
    pub const LEAST: usize = 1 << 15;

    /// Multiplies.
    ///
    /// # Safety
    /// The rows of the result must be writable, apart from both operands; what is accumulated to is initialised.
    pub unsafe fn run(self) {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                // SAFETY: the feature that the function is compiled for was just detected.
                return unsafe { avx512(self) };
            }
        }
        vectorised(Plain(self));
    }

    /// Multiplies, with one rounding for a product and its sum if `FUSED`: as in `gemm`, the last bits depend on the
    /// processor.
    #[inline(always)]
    fn multiply<const FUSED: bool>(&self) {
        let [rows, columns, depth] = self.extents;
        for at in (0..depth).step_by(TOGETHER) {
            let whole = depth - at >= TOGETHER;
            for first in (0..columns).step_by(TILE) {
                let width = TILE.min(columns - first);
                for row in 0..rows {
                    let to = self.out.wrapping_add(row * self.out_between + first);
                    // SAFETY: a part of a row of the result, for which the caller of `run` vouches; zeros are written
                    // before anything is read that may not be initialised.
                    let out = unsafe {
                        if at == 0 && !self.accumulate {
                            to.write_bytes(0, width);
                        }
                        std::slice::from_raw_parts_mut(to, width)
                    };
                    if whole {
                        self.add::<TOGETHER, FUSED>([row, at, first], out);
                    } else {
                        (at..depth).for_each(|at| self.add::<1, FUSED>([row, at, first], out));
                    }
                }
            }
        }
    }

    /// Adds `R` rows of the matrix from `at` on, times the numbers of this row, to its columns from `first` on.
    #[inline(always)]
    fn add<const R: usize, const FUSED: bool>(&self, [row, at, first]: [usize; 3], out: &mut [f32]) {
        let mut numbers = [0.0; R];
        for (i, number) in numbers.iter_mut().enumerate() {
            *number = self.left[row * self.steps[0] + (at + i) * self.steps[1]];
        }
        let mut lines = [&self.matrix[..0]; R];
        for (i, line) in lines.iter_mut().enumerate() {
            *line = &self.matrix[(at + i) * self.between + first..][..out.len()];
        }
        let mut done = 0;
        while out.len() - done >= BLOCK {
            add_block::<BLOCK, R, FUSED>(&numbers, &lines, done, out);
            done += BLOCK;
        }
        while out.len() - done >= SMALL_BLOCK {
            add_block::<SMALL_BLOCK, R, FUSED>(&numbers, &lines, done, out);
            done += SMALL_BLOCK;
        }
        for (at, sum) in out.iter_mut().enumerate().skip(done) {
            for i in 0..R {
                *sum = step::<FUSED>(numbers[i], lines[i][at], *sum);
            }
        }
    }
}

/// Adds to `B` columns from this one on.
#[inline(always)]
fn add_block<const B: usize, const R: usize, const FUSED: bool>(
    numbers: &[f32; R],
    lines: &[&[f32]; R],
    first: usize,
    out: &mut [f32],
) {
    let out = out[first..].first_chunk_mut::<B>().expect("a whole block is left");
    let mut sums = *out;
    for i in 0..R {
        let line = lines[i][first..].first_chunk::<B>().expect("as long as the result");
        for (sum, x) in sums.iter_mut().zip(line) {
            *sum = step::<FUSED>(numbers[i], *x, *sum);
        }
    }
    *out = sums;
}

#[inline(always)]
fn step<const FUSED: bool>(number: f32, x: f32, sum: f32) -> f32 {
    if FUSED { number.mul_add(x, sum) } else { sum + number * x }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512(product: FlatProduct<'_>) {
    product.multiply::<true>();
}

/// A product without instructions that round once.
struct Plain<'a>(FlatProduct<'a>);

impl VectorLoop for Plain<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.multiply::<false>();
    }
}
