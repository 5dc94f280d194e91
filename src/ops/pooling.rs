//! Pooling: maxima and averages of windows of the last one or two axes, and averages of parts of the last three.
//!
//! The recorded ops see `[planes, height, width]`, a height of 1 for one dimension, and every window is one along the
//! height times one along the width. They are lowered to slices, maxima and sums, not to MPSGraph's pooling methods:
//! Apple does not document what those make of NaN, of windows that hold padding only, and of equal elements (which
//! index is returned, which element gets the gradient); their averages are divided by the wrong number if ceil mode and
//! counted padding are combined (pytorch's mps/operations/Pooling.mm), and sums made of averages differ between
//! processes (MetalHLO's MPSGraphCompiler.swift). Slices and maxima are the same on every system.
//!
//! 16-bit floats are computed in f32 and rounded once.

mod adaptive;
mod average;
mod maximum;
mod volume;
mod window;

use burn_backend::{DType, Shape};
use smallvec::smallvec;

use self::adaptive::Even;
use self::average::Spans;
pub(crate) use self::window::Options;
use self::window::Window;
use super::gather::{at_zero, index};
use super::reduction::sum_dim;
use super::{Distances, Operation, memory};
use crate::bridge::record;
use crate::dtype::{Elements, require_positions};
use crate::error::{Call, invalid};
use crate::ffi::{self, ScatterMode};
use crate::lowering::conversion::convert;
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::rank::along;
use crate::lowering::scalar::ScalarInput;
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// A recorded op on `[planes, height, width]`.
///
/// NaN wins, as in the reductions, the first of equal elements is the one whose index counts, and a window without an
/// element has the maximum -inf at index -1 and the average 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PoolingOp {
    /// `[x]`; the scalar is minus infinity.
    Max([Window; 2]),
    /// `[x]` to the position of each maximum in its plane, in the output's dtype; the scalar is minus infinity.
    MaxPosition([Window; 2]),
    /// `[gradient (planes, outputs), positions (planes, outputs)]` to `(planes, inputs)`, all [`along`] the last axis.
    MaxBackward,
    /// `[x]`.
    Average([Spans; 2]),
    /// `[gradient]` of the averages to that of their input.
    AverageBackward([Spans; 2]),
}

/// Maxima of windows of the last `N` axes.
pub(crate) fn max_pool<const N: usize>(
    name: &'static str,
    x: MpsGraphTensor,
    options: Options<N>,
    ceil_mode: bool,
) -> MpsGraphTensor {
    let _call = begin(name, &[&x]);
    let windows = options.windows(name, x.dims(), ceil_mode);
    let dtype = x.dtype();
    pool_max::<N>(PoolingOp::Max(windows), x, dtype, windows)
}

/// [`max_pool`], and the positions of the maxima in their planes as the integer dtype `out`.
pub(crate) fn max_pool_with_indices<const N: usize>(
    name: &'static str,
    x: MpsGraphTensor,
    options: Options<N>,
    ceil_mode: bool,
    out: DType,
) -> (MpsGraphTensor, MpsGraphTensor) {
    let _call = begin(name, &[&x]);
    let windows = options.windows(name, x.dims(), ceil_mode);
    require_positions(name, x.dims(), windows.iter().map(|window| window.input).product(), out);
    let dtype = x.dtype();
    let maxima = pool_max::<N>(PoolingOp::Max(windows), x.clone(), dtype, windows);
    (maxima, pool_max::<N>(PoolingOp::MaxPosition(windows), x, out, windows))
}

