//! Writes of more updates than one node takes: some after the others, which gives the same, because updates are
//! combined in their order, and a later one replaces an earlier one.

use super::{Combine, integer};
use crate::error::unsupported;
use crate::lowering::MOST_ELEMENTS;
use crate::ops::tensor_shape::narrow;
use crate::tensor::MpsGraphTensor;

/// Most updates whose places are exact: f32 counts to 2^24, on which the integer scatters and the search for the last
/// writer rely.
pub(super) const EXACT: usize = (1 << 24) - 1;

/// Fewest updates that integers are summed by at a time. Fewer need fewer digits, but a node each time.
const FEWEST: usize = 1 << 12;

/// How many of `updates`, which have so many elements each, are combined with `data` at a time. Integers are summed
/// digit by digit, side by side, with as many digits as the number of updates asks for, and multiplied in a table.
///
/// # Panics
/// If there is no room for [`FEWEST`] sums, or for one product.
pub(super) fn most(name: &'static str, combine: Combine, data: &MpsGraphTensor, [updates, each]: [usize; 2]) -> usize {
    let (dtype, elements) = (data.dtype(), data.shape.num_elements());
    if dtype.is_float() {
        return updates;
    }
    let no_room = |what: &str| -> ! {
        let dims = data.dims();
        unsupported(
            name,
            format!("{dims:?} of {dtype:?}: {what} are more elements than a tensor has; split the tensor"),
        )
    };
    match combine {
        Combine::Add => {
            let mut some = updates.min(EXACT);
            while elements * integer::digits(dtype, some) > MOST_ELEMENTS && some > FEWEST {
                some /= 2;
            }
            let digits = integer::digits(dtype, some);
            if elements * digits > MOST_ELEMENTS {
                no_room(&format!("{digits} digits of each"));
            }
            some.min(MOST_ELEMENTS / digits / each)
        }
        Combine::Mul if elements > integer::TABLE => no_room("factors of all of them"),
        Combine::Mul => EXACT.min(integer::TABLE / elements),
        Combine::Min | Combine::Max => EXACT,
    }
}

/// Calls `write` with the tensor and with the updates of each part: so many indices along an axis of theirs, and of the
/// values along the axis `dim`.
pub(super) fn in_parts(
    tensor: MpsGraphTensor,
    (indices, axis): (MpsGraphTensor, usize),
    (value, dim): (MpsGraphTensor, usize),
    most: usize,
    write: impl Fn(MpsGraphTensor, MpsGraphTensor, MpsGraphTensor) -> MpsGraphTensor,
) -> MpsGraphTensor {
    let count = indices.shape[axis];
    (0..count).step_by(most).fold(tensor, |tensor, low| {
        let part = [low, count.min(low + most)];
        write(tensor, narrow(indices.clone(), axis, part), narrow(value.clone(), dim, part))
    })
}
