//! What products keep for a thread: memory, so that running allocates nothing.
//!
//! When a thread ends, its variables are destroyed in the opposite order of their first uses. So that a variable of a
//! user's can multiply when it is destroyed, all that products keep has to be there before the user's variable is.

use super::{deep, lanes, product, row, slim, widened};

/// Makes what the calling thread will keep.
pub fn keep() {
    macro_rules! touch {
        ($($variable:path),* $(,)?) => {
            $($variable.with(|_| ());)*
        };
    }
    touch!(
        deep::SUMS,
        lanes::COLUMNS,
        product::NUMBERS,
        product::ROWS,
        row::in_order::PARTS,
        slim::BLOCKS,
        widened::WIDE,
        widened::deep::SUMS,
        widened::many::KEPT,
        widened::pieces::OWN,
        widened::pieces::PART,
        widened::pieces::RESULTS,
        widened::pieces::WHOLE,
    );
    keep_memory_of_gemm();
}

/// Lets `gemm` make what it keeps for a thread, by a product whose left operand it would pack in there.
fn keep_memory_of_gemm() {
    // One vector of any instruction set, consecutive, and deeper than what `gemm` sums without memory.
    let (rows, columns, depth) = (16, 2, 3);
    let (a, b, mut c) = ([0.0_f32; 48], [0.0_f32; 6], [0.0_f32; 32]);
    let (down, right) = (1, rows as isize);
    // SAFETY: the arrays have as many elements as the extents and strides say.
    unsafe {
        let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
        let below = depth as isize;
        let alone = gemm::Parallelism::None;
        gemm::gemm(
            rows, columns, depth, c, right, down, false, a, right, down, b, below, 1, 0.0, 1.0, false, false, false,
            alone,
        );
    }
}