/// The gradient of [`max_pool`] for an input like `x`: the gradient of each maximum goes to the maximum's position.
pub(crate) fn max_pool_backward<const N: usize>(
    name: &'static str,
    x: MpsGraphTensor,
    options: Options<N>,
    ceil_mode: bool,
    grad: MpsGraphTensor,
    indices: MpsGraphTensor,
) -> MpsGraphTensor {
    let _call = begin(name, &[&x, &grad]);
    let windows = options.windows(name, x.dims(), ceil_mode);
    check_gradient::<N>(name, &x, windows.map(|window| window.outputs), &grad);
    if indices.shape != grad.shape || !Elements::Integers.has(indices.dtype()) {
        let (at, dtype, of) = (indices.dims(), indices.dtype(), grad.dims());
        invalid(
            name,
            format!("indices of shape {at:?}, {dtype:?}, for a gradient of {of:?}: one integer each is needed"),
        );
    }
    let plane = |window: fn(&Window) -> usize| windows.iter().map(window).product::<usize>();
    let [inputs, outputs] = [plane(|window| window.input), plane(|window| window.outputs)];
    let planes = planes::<N>(&x);
    if planes * inputs == 0 {
        return memory::zeros(x.shape.clone(), x.dtype());
    }
    if inputs == 1 {
        let grad = at_zero(grad, indices).with_shape([planes, outputs].into());
        return sum_dim(grad, 1).with_shape(x.shape);
    }
    let [(_, from), (_, to)] = [outputs, inputs].map(|extent| along(&[planes, extent], 1));
    let [grad, indices] = [grad, indices].map(|tensor| tensor.with_shape(from.clone()));
    let output = TensorType::new(grad.dtype(), to);
    record(PoolingOp::MaxBackward.into(), &[&grad, &indices], &[], output).with_shape(x.shape)
}

/// Averages of windows of the last `N` axes; paddings count as zeros if `count_include_pad`.
pub(crate) fn avg_pool<const N: usize>(
    name: &'static str,
    x: MpsGraphTensor,
    options: Options<N>,
    count_include_pad: bool,
    ceil_mode: bool,
) -> MpsGraphTensor {
    let _call = begin(name, &[&x]);
    let windows = options.windows(name, x.dims(), ceil_mode);
    average::<N>(x, windows.map(|window| Spans::Windows { window, count_include_pad }))
}

/// The gradient of [`avg_pool`] for an input like `x`.
pub(crate) fn avg_pool_backward<const N: usize>(
    name: &'static str,
    x: MpsGraphTensor,
    grad: MpsGraphTensor,
    options: Options<N>,
    count_include_pad: bool,
    ceil_mode: bool,
) -> MpsGraphTensor {
    let _call = begin(name, &[&x, &grad]);
    let windows = options.windows(name, x.dims(), ceil_mode);
    average_backward::<N>(name, x, grad, windows.map(|window| Spans::Windows { window, count_include_pad }))
}

/// Averages over `output_size` parts of the last `N` axes, as equal as they can be; neighbours may share elements.
pub(crate) fn adaptive_avg_pool<const N: usize>(
    name: &'static str,
    x: MpsGraphTensor,
    output_size: [usize; N],
) -> MpsGraphTensor {
    let _call = begin(name, &[&x]);
    window::check_rank::<N>(name, x.dims());
    if let &[depth, height, width] = output_size.as_slice() {
        return volume::averages(x, [depth, height, width]);
    }
    let spans = parts(&x, output_size);
    average::<N>(x, spans)
}

/// The gradient of [`adaptive_avg_pool`] for an input like `x`.
pub(crate) fn adaptive_avg_pool_backward<const N: usize>(
    name: &'static str,
    x: MpsGraphTensor,
    grad: MpsGraphTensor,
) -> MpsGraphTensor {
    let _call = begin(name, &[&x, &grad]);
    window::check_rank::<N>(name, x.dims());
    window::check_rank::<N>(name, grad.dims());
    if N == 3 {
        return volume::averages_backward(name, &x, grad);
    }
    let outputs = std::array::from_fn(|axis| grad.shape[2 + axis]);
    let spans = parts::<N>(&x, outputs);
    average_backward::<N>(name, x, grad, spans)
}

