//! Floats as integers of few bits and a scale for each block, and back.
//!
//! A quantized tensor stays packed in its buffer: what computes with it unpacks it inside of the program. MPSGraph's
//! own quantization ops are not used. They know scales of a tensor or an axis, but none of a block, no values of 4 and
//! 2 bits before macOS 15, and how they round is not documented.
//!
//! Scales are computed in f32 from the largest magnitude, NaN left out. A scale that is 0, subnormal, infinite or NaN
//! cannot be divided by and becomes the smallest normal number. Halves are rounded away from zero, and NaN becomes 0.

mod layout;
mod order;
mod pack;

use burn_backend::quantization::{QuantScheme, QuantValue};
use burn_backend::{DType, Shape};

pub(crate) use layout::{cat, expand, flip, gather, permute, repeat_dim, reshape, select, slice, swap_dims};
pub(crate) use order::{abs, argmax, argmin, argsort, argtopk, max_abs_dim, sort, sort_with_indices, topk};

use super::{Operation, memory};
use crate::bridge::record;
use crate::dtype::{Elements, require};
use crate::error::{Call, invalid};
use crate::ffi;
use crate::lowering::conversion::convert;
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::rank::reshaped;
use crate::lowering::scalar::ScalarInput;
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor::quantized::{Blocks, Level, MpsGraphQuantizedTensor as Quantized, Packing, Width};
use crate::tensor_type::TensorType;

/// A step from floats to packed integers or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum QuantizationOp {
    /// `[x]`, a block in each row, to the rows' scales.
    Calibrate { value: QuantValue },
    /// `[scales]`; those that cannot be divided by are replaced.
    Divisible,
    /// `[x, scales]` to i8; the scales broadcast.
    Quantize { value: QuantValue },
    /// `[values, scales]` to the output's dtype and shape, to which the scales broadcast.
    Dequantize { packing: Packing },
    /// `[values]` of i8 to words.
    Pack { width: Width },
    /// `[words]` to i8 values.
    Unpack { width: Width },
}

impl Operation for QuantizationOp {
    fn name(&self) -> &'static str {
        match self {
            QuantizationOp::Calibrate { .. } => "quantize_dynamic",
            QuantizationOp::Divisible | QuantizationOp::Quantize { .. } => "quantize",
            QuantizationOp::Dequantize { .. } => "dequantize",
            QuantizationOp::Pack { .. } => "pack",
            QuantizationOp::Unpack { .. } => "unpack",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let Operand { tensor, ty, .. } = &inputs[0];
        match self {
            QuantizationOp::Calibrate { value } => {
                let x = convert(cx, tensor, ty.dtype, DType::F32);
                let scales = calibrated(cx, &x, *value, ty.shape.num_dims() - 1);
                reshaped(cx, &scales, &rows(&ty.shape), &output.shape)
            }
            QuantizationOp::Divisible => divisible(cx, tensor),
            QuantizationOp::Quantize { value } => {
                let x = convert(cx, tensor, ty.dtype, DType::F32);
                quantized(cx, &x, &inputs[1].tensor, *value)
            }
            QuantizationOp::Dequantize { packing } => {
                let values = match packing {
                    Packing::Bytes => convert(cx, tensor, DType::I8, DType::F32),
                    Packing::Words(width) => {
                        let values = pack::unpacked(cx, &inputs[0], *width, output.elements());
                        let values = convert(cx, &values, DType::I32, DType::F32);
                        reshaped(cx, &values, &[output.elements()], &output.shape)
                    }
                };
                let result = cx.graph().multiplication(&values, &inputs[1].tensor);
                convert(cx, &result, DType::F32, output.dtype)
            }
            QuantizationOp::Pack { width } => pack::packed(cx, &inputs[0], *width),
            QuantizationOp::Unpack { width } => {
                let values = pack::unpacked(cx, &inputs[0], *width, output.elements());
                convert(cx, &values, DType::I32, output.dtype)
            }
        }
    }

    fn provenance(&self, _inputs: &[Provenance]) -> Provenance {
        Provenance::NONE
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        Reshapes::AnyShape
    }
}

