//! Slices and slice updates.
//!
//! Starts below zero count from the end; ends are clipped. MPSGraph aborts on a slice that leaves the tensor, and on a
//! slice of length zero when it runs; both are refused here.

use crate::ir::{TensorType, ViewOp};
use crate::kernels::movement::Movement;
use crate::mpsgraph::builder::{Builder, refuse};
use crate::mpsgraph::shape::Shown;
use crate::objc::{Id, Method, Sel, This, method5, method6, method9};

/// Slicing selectors.
pub const METHODS: &[Method] = &[
    method5("sliceTensor:dimension:start:length:name:", slice_dimension),
    method5("sliceTensor:starts:ends:strides:name:", slice),
    method6("sliceUpdateDataTensor:updateTensor:starts:ends:strides:name:", update).since(15, 0),
    method9(
        "sliceUpdateDataTensor:updateTensor:starts:ends:strides:startMask:endMask:squeezeMask:name:",
        update_with_masks,
    )
    .since(14, 4),
];

/// A part of a tensor.
struct Region {
    starts: Vec<usize>,
    strides: Vec<isize>,
    shape: Vec<usize>,
}

/// The region that three arrays name. On the dimensions whose bit is set in the mask, it begins at the first element.
fn region(builder: &Builder, from: &[usize], arrays: [Id; 3], start_mask: u32) -> Region {
    let rank = from.len();
    if u64::from(start_mask) >> rank != 0 {
        refuse!(builder, "the mask has bits beyond the {rank} dimensions of {from:?}");
    }
    let [starts, ends, strides] = arrays;
    let starts = builder.integers_per_axis(starts, "starts", rank);
    let ends = builder.integers_per_axis(ends, "ends", rank);
    let strides = builder.integers_per_axis(strides, "strides", rank);
    let mut region = Region { starts: Vec::new(), strides: Vec::new(), shape: Vec::new() };
    for axis in 0..rank {
        let extent = from[axis] as i64;
        let from_start = |position: i64| {
            if position < 0 { position.saturating_add(extent) } else { position }
        };
        let stride = strides[axis];
        let start = match (start_mask >> axis & 1 == 1, stride) {
            (_, 0) => refuse!(builder, "stride 0 on axis {axis}: MPSGraph aborts"),
            (true, 1..) => 0,
            (true, _) => refuse!(
                builder,
                "a start mask with a negative stride on axis {axis}: where it starts is not documented"
            ),
            (false, _) => from_start(starts[axis]),
        };
        if !(0..extent).contains(&start) {
            refuse!(builder, "start {} on axis {axis} of {from:?} is out of bounds: MPSGraph aborts", starts[axis]);
        }
        let reach = if stride > 0 {
            from_start(ends[axis]).min(extent) - start
        } else {
            start - from_start(ends[axis]).max(-1)
        };
        if reach < 1 {
            let (start, end) = (starts[axis], ends[axis]);
            refuse!(
                builder,
                "{start} to {end} by {stride} on axis {axis} of {from:?} is empty: the executable aborts when run"
            );
        }
        let length = (reach as u64 - 1) as usize / stride.unsigned_abs() as usize + 1;
        region.starts.push(start as usize);
        region.strides.push(stride as isize);
        region.shape.push(length);
    }
    region
}

extern "C-unwind" fn slice_dimension(
    this: This<'_>,
    cmd: Sel,
    tensor: Id,
    dimension: usize,
    start: isize,
    length: isize,
    name: Id,
) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let mut ty = builder.ty(x).clone();
    let rank = ty.shape.len();
    let axis = builder.unsigned_axis(dimension, rank);
    let extent = ty.shape[axis] as i64;
    let first = if start < 0 { start as i64 + extent } else { start as i64 };
    if first < 0 || length < 1 || length as i64 > extent - first {
        refuse!(builder, "{length} from {start} on of extent {extent}: out of bounds or empty: MPSGraph aborts");
    }
    let mut starts = vec![0; rank];
    starts[axis] = first as usize;
    ty.shape[axis] = length as usize;
    let value = builder.emit(ViewOp::Slice { starts, strides: vec![1; rank] }, [x], ty);
    builder.tensor(value)
}

extern "C-unwind" fn slice(this: This<'_>, cmd: Sel, tensor: Id, starts: Id, ends: Id, strides: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    builder.ranked(x, "input");
    let Region { starts, strides, shape } = region(&builder, builder.shape(x), [starts, ends, strides], 0);
    let ty = TensorType { dtype: builder.dtype(x), shape };
    let value = builder.emit(ViewOp::Slice { starts, strides }, [x], ty);
    builder.tensor(value)
}

extern "C-unwind" fn update(
    this: This<'_>,
    cmd: Sel,
    data: Id,
    update: Id,
    starts: Id,
    ends: Id,
    strides: Id,
    name: Id,
) -> Id {
    emit_update(Builder::open(this, cmd, name), data, update, [starts, ends, strides], 0)
}

extern "C-unwind" fn update_with_masks(
    this: This<'_>,
    cmd: Sel,
    data: Id,
    update: Id,
    starts: Id,
    ends: Id,
    strides: Id,
    start: u32,
    end: u32,
    squeeze: u32,
    name: Id,
) -> Id {
    let builder = Builder::open(this, cmd, name);
    if end != 0 || squeeze != 0 {
        refuse!(builder, "MPSGraph aborts on an end mask or a squeeze mask of a slice update");
    }
    emit_update(builder, data, update, [starts, ends, strides], start)
}

fn emit_update(mut builder: Builder, data: Id, update: Id, arrays: [Id; 3], start_mask: u32) -> Id {
    let data = builder.value(data, "data");
    let update = builder.value(update, "update");
    builder.ranked(data, "data");
    builder.same_dtype(data, update);
    let Region { starts, strides, shape } = region(&builder, builder.shape(data), arrays, start_mask);
    if builder.shape(update) != shape {
        refuse!(
            builder,
            "the update {} must have the region's shape {shape:?}: MPSGraph aborts",
            Shown(builder.ty(update))
        );
    }
    let ty = builder.ty(data).clone();
    let value = builder.emit(Movement::SliceUpdate { starts, strides }, [data, update], ty);
    builder.tensor(value)
}
