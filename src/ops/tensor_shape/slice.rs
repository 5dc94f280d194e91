//! Reading and replacing a strided region.
//!
//! A slice by a negative step is a slice by a positive step and a reversal, because Apple does not document what
//! `sliceTensor:` makes of ends below zero. Replacing uses `sliceUpdateDataTensor:` from macOS 14.4 on, and [`pieces`]
//! before. A region whose place changes from run to run has fed starts ([`moving`]). A region that takes parts of so
//! many axes that more than four cannot be merged is taken as a region of a region.

mod moving;
mod pieces;

use burn_backend::{Shape, Slice};

use super::axes::{MergedAxis, flip, merge};
use super::{PLAIN_RANK, TensorShapeOp, signed};
use crate::bridge::record;
use crate::error::invalid;
use crate::ffi::{self, os_version};
use crate::lowering::{Lowering, Operand};
use crate::ops::{Starts, memory};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// The elements `low`, `low + step`, … (`count` of them) of an axis, from the last to the first if `reversed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AxisRange {
    low: usize,
    step: usize,
    count: usize,
    reversed: bool,
    /// Whether the first element is fed instead; then `low` is 0.
    moving: bool,
}

impl AxisRange {
    /// All elements of an axis.
    pub fn full(extent: usize) -> Self {
        Self { low: 0, step: 1, count: extent, reversed: false, moving: false }
    }

    /// Burn's slice of an axis: bounds below zero count from the end, bounds beyond the axis are cut off, and a
    /// negative step walks the range `start..end` from its last element down.
    fn new(slice: &Slice, extent: usize) -> Self {
        let place = |bound: isize| match bound {
            0.. => (bound as usize).min(extent),
            _ => extent.saturating_sub(bound.unsigned_abs()),
        };
        let (start, end) = (place(slice.start), slice.end.map_or(extent, place));
        let step = slice.step.unsigned_abs();
        let count = end.saturating_sub(start).div_ceil(step);
        let reversed = slice.step < 0 && count > 1;
        // The step of one element has no effect, and programs that differ only in it should be the same.
        let step = if count > 1 { step } else { 1 };
        let low = match (slice.step < 0, count) {
            (_, 0) => 0,
            (true, _) => end - 1 - (count - 1) * step,
            (false, _) => start,
        };
        Self { low, step, count, reversed, moving: false }
    }

    /// The elements `low..end`.
    pub fn between(low: usize, end: usize) -> Self {
        Self { low, ..Self::full(end - low) }
    }

    /// The lowest element.
    pub fn low(self) -> usize {
        self.low
    }

    /// How many elements these are.
    pub fn count(self) -> usize {
        self.count
    }

    /// How far apart two neighbours are.
    pub fn step(self) -> usize {
        self.step
    }

    /// Whether the range is of neighbours in their order, and its place is known.
    pub fn is_plain(self) -> bool {
        self.step == 1 && !self.reversed && !self.moving
    }

    /// Whether no element is in both, as far as that is known.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        !self.moving && !other.moving && (self.end() <= other.low || other.end() <= self.low)
    }

    /// The neighbours that hold all elements of both, as far as those are known, on an axis of this extent.
    pub fn hull(&self, other: &Self, extent: usize) -> Self {
        if self.moving || other.moving {
            return Self::full(extent);
        }
        Self::between(self.low.min(other.low), self.end().max(other.end()))
    }

    /// One past the highest element.
    pub fn end(self) -> usize {
        self.low + (self.count - 1) * self.step + 1
    }

    /// Whether these are all elements of an axis, in either direction.
    pub fn covers(self, extent: usize) -> bool {
        self.count == extent && self.step == 1
    }

    /// The elements that the range takes, once they are taken in ascending order.
    fn taken(self) -> Self {
        Self { reversed: self.reversed, ..Self::full(self.count) }
    }
}

/// The region that `slices` describe; axes without a slice are taken whole.
fn region_of(name: &'static str, shape: &Shape, slices: &[Slice]) -> Vec<AxisRange> {
    if slices.len() > shape.num_dims() {
        invalid(name, format!("{} slices for shape {:?}", slices.len(), &shape[..]));
    }
    if let Some(axis) = slices.iter().position(|slice| slice.step == 0) {
        invalid(name, format!("step 0 along dim {axis} of shape {:?}: it must be another number", &shape[..]));
    }
    let given = slices.iter().zip(shape.iter()).map(|(slice, &extent)| AxisRange::new(slice, extent));
    given.chain(shape[slices.len()..].iter().map(|&extent| AxisRange::full(extent))).collect()
}

