//! What the tests and `self_check` share: inputs in every layout, how close two results are, what a refused mistake
//! says, and how tests end where no device can run them.

mod agreement;
mod inputs;
mod refusal;
mod without_device;

pub use agreement::{Outcome, Tolerance, close_floats, compare, same_integers};
pub use inputs::{
    BOOL, DTYPES, FILLED, FLOATS, FULL, INTEGERS, INTS, Layout, NUMERIC, bools, distinct, floats, integer_data, ints,
    quarters,
};
pub use refusal::{assert_refused, panic_message};
pub use without_device::assert_skipped;