/// `tensor` by `scheme`, with a scale for each block.
pub(crate) fn quantize(tensor: MpsGraphTensor, scheme: &QuantScheme, scales: MpsGraphTensor) -> Quantized {
    const NAME: &str = "quantize";
    let _call = Call::begin(NAME, [tensor.typed(), scales.typed()]);
    let blocks = check(NAME, &tensor, scheme);
    if scales.shape.num_elements() != blocks.count || !scales.dtype().is_float() {
        let given = (scales.dtype(), scales.dims());
        let (count, shape) = (blocks.count, tensor.dims());
        invalid(NAME, format!("scales {given:?} where shape {shape:?} by {scheme:?} takes {count} floats"));
    }
    let scales = super::arithmetic::cast(scales.with_shape([blocks.count].into()), DType::F32);
    let output = scales.ty();
    let scales = record(QuantizationOp::Divisible.into(), &[&scales], &[], output);
    with_scales(tensor, scheme, scales)
}

/// `tensor` by `scheme`, with the scales that its own numbers ask for.
pub(crate) fn quantize_dynamic(tensor: MpsGraphTensor, scheme: &QuantScheme) -> Quantized {
    quantize_for("quantize_dynamic", tensor, scheme)
}

/// [`quantize_dynamic`] as the end of another op, which messages name.
fn quantize_for(op: &'static str, tensor: MpsGraphTensor, scheme: &QuantScheme) -> Quantized {
    let _call = Call::begin(op, [tensor.typed()]);
    let Blocks { count, elements } = check(op, &tensor, scheme);
    let output = TensorType::new(DType::F32, [count].into());
    let scales = if tensor.shape.num_elements() == 0 {
        memory::full(output.shape, ScalarInput::Float(f64::from(f32::MIN_POSITIVE)), DType::F32)
    } else {
        let x = tensor.clone().with_shape(if count == 1 { [elements].into() } else { [count, elements].into() });
        record(QuantizationOp::Calibrate { value: scheme.value }.into(), &[&x], &[], output)
    };
    with_scales(tensor, scheme, scales)
}

/// The floats that `tensor` stands for.
pub(crate) fn dequantize(tensor: &Quantized, dtype: DType) -> MpsGraphTensor {
    let _call = Call::begin("dequantize", [tensor.typed()]);
    require("dequantize", dtype, &tensor.shape);
    if tensor.shape.num_elements() == 0 {
        return memory::zeros(tensor.shape.clone(), dtype);
    }
    let packing = tensor.packing();
    let (view, scales) = views(tensor.level(), &tensor.shape, &tensor.scales);
    let output = TensorType::new(dtype, view);
    let values = match packing {
        Packing::Bytes => tensor.values.clone().with_shape(output.shape.clone()),
        Packing::Words(_) => *tensor.values.clone(),
    };
    let op = QuantizationOp::Dequantize { packing };
    record(op.into(), &[&values, &scales], &[], output).with_shape(tensor.shape.clone())
}

fn check(op: &'static str, tensor: &MpsGraphTensor, scheme: &QuantScheme) -> Blocks {
    Elements::Floats.require(op, tensor);
    Blocks::of(op, scheme, &tensor.shape)
}

/// `tensor` by `scheme` with scales that can be divided by.
fn with_scales(tensor: MpsGraphTensor, scheme: &QuantScheme, scales: MpsGraphTensor) -> Quantized {
    let shape = tensor.shape.clone();
    let (view, broadcast) = views(Level::of_checked(scheme), &shape, &scales);
    let output = TensorType::new(DType::I8, view.clone());
    let x = tensor.with_shape(view);
    let values = match x.shape.num_elements() {
        0 => memory::zeros(output.shape, DType::I8),
        _ => record(QuantizationOp::Quantize { value: scheme.value }.into(), &[&x, &broadcast], &[], output),
    };
    of_values(values.with_shape(shape), scales, *scheme)
}