/// Axes that are taken whole and stay in order can be merged with such neighbours.
fn merged_axes(shape: &Shape, region: &[AxisRange]) -> Vec<MergedAxis> {
    merge(shape, |axis| (region[axis] == AxisRange::full(shape[axis])).then_some(true))
}

/// The elements that `slices` name, one slice per axis from the first on.
pub(crate) fn slice(tensor: MpsGraphTensor, slices: &[Slice]) -> MpsGraphTensor {
    let region = region_of("slice", &tensor.shape, slices);
    take_region(tensor, &region)
}

/// The elements `low..end` along `dim`.
pub(crate) fn narrow(tensor: MpsGraphTensor, dim: usize, [low, end]: [usize; 2]) -> MpsGraphTensor {
    let mut slices = vec![Slice::full(); dim];
    slices.push(Slice::new(low as isize, Some(end as isize), 1));
    slice(tensor, &slices)
}

fn take_region(tensor: MpsGraphTensor, region: &[AxisRange]) -> MpsGraphTensor {
    let shape: Shape = region.iter().map(|range| range.count).collect();
    if shape.num_elements() == 0 {
        return memory::zeros(shape, tensor.dtype());
    }
    if region.iter().zip(tensor.shape.iter()).all(|(range, &extent)| range.covers(extent)) {
        let reversed: Vec<usize> = (0..region.len()).filter(|&axis| region[axis].reversed).collect();
        return flip(tensor, &reversed);
    }
    let merged = merged_axes(&tensor.shape, region);
    if merged.len() > PLAIN_RANK {
        let [first, rest] = apart(&tensor.shape, region);
        return take_region(take_region(tensor, &first), &rest);
    }
    let ranges: Vec<AxisRange> = merged.iter().map(|axis| merged_range(axis, &tensor.shape, region)).collect();
    let output = TensorType::new(tensor.dtype(), ranges.iter().map(|range| range.count).collect());
    let tensor = tensor.with_shape(merged.iter().map(|axis| axis.extent).collect());
    record(TensorShapeOp::Slice { region: ranges }.into(), &[&tensor], &[], output).with_shape(shape)
}

/// The tensor with `value` in place of the elements that `slices` name; `value` has the region's shape.
pub(crate) fn slice_assign(tensor: MpsGraphTensor, slices: &[Slice], value: MpsGraphTensor) -> MpsGraphTensor {
    let region = region_of("slice_assign", &tensor.shape, slices);
    let shape: Shape = region.iter().map(|range| range.count).collect();
    if value.shape != shape || value.dtype() != tensor.dtype() {
        let (given, data) = ((value.dtype(), value.dims()), (tensor.dtype(), tensor.dims()));
        let remedy = if value.shape == shape { "cast one of them" } else { "give the value the region's shape" };
        let shape = &shape[..];
        invalid("slice_assign", format!("value {given:?} for a region of shape {shape:?} in {data:?}; {remedy}"));
    }
    put_region(tensor, &region, value)
}

fn put_region(tensor: MpsGraphTensor, region: &[AxisRange], value: MpsGraphTensor) -> MpsGraphTensor {
    if value.shape.num_elements() == 0 {
        return tensor;
    }
    if region.iter().zip(tensor.shape.iter()).all(|(range, &extent)| range.covers(extent)) {
        let reversed: Vec<usize> = (0..region.len()).filter(|&axis| region[axis].reversed).collect();
        return flip(value, &reversed);
    }
    let whole = tensor.shape.clone();
    let merged = merged_axes(&whole, region);
    if merged.len() > PLAIN_RANK {
        let [first, rest] = apart(&whole, region);
        let inner = put_region(take_region(tensor.clone(), &first), &rest, value);
        return put_region(tensor, &first, inner);
    }
    let ranges: Vec<AxisRange> = merged.iter().map(|axis| merged_range(axis, &whole, region)).collect();
    let value = value.with_shape(ranges.iter().map(|range| range.count).collect());
    let tensor = tensor.with_shape(merged.iter().map(|axis| axis.extent).collect());
    let output = tensor.ty();
    record(TensorShapeOp::SliceAssign { region: ranges }.into(), &[&tensor, &value], &[], output).with_shape(whole)
}

/// The region as a region of a region: first the part of the first axis that is not taken whole, then the parts of the
/// others within it.
fn apart(shape: &Shape, region: &[AxisRange]) -> [Vec<AxisRange>; 2] {
    let mut first: Vec<AxisRange> = shape.iter().map(|&extent| AxisRange::full(extent)).collect();
    let mut rest = region.to_vec();
    if let Some(axis) = (0..region.len()).find(|&axis| region[axis] != first[axis]) {
        first[axis] = region[axis];
        rest[axis] = AxisRange::full(region[axis].count);
    }
    [first, rest]
}