fn parts<const N: usize>(x: &MpsGraphTensor, outputs: [usize; N]) -> [Spans; 2] {
    window::of_plane(std::array::from_fn::<_, N, _>(|axis| (x.shape[2 + axis], outputs[axis])), (1, 1))
        .map(|(input, outputs)| Even { input, outputs }.spans())
}

/// Batch times channels.
fn planes<const N: usize>(x: &MpsGraphTensor) -> usize {
    x.shape[..2].iter().product()
}

/// A shape with the batch and channels of `x` and these extents.
fn shape_of<const N: usize>(x: &MpsGraphTensor, plane: [usize; 2]) -> Shape {
    x.shape[..2].iter().chain(&plane[2 - N..]).copied().collect()
}

fn pool_max<const N: usize>(op: PoolingOp, x: MpsGraphTensor, dtype: DType, windows: [Window; 2]) -> MpsGraphTensor {
    let shape = shape_of::<N>(&x, windows.map(|window| window.outputs));
    let is_position = matches!(op, PoolingOp::MaxPosition(_));
    if !is_position && windows.iter().all(Window::is_identity) {
        return x;
    }
    if x.shape.num_elements() == 0 && shape.num_elements() > 0 {
        let value = if is_position { ScalarInput::Int(-1) } else { ScalarInput::Float(f64::NEG_INFINITY) };
        return memory::full(shape, value, dtype);
    }
    let planes = planes::<N>(&x);
    let output = TensorType::new(dtype, [planes, windows[0].outputs, windows[1].outputs].into());
    let x = x.with_shape([planes, windows[0].input, windows[1].input].into());
    // Fed, because a graph constant of -inf has been reported to crash the compiler.
    let scalars = [ScalarInput::Float(f64::NEG_INFINITY)];
    record(op.into(), &[&x], &scalars, output).with_shape(shape)
}

fn average<const N: usize>(x: MpsGraphTensor, spans: [Spans; 2]) -> MpsGraphTensor {
    let [inputs, outputs] = extents(&spans);
    let shape = shape_of::<N>(&x, outputs);
    if spans.iter().all(Spans::is_identity) {
        return x;
    }
    if x.shape.num_elements() == 0 && shape.num_elements() > 0 {
        return memory::zeros(shape, x.dtype());
    }
    let planes = planes::<N>(&x);
    let output = TensorType::new(x.dtype(), [planes, outputs[0], outputs[1]].into());
    let x = x.with_shape([planes, inputs[0], inputs[1]].into());
    record(PoolingOp::Average(spans).into(), &[&x], &[], output).with_shape(shape)
}

fn average_backward<const N: usize>(
    name: &'static str,
    x: MpsGraphTensor,
    grad: MpsGraphTensor,
    spans: [Spans; 2],
) -> MpsGraphTensor {
    check_gradient::<N>(name, &x, extents(&spans)[1], &grad);
    spread(grad, spans, x.shape)
}

/// The gradient of averages whose input has this shape.
fn spread(grad: MpsGraphTensor, spans: [Spans; 2], shape: Shape) -> MpsGraphTensor {
    let [inputs, outputs] = extents(&spans);
    if spans.iter().all(Spans::is_identity) {
        return grad;
    }
    let dtype = grad.dtype();
    if grad.shape.num_elements() == 0 || shape.num_elements() == 0 {
        return memory::zeros(shape, dtype);
    }
    let planes = shape.num_elements() / inputs.iter().product::<usize>();
    let output = TensorType::new(dtype, [planes, inputs[0], inputs[1]].into());
    let grad = grad.with_shape([planes, outputs[0], outputs[1]].into());
    record(PoolingOp::AverageBackward(spans).into(), &[&grad], &[], output).with_shape(shape)
}

/// How many elements the two axes have, and how many windows.
fn extents(spans: &[Spans; 2]) -> [[usize; 2]; 2] {
    [spans.map(|spans| spans.input()), spans.map(|spans| spans.outputs())]
}

