//! Elements and rows written by index.

mod gradients;
#[cfg(test)]
mod many;
mod nd;
mod out_of_range;
mod sums;
mod writes;

use test_support::Layout;

/// Layouts of \[2, 5, 3\] without NaN and infinities: sums of those depend on the order of the updates.
pub const ORDINARY: [Layout; 4] = [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast];

modules! { gradients nd sums writes }