fn merged_range(axis: &MergedAxis, shape: &Shape, region: &[AxisRange]) -> AxisRange {
    let MergedAxis { first, extent } = *axis;
    if region[first] == AxisRange::full(shape[first]) { AxisRange::full(extent) } else { region[first] }
}

/// Where a region starts along each axis.
pub(super) fn starts(region: &[AxisRange]) -> Starts {
    region.iter().map(|range| range.low).collect()
}

/// The region with starts that are fed where `moving` says so.
pub(super) fn with_moving_starts(region: &[AxisRange], moving: &[bool]) -> Vec<AxisRange> {
    let fed = |range: &AxisRange| AxisRange { low: 0, moving: true, ..*range };
    region.iter().zip(moving).map(|(range, &moving)| if moving { fed(range) } else { *range }).collect()
}

/// The region of `x`, a range for each axis.
pub(super) fn lower_slice(cx: &Lowering<'_>, x: &Operand, region: &[AxisRange]) -> ffi::Tensor {
    if moving::axes(region).next().is_some() {
        return moving::slice(cx, x, region);
    }
    let whole = region.iter().zip(x.ty.shape.iter()).all(|(range, &extent)| range.covers(extent));
    let strided = if whole { x.tensor.clone() } else { take(cx.graph(), &x.tensor, region) };
    reverse(cx.graph(), strided, region)
}

/// `data` with the region, a range for each axis, replaced by `update`.
pub(super) fn lower_assign(cx: &Lowering<'_>, data: &Operand, update: &Operand, region: &[AxisRange]) -> ffi::Tensor {
    let update = reverse(cx.graph(), update.tensor.clone(), region);
    if moving::axes(region).next().is_some() {
        let ascending: Vec<AxisRange> = region.iter().map(|range| AxisRange { reversed: false, ..*range }).collect();
        return moving::assign(cx, data, update, &ascending);
    }
    put(cx.graph(), data, update, region)
}

/// Replaces a region whose starts are known by an update in ascending order.
fn put(graph: &ffi::Graph, data: &Operand, update: ffi::Tensor, region: &[AxisRange]) -> ffi::Tensor {
    // sliceUpdateDataTensor:… is newer than macOS 14.0 (MPSGraphTensorShapeOps.h: 14.4 with masks, 15.0 without).
    if os_version::at_least(14, 4) {
        let [starts, ends, strides] = bounds(region);
        return if os_version::at_least(15, 0) {
            graph.slice_update(&data.tensor, &update, &starts, &ends, &strides)
        } else {
            graph.slice_update_masked(&data.tensor, &update, &starts, &ends, &strides, 0, 0, 0)
        };
    }
    pieces::put(graph, &data.tensor, &data.ty.shape, update, region, 0)
}

/// Slices by positive steps.
fn take(graph: &ffi::Graph, x: &ffi::Tensor, region: &[AxisRange]) -> ffi::Tensor {
    let [starts, ends, strides] = bounds(region);
    graph.slice(x, &starts, &ends, &strides)
}

fn bounds(region: &[AxisRange]) -> [Vec<isize>; 3] {
    [
        region.iter().map(|range| range.low as isize).collect(),
        region.iter().map(|range| range.end() as isize).collect(),
        region.iter().map(|range| range.step as isize).collect(),
    ]
}

fn reverse(graph: &ffi::Graph, x: ffi::Tensor, region: &[AxisRange]) -> ffi::Tensor {
    let axes: Vec<usize> = (0..region.len()).filter(|&axis| region[axis].reversed).collect();
    if axes.is_empty() { x } else { graph.reverse(&x, &signed(&axes)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_step_reads_the_same_range_from_its_last_element() {
        let range = AxisRange::new(&Slice::new(2, Some(8), -2), 10);
        assert_eq!(range, AxisRange { low: 3, step: 2, count: 3, reversed: true, moving: false });
        assert_eq!(range.end(), 8);
    }

    #[test]
    fn bounds_count_from_the_end_and_are_cut_off() {
        let range = |start, end, step| AxisRange::new(&Slice::new(start, end, step), 5);
        assert_eq!(range(-2, None, 1), AxisRange { low: 3, step: 1, count: 2, reversed: false, moving: false });
        assert_eq!(range(-9, Some(99), 1), AxisRange::full(5));
        assert_eq!(range(4, Some(2), 1).count, 0);
        assert_eq!(range(7, None, -1).count, 0);
    }

    #[test]
    fn one_element_has_no_step() {
        assert_eq!(AxisRange::new(&Slice::new(1, Some(2), -7), 5), AxisRange::new(&Slice::new(1, Some(2), 1), 5));
    }
}