/// The quantized tensor of i8 values of its shape.
fn of_values(values: MpsGraphTensor, scales: MpsGraphTensor, scheme: QuantScheme) -> Quantized {
    let shape = values.shape.clone();
    let packed = match Packing::of_checked(scheme.value) {
        Packing::Bytes => values,
        Packing::Words(width) => pack::pack(values, width),
    };
    Quantized::new(packed, scales, scheme, shape)
}

/// i8 values of the tensor's shape.
fn values_of(tensor: &Quantized) -> MpsGraphTensor {
    let values = tensor.values.clone();
    match tensor.packing() {
        Packing::Bytes => *values,
        Packing::Words(width) => pack::unpack(*values, width, tensor.shape.num_elements()),
    }
    .with_shape(tensor.shape.clone())
}

/// How elements and scales are seen so that the scales broadcast.
fn views(level: Level, shape: &Shape, scales: &MpsGraphTensor) -> (Shape, MpsGraphTensor) {
    match level {
        Level::Tensor => (shape.clone(), scales.clone()),
        Level::Block { elements } => {
            let count = scales.shape.num_elements();
            ([count, elements].into(), scales.clone().with_shape([count, 1].into()))
        }
    }
}

/// `shape` with 1 as its last extent.
fn rows(shape: &Shape) -> Vec<usize> {
    let mut rows = shape.to_vec();
    rows[shape.num_dims() - 1] = 1;
    rows
}

/// The scale of each row of f32: the range of the integers covers the largest magnitude on both sides of zero.
fn calibrated(cx: &Lowering<'_>, x: &ffi::Tensor, value: QuantValue, axis: usize) -> ffi::Tensor {
    let graph = cx.graph();
    let zero = cx.constant(0.0, DType::F32);
    let magnitude = graph.select(&graph.is_nan(x), &zero, &graph.absolute(x));
    let largest = graph.reduction_maximum(&magnitude, &[axis as isize]);
    let (low, high) = value.range();
    let both_sides = graph.multiplication(&largest, &cx.constant(2.0, DType::F32));
    divisible(cx, &graph.division(&both_sides, &cx.constant((high - low).into(), DType::F32)))
}

/// f32 scales, with the smallest normal number in place of those that are not normal.
fn divisible(cx: &Lowering<'_>, scales: &ffi::Tensor) -> ffi::Tensor {
    let graph = cx.graph();
    let smallest = cx.constant(f32::MIN_POSITIVE.into(), DType::F32);
    let largest = cx.constant(f32::MAX.into(), DType::F32);
    let magnitude = graph.absolute(scales);
    let normal = graph.logical_and(
        &graph.greater_than_or_equal_to(&magnitude, &smallest),
        &graph.less_than_or_equal_to(&magnitude, &largest),
    );
    graph.select(&normal, scales, &smallest)
}

/// Up to 2^126, one over a scale is a normal number.
const LARGE: f32 = 1.0 / f32::MIN_POSITIVE;

/// f32 as integers of `value`'s range, i8.
fn quantized(cx: &Lowering<'_>, x: &ffi::Tensor, scales: &ffi::Tensor, value: QuantValue) -> ffi::Tensor {
    let graph = cx.graph();
    let (low, high) = value.range();
    let [one, four] = [1.0, 4.0].map(|number| cx.constant(number, DType::F32));
    // One over a scale of more than 2^126 is denormal, and would be 0. The last factor, a power of two, rounds nothing.
    let is_large = graph.greater_than(scales, &cx.constant(f64::from(LARGE), DType::F32));
    let inverse = graph.division(&graph.select(&is_large, &four, &one), scales);
    let back = graph.select(&is_large, &cx.constant(0.25, DType::F32), &one);
    let scaled = graph.multiplication(&graph.multiplication(x, &inverse), &back);
    // Bounded first: the bounds are whole numbers, and rounded numbers of 8 bits are exact.
    let at_most = graph.minimum_with_nan_propagation(&scaled, &cx.constant(high.into(), DType::F32));
    let bounded = graph.maximum_with_nan_propagation(&at_most, &cx.constant(low.into(), DType::F32));
    convert(cx, &graph.round(&bounded), DType::F32, DType::I8)
}