/// Begins a call on these tensors, of which the first one is pooled.
fn begin(name: &'static str, operands: &[&MpsGraphTensor]) -> Call {
    let call = Call::begin(name, operands.iter().map(|operand| operand.typed()));
    Elements::Floats.require(name, operands[0]);
    call
}

fn check_gradient<const N: usize>(name: &'static str, x: &MpsGraphTensor, outputs: [usize; 2], grad: &MpsGraphTensor) {
    let wanted = shape_of::<N>(x, outputs);
    if grad.shape != wanted || grad.dtype() != x.dtype() {
        let (found, of) = (grad.ty(), x.ty());
        let of = format!("{:?} of {:?}", &of.shape[..], of.dtype);
        invalid(
            name,
            format!(
                "gradient {:?} of {:?} for an input {of}: {:?} is needed",
                &found.shape[..],
                found.dtype,
                &wanted[..]
            ),
        );
    }
}

impl Operation for PoolingOp {
    fn name(&self) -> &'static str {
        match self {
            PoolingOp::Max(_) => "max_pool2d",
            PoolingOp::MaxPosition(_) => "max_pool2d_with_indices",
            PoolingOp::MaxBackward => "max_pool2d_with_indices_backward",
            PoolingOp::Average(_) => "avg_pool2d",
            PoolingOp::AverageBackward(_) => "avg_pool2d_backward",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let dtype = inputs[0].ty.dtype;
        let wide = convert(cx, &inputs[0].tensor, dtype, DType::F32);
        let planes = output.shape[0];
        let result = match self {
            PoolingOp::Max(windows) => maximum::maxima(cx, wide, planes, windows),
            PoolingOp::MaxPosition(windows) => {
                let positions = maximum::positions(cx, wide, planes, windows);
                return convert(cx, &positions, DType::I32, output.dtype);
            }
            PoolingOp::MaxBackward => {
                let axis = output.shape.num_dims() - 1;
                // An index outside, as that of a window without an element, is skipped.
                let indices = index(cx, &inputs[1], output.shape[axis]);
                let (axis, shape) = (axis as isize, &output.shape);
                cx.graph().scatter_along_axis_into_shape(axis, &wide, &indices, shape, ScatterMode::Add)
            }
            PoolingOp::Average(spans) => average::averages(cx, wide, planes, spans),
            PoolingOp::AverageBackward(spans) => average::backward(cx, wide, planes, spans),
        };
        convert(cx, &result, DType::F32, output.dtype)
    }

    fn provenance(&self, inputs: &[Provenance]) -> Provenance {
        match self {
            // Windows of one element are a slice.
            PoolingOp::Max(windows) if windows.iter().all(|window| window.kernel == 1) => {
                inputs[0].with(Provenance::APART)
            }
            PoolingOp::Max(windows) if windows.iter().any(Window::is_cut_out) => Provenance::APART,
            // Repeated numbers may be cut at the end.
            PoolingOp::AverageBackward(_) => Provenance::REPEATED.with(Provenance::APART),
            PoolingOp::Max(_) | PoolingOp::MaxPosition(_) | PoolingOp::MaxBackward | PoolingOp::Average(_) => {
                Provenance::NONE
            }
        }
    }

    fn apart(&self, _operand: &[usize]) -> Distances {
        match self {
            PoolingOp::Max([high, wide]) if [high, wide].into_iter().any(Window::is_cut_out) => {
                let width = wide.covered().max(wide.input);
                smallvec![high.covered().max(high.input) * width, high.stride * width, wide.stride]
            }
            PoolingOp::AverageBackward([_, Spans::Windows { window: wide, .. }]) => {
                smallvec![0, wide.covered().max(wide.input), 1]
            }
            PoolingOp::Max(_) | PoolingOp::MaxPosition(_) | PoolingOp::MaxBackward => Distances::new(),
            PoolingOp::Average(_) | PoolingOp::AverageBackward(_) => Distances::new(),
        }
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        Reshapes::AnyShape
    }
}
