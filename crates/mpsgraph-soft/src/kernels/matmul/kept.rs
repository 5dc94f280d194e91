//! What products keep for a thread: memory, so that running allocates nothing.
//!
//! When a thread ends, its variables are destroyed in the opposite order of their first uses. So that a variable of a
//! user's can multiply when it is destroyed, all that products keep has to be there before the user's variable is.

use super::{deep, lanes, product, row, widened};

/// Makes what the calling thread will keep.
pub fn keep() {
    macro_rules! touch {
        ($($variable:path),* $(,)?) => {
            $($variable.with(|_| ());)*
        };
    }
    touch!(
        deep::LOWER,
        lanes::COLUMNS,
        product::NUMBERS,
        product::ROWS,
        row::in_order::PARTS,
        widened::WIDE,
        widened::deep::SUMS,
        widened::pieces::OWN,
        widened::pieces::PART,
        widened::pieces::RESULTS,
        widened::pieces::WHOLE,
    );
    product::keep_memory_of_gemm();
}
