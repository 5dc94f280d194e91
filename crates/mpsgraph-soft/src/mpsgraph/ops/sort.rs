//! `MPSGraphSortOps.h`: sorting. Positions are not sorted here: `argSort` is wrong for 64-bit integers from macOS 15.4
//! on, keeps equal elements in no certain order, and takes the place of a sort of the same tensor in one graph.

use crate::kernels::sort::Sort;
use crate::mpsgraph::builder::{Accepts, Builder, refuse};
use crate::objc::{Id, Method, Sel, This, method4};

/// The selectors of the header that exist here.
pub const METHODS: &[Method] = &[method4("sortWithTensor:axis:descending:name:", sort).since(13, 0)];

/// More rows than this came out in a wrong order.
const MOST_ROWS: usize = 1 << 22;

extern "C-unwind" fn sort(this: This<'_>, cmd: Sel, tensor: Id, axis: isize, descending: bool, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.operand(tensor, "input", Accepts::Sorted);
    builder.int64_needs(x, super::reduction::INT64_SINCE);
    builder.ranked(x, "input");
    let rank = builder.rank(x);
    let axis = builder.axis(axis as i64, rank);
    builder.minor_axis(axis, rank);
    let ty = builder.ty(x).clone();
    let rows = ty.elements() / ty.shape[axis];
    if rows > MOST_ROWS {
        refuse!(
            builder,
            "{rows} rows at once: more than {MOST_ROWS} have come out in a wrong order; sort them in parts"
        );
    }
    let value = builder.emit(Sort { axis, descending }, [x], ty);
    builder.tensor(value)
}
