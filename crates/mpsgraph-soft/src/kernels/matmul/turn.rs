//! Turns squares of 16 by 16 numbers: their columns become rows.
//!
//! It chooses AVX-512 without [`vectorised`], whose loops have to ask for it: a loop over squares stays in the first
//! cache, where wider registers are faster, as they are not in most loops.

use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Rows and columns of a square.
pub const SIDE: usize = 16;
/// Numbers that are turned: row by row.
pub type Square = [[f32; SIDE]; SIDE];

/// A loop that turns squares.
pub trait SquareLoop {
    /// The loop, given what turns a square; `#[inline(always)]` in every implementation.
    fn run(self, turned: impl Fn(&Square) -> Square);
}

/// Runs `work` with the widest registers that this processor has.
pub fn run<L: SquareLoop>(work: L) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the feature that the function is compiled for was just detected.
            return unsafe { run_avx512(work) };
        }
    }
    vectorised(Plain(work));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn run_avx512<L: SquareLoop>(work: L) {
    work.run(|square| avx512(square));
}

/// A loop that turns squares as the compiler makes it.
struct Plain<L>(L);

impl<L: SquareLoop> VectorLoop for Plain<L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.run(plain);
    }
}

#[inline(always)]
fn plain(square: &Square) -> Square {
    std::array::from_fn(|row| std::array::from_fn(|column| square[column][row]))
}

/// By rows that are interleaved four times; each time the highest bit of the row's number becomes the lowest bit of the
/// column's, and the other bits move up. The compiler would gather single numbers. Loops, because a closure would not
/// become a part of the function that the standard library calls it from, which lacks the registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn avx512(square: &Square) -> Square {
    use std::arch::x86_64::{
        _mm512_loadu_ps, _mm512_loadu_si512, _mm512_permutex2var_ps, _mm512_setzero_ps, _mm512_storeu_ps,
    };
    const LOW: [i32; 16] = [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23];
    const HIGH: [i32; 16] = [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31];
    // SAFETY: both arrays have the 64 bytes that are loaded.
    let (low, high) = unsafe { (_mm512_loadu_si512(LOW.as_ptr().cast()), _mm512_loadu_si512(HIGH.as_ptr().cast())) };
    let mut rows = [_mm512_setzero_ps(); 16];
    for (row, numbers) in rows.iter_mut().zip(square) {
        // SAFETY: as above.
        *row = unsafe { _mm512_loadu_ps(numbers.as_ptr()) };
    }
    for _ in 0..4 {
        let before = rows;
        for at in 0..8 {
            rows[2 * at] = _mm512_permutex2var_ps(before[at], low, before[at + 8]);
            rows[2 * at + 1] = _mm512_permutex2var_ps(before[at], high, before[at + 8]);
        }
    }
    let mut turned = [[0.0; 16]; 16];
    for (numbers, row) in turned.iter_mut().zip(rows) {
        // SAFETY: the array has the 64 bytes that are stored.
        unsafe { _mm512_storeu_ps(numbers.as_mut_ptr(), row) };
    }
    turned
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_as_rows() {
        let square = std::array::from_fn(|row| std::array::from_fn(|column| (16 * row + column) as f32));
        let turned = super::plain(&square);
        assert_eq!(turned[3][5], square[5][3]);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the feature that the function is compiled for was just detected.
            assert_eq!(unsafe { super::avx512(&square) }, turned);
        }
    }
}
