//! `MPSGraphSortOps.h`: sorting. `argSort` is left out: it is wrong for 64-bit integers from macOS 15.4 on, does not
//! order equal elements reliably, and replaces a sort of the same tensor in one graph.

use super::reduction;
use crate::kernels::sort::Sort;
use crate::mpsgraph::builder::{Accepts, Builder, refuse};
use crate::objc::{Id, Method, Sel, This, method4};

/// The selectors of the header that exist here.
pub const METHODS: &[Method] = &[method4("sortWithTensor:axis:descending:name:", sort).since(13, 0)];

/// With more rows than this, the order has been wrong.
const MOST_ROWS: usize = 1 << 22;

extern "C-unwind" fn sort(this: This<'_>, cmd: Sel, tensor: Id, axis: isize, descending: bool, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let (x, axis) = reduction::along(&builder, tensor, Accepts::Sorted, axis);
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
