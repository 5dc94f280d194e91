//! `MPSGraphCumulativeOps.h`. An axis is one of the last four dimensions, as for reductions; Apple does not document
//! which element types have kernels, so those of reductions are assumed.

use super::reduction;
use crate::kernels::cumulative::{Cumulative, Running};
use crate::mpsgraph::builder::{Accepts, Builder};
use crate::objc::{Id, Method, Sel, This, method3};

/// A method with `axis:`: the selector, what is accumulated.
macro_rules! along_axis {
    ($selector:literal, $running:ident) => {{
        extern "C-unwind" fn body(this: This<'_>, cmd: Sel, tensor: Id, axis: isize, name: Id) -> Id {
            cumulative(this, cmd, tensor, axis, name, Running::$running)
        }
        method3($selector, body).since(13, 0)
    }};
}

/// The selectors of the header.
pub const METHODS: &[Method] = &[
    along_axis!("cumulativeSumWithTensor:axis:name:", Sum),
    along_axis!("cumulativeProductWithTensor:axis:name:", Product),
    along_axis!("cumulativeMinimumWithTensor:axis:name:", Minimum),
    along_axis!("cumulativeMaximumWithTensor:axis:name:", Maximum),
];

fn cumulative(this: This<'_>, cmd: Sel, tensor: Id, axis: isize, name: Id, running: Running) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let (x, axis) = reduction::along(&builder, tensor, Accepts::Reduced, axis);
    let ty = builder.ty(x).clone();
    let value = builder.emit(Cumulative { running, axis }, [x], ty);
    builder.tensor(value)
}
