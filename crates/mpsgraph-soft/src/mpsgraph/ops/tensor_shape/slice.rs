//! Slices and slice updates.
//!
//! Starts below zero count from the end; ends are clipped. What leaves the tensor aborts, and a slice of length zero
//! aborts when it is run, so both are refused here.

use crate::ir::{TensorType, ViewOp};
use crate::kernels::movement::Movement;
use crate::mpsgraph::builder::{Builder, refuse};
use crate::mpsgraph::shape::Shown;
use crate::objc::{Id, Method, Sel, method5, method6, method8, method9};

/// Slicing selectors.
pub const METHODS: &[Method] = &[
    method5("sliceTensor:dimension:start:length:name:", slice_dimension),
    method5("sliceTensor:starts:ends:strides:name:", slice),
    method8("sliceTensor:starts:ends:strides:startMask:endMask:squeezeMask:name:", slice_with_masks),
    method6("sliceUpdateDataTensor:updateTensor:starts:ends:strides:name:", update).since(15, 0),
    method9(
        "sliceUpdateDataTensor:updateTensor:starts:ends:strides:startMask:endMask:squeezeMask:name:",
        update_with_masks,
    )
    .since(14, 4),
];

/// Bit `i` is for dimension `i`.
#[derive(Clone, Copy)]
struct Masks {
    start: u32,
    end: u32,
    squeeze: u32,
}

const NO_MASKS: Masks = Masks { start: 0, end: 0, squeeze: 0 };

/// A part of a tensor.
struct Region {
    starts: Vec<usize>,
    strides: Vec<isize>,
    shape: Vec<usize>,
}

/// The region that three arrays and the masks name.
fn region(builder: &Builder, from: &[usize], arrays: [Id; 3], masks: Masks) -> Region {
    let rank = from.len();
    if u64::from(masks.start | masks.end | masks.squeeze) >> rank != 0 {
        refuse!(builder, "a mask has bits beyond the {rank} dimensions of {from:?}");
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
        let set = |mask: u32| mask >> axis & 1 == 1;
        let stride = strides[axis];
        let start = match (set(masks.start), stride) {
            (_, 0) => refuse!(builder, "stride 0 on axis {axis} aborts"),
            (true, 1..) => 0,
            (true, _) => refuse!(
                builder,
                "a start mask with a negative stride on axis {axis}: where it starts is not documented"
            ),
            (false, _) => from_start(starts[axis]),
        };
        if !(0..extent).contains(&start) {
            refuse!(builder, "start {} on axis {axis} of {from:?} is out of bounds: it aborts", starts[axis]);
        }
        let span = if stride > 0 {
            (if set(masks.end) { extent } else { from_start(ends[axis]).min(extent) }) - start
        } else {
            start - if set(masks.end) { -1 } else { from_start(ends[axis]).max(-1) }
        };
        if span < 1 {
            let (start, end) = (starts[axis], ends[axis]);
            refuse!(builder, "{start} to {end} by {stride} on axis {axis} of {from:?} is empty: it aborts when run");
        }
        let length = (span as u64 - 1) as usize / stride.unsigned_abs() as usize + 1;
        if set(masks.squeeze) && length != 1 {
            refuse!(
                builder,
                "the squeeze mask drops axis {axis}, where the slice has {length} elements: all but the first are lost"
            );
        }
        region.starts.push(start as usize);
        region.strides.push(stride as isize);
        region.shape.push(length);
    }
    region
}

extern "C-unwind" fn slice_dimension(
    this: Id,
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
        refuse!(builder, "{length} from {start} on of extent {extent}: out of bounds or empty, which aborts");
    }
    let mut starts = vec![0; rank];
    starts[axis] = first as usize;
    ty.shape[axis] = length as usize;
    let value = builder.emit(ViewOp::Slice { starts, strides: vec![1; rank] }, [x], ty);
    builder.tensor(value)
}

extern "C-unwind" fn slice(this: Id, cmd: Sel, tensor: Id, starts: Id, ends: Id, strides: Id, name: Id) -> Id {
    emit_slice(Builder::open(this, cmd, name), tensor, [starts, ends, strides], NO_MASKS)
}

extern "C-unwind" fn slice_with_masks(
    this: Id,
    cmd: Sel,
    tensor: Id,
    starts: Id,
    ends: Id,
    strides: Id,
    start: u32,
    end: u32,
    squeeze: u32,
    name: Id,
) -> Id {
    emit_slice(Builder::open(this, cmd, name), tensor, [starts, ends, strides], Masks { start, end, squeeze })
}

fn emit_slice(mut builder: Builder, tensor: Id, arrays: [Id; 3], masks: Masks) -> Id {
    let x = builder.value(tensor, "input");
    builder.ranked(x, "input");
    let Region { starts, strides, shape } = region(&builder, builder.shape(x), arrays, masks);
    let kept = (0..shape.len()).filter(|&axis| masks.squeeze >> axis & 1 == 0);
    let squeezed: Vec<usize> = kept.map(|axis| shape[axis]).collect();
    if squeezed.is_empty() {
        refuse!(builder, "the squeeze mask leaves rank 0, which many operations abort on");
    }
    let ty = TensorType { dtype: builder.dtype(x), shape };
    let mut value = builder.emit(ViewOp::Slice { starts, strides }, [x], ty);
    if masks.squeeze != 0 {
        value = builder.reshape(value, squeezed);
    }
    builder.tensor(value)
}

extern "C-unwind" fn update(
    this: Id,
    cmd: Sel,
    data: Id,
    update: Id,
    starts: Id,
    ends: Id,
    strides: Id,
    name: Id,
) -> Id {
    emit_update(Builder::open(this, cmd, name), data, update, [starts, ends, strides], NO_MASKS)
}

extern "C-unwind" fn update_with_masks(
    this: Id,
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
        refuse!(builder, "an end mask or a squeeze mask of a slice update aborts");
    }
    emit_update(builder, data, update, [starts, ends, strides], Masks { start, end, squeeze })
}

fn emit_update(mut builder: Builder, data: Id, update: Id, arrays: [Id; 3], masks: Masks) -> Id {
    let data = builder.value(data, "data");
    let update = builder.value(update, "update");
    builder.ranked(data, "data");
    builder.same_dtype(data, update);
    let Region { starts, strides, shape } = region(&builder, builder.shape(data), arrays, masks);
    if builder.shape(update) != shape {
        refuse!(builder, "the update {} must have the region's shape {shape:?}: it aborts", Shown(builder.ty(update)));
    }
    let ty = builder.ty(data).clone();
    let value = builder.emit(Movement::SliceUpdate { starts, strides }, [data, update], ty);
    builder.tensor(value)
}
