//! `MPSGraphOneHotOps.h`: composed of a comparison with coordinates and a selection.

use crate::ir::{BinaryOp, DType, TensorType};
use crate::kernels::iota::Iota;
use crate::mpsgraph::builder::{Accepts, Builder, refuse};
use crate::objc::{Id, Method, Sel, method3, method4, method5, method6, method7};

/// The selectors of the header.
pub const METHODS: &[Method] = &[
    method7("oneHotWithIndicesTensor:depth:axis:dataType:onValue:offValue:name:", axis_type_values),
    method6("oneHotWithIndicesTensor:depth:dataType:onValue:offValue:name:", type_values),
    method5("oneHotWithIndicesTensor:depth:axis:dataType:name:", axis_type),
    method4("oneHotWithIndicesTensor:depth:axis:name:", axis_only),
    method4("oneHotWithIndicesTensor:depth:dataType:name:", type_only),
    method3("oneHotWithIndicesTensor:depth:name:", plain),
];

const FLOAT32: u32 = crate::mpsgraph::dtype::code(DType::F32);

/// What a message asks for; what it does not mention is as Apple's header says.
struct OneHot {
    indices: Id,
    depth: usize,
    /// The last, if none is given.
    axis: Option<usize>,
    data_type: u32,
    on: f64,
    off: f64,
}

impl OneHot {
    fn new(indices: Id, depth: usize) -> Self {
        Self { indices, depth, axis: None, data_type: FLOAT32, on: 1.0, off: 0.0 }
    }

    fn axis(mut self, axis: usize) -> Self {
        self.axis = Some(axis);
        self
    }

    fn data_type(mut self, code: u32) -> Self {
        self.data_type = code;
        self
    }

    fn values(mut self, on: f64, off: f64) -> Self {
        (self.on, self.off) = (on, off);
        self
    }
}

fn one_hot(this: Id, cmd: Sel, name: Id, asked: OneHot) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let indices = builder.operand(asked.indices, "indices", Accepts::Integers);
    let dtype = builder.dtype_of_code(asked.data_type);
    if asked.depth == 0 || i32::try_from(asked.depth).is_err() {
        refuse!(builder, "depth {}: it must be positive and fit 32 bits", asked.depth);
    }
    builder.not_negative_infinity(asked.on, dtype);
    builder.not_negative_infinity(asked.off, dtype);
    let rank = builder.rank(indices);
    let axis = asked.axis.unwrap_or(rank);
    let axis = builder.unsigned_axis(axis, rank + 1);
    let mut shape = builder.shape(indices).to_vec();
    shape.insert(axis, 1);
    // Any index type may be too narrow for the depth.
    let indices = builder.cast(indices, DType::I64);
    let indices = builder.reshape(indices, shape);
    let mut positions = vec![1; rank + 1];
    positions[axis] = asked.depth;
    let positions = builder.emit(Iota { axis }, [], TensorType::new(DType::I32, positions));
    let positions = builder.cast(positions, DType::I64);
    let hot = builder.binary(BinaryOp::Equal, indices, positions);
    let on = builder.number(asked.on, dtype);
    let off = builder.number(asked.off, dtype);
    let value = builder.select(hot, on, off);
    builder.tensor(value)
}

extern "C-unwind" fn axis_type_values(
    this: Id,
    cmd: Sel,
    indices: Id,
    depth: usize,
    axis: usize,
    code: u32,
    on: f64,
    off: f64,
    name: Id,
) -> Id {
    let asked = OneHot::new(indices, depth).axis(axis);
    one_hot(this, cmd, name, asked.data_type(code).values(on, off))
}

extern "C-unwind" fn type_values(
    this: Id,
    cmd: Sel,
    indices: Id,
    depth: usize,
    code: u32,
    on: f64,
    off: f64,
    name: Id,
) -> Id {
    let asked = OneHot::new(indices, depth).data_type(code);
    one_hot(this, cmd, name, asked.values(on, off))
}

extern "C-unwind" fn axis_type(this: Id, cmd: Sel, indices: Id, depth: usize, axis: usize, code: u32, name: Id) -> Id {
    let asked = OneHot::new(indices, depth).axis(axis).data_type(code);
    one_hot(this, cmd, name, asked)
}

extern "C-unwind" fn axis_only(this: Id, cmd: Sel, indices: Id, depth: usize, axis: usize, name: Id) -> Id {
    one_hot(this, cmd, name, OneHot::new(indices, depth).axis(axis))
}

extern "C-unwind" fn type_only(this: Id, cmd: Sel, indices: Id, depth: usize, code: u32, name: Id) -> Id {
    one_hot(this, cmd, name, OneHot::new(indices, depth).data_type(code))
}

extern "C-unwind" fn plain(this: Id, cmd: Sel, indices: Id, depth: usize, name: Id) -> Id {
    one_hot(this, cmd, name, OneHot::new(indices, depth))
}
