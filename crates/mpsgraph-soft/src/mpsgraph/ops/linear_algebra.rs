//! `MPSGraphLinearAlgebraOps.h`: the band of a matrix, composed of comparisons of coordinates and a selection.

use crate::ir::{BinaryOp, DType, TensorType};
use crate::kernels::iota::Iota;
use crate::mpsgraph::builder::{Builder, refuse};
use crate::objc::{Id, Method, Sel, method4};

/// The selectors of the header that exist here.
pub const METHODS: &[Method] = &[method4("bandPartWithTensor:numLower:numUpper:name:", band_part).since(12, 3)];

extern "C-unwind" fn band_part(this: Id, cmd: Sel, tensor: Id, lower: isize, upper: isize, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let rank = builder.rank(x);
    if rank < 2 {
        refuse!(builder, "the input tensor has rank {rank}; a band needs a matrix");
    }
    let shape = builder.shape(x)[rank - 2..].to_vec();
    let coordinates = TensorType::new(DType::I32, shape.clone());
    let row = builder.emit(Iota { axis: 0 }, [], coordinates.clone());
    let column = builder.emit(Iota { axis: 1 }, [], coordinates);
    let mut kept = None;
    // A negative count keeps that whole side.
    for (count, far, near) in [(lower, row, column), (upper, column, row)] {
        if count < 0 {
            continue;
        }
        let distance = builder.binary(BinaryOp::Sub, far, near);
        let limit = builder.number(count as f64, DType::I32);
        let inside = builder.binary(BinaryOp::LessEqual, distance, limit);
        kept = Some(match kept {
            Some(kept) => builder.binary(BinaryOp::And, kept, inside),
            None => inside,
        });
    }
    let value = match kept {
        Some(kept) => {
            let zero = builder.number(0.0, builder.dtype(x));
            builder.select(kept, x, zero)
        }
        None => builder.unary(crate::ir::UnaryOp::Identity, x),
    };
    builder.tensor(value)
}
