//! Windows of an axis, and of images.

use burn_backend::ops::UnfoldOptions;
use burn_backend::{DType, Slice, TensorMetadata};

use super::{cat, permute, slice};
use crate::bridge::check_size;
use crate::error::{Call, invalid};
use crate::lowering::POSITIONS;
use crate::lowering::rank::outer_axis_inner;
use crate::lowering::scalar::ScalarInput;
use crate::ops::arithmetic::{self, BinaryOp};
use crate::ops::{check_dim, gather, memory};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// Windows of `size` elements, `step` apart, along `dim`: `[…, dim, …]` becomes `[…, windows, …, size]`.
pub(crate) fn unfold(tensor: MpsGraphTensor, dim: usize, size: usize, step: usize) -> MpsGraphTensor {
    let _call = Call::begin("unfold", [tensor.typed()]);
    let shape = tensor.shape.clone();
    check_dim("unfold", dim, &shape);
    if size == 0 || step == 0 {
        let limits = "the size and the step must be at least 1";
        invalid(
            "unfold",
            format!("windows of {size}, {step} apart, along dim {dim} of shape {:?}: {limits}", &shape[..]),
        );
    }
    // Burn documents that there is none if one would be too long.
    let windows = shape[dim].checked_sub(size).map_or(0, |rest| rest / step + 1);
    let mut output = shape.to_vec();
    output[dim] = windows;
    output.push(size);
    check_size("unfold", &TensorType::new(tensor.dtype(), output.clone().into()));
    if windows == 0 {
        return memory::zeros(output.into(), tensor.dtype());
    }
    let [outer, _, inner] = outer_axis_inner(&shape, dim);
    let tensor = tensor.with_shape([outer, shape[dim], inner].into());
    let picked = if step == size {
        let whole = Slice::new(0, Some((windows * size) as isize), 1);
        slice(tensor, &[Slice::full(), whole])
    } else {
        gather::select_inside(tensor, 1, places([windows, size], [step, 1]))
    };
    let windowed = picked.with_shape([outer, windows, size, inner].into());
    permute(windowed, &[0, 1, 3, 2]).with_shape(output.into())
}

/// Windows of `kernel_size` pixels of `x (batch, channels, height, width)`, whose edges are padded with zeros:
/// `(batch, channels * kernel height * kernel width, windows)`.
///
/// Composed, because MPSGraph's `imToCol` is for f32 only.
pub(crate) fn unfold4d(x: MpsGraphTensor, kernel_size: [usize; 2], options: UnfoldOptions) -> MpsGraphTensor {
    const NAME: &str = "unfold4d";
    let _call = Call::begin(NAME, [x.typed()]);
    let UnfoldOptions { stride, padding, dilation } = options;
    let wrong = |limit: &str| -> ! {
        let settings = format!("stride {stride:?}, padding {padding:?}, dilation {dilation:?}");
        invalid(NAME, format!("windows of {kernel_size:?}, {settings}, of shape {:?}: {limit}", x.dims()))
    };
    let &[batch, channels, height, width] = x.dims() else { wrong("[batch, channels, height, width] is expected") };
    if [kernel_size, stride, dilation].as_flattened().contains(&0) {
        wrong("kernel, stride and dilation must be 1 or more")
    }
    if [kernel_size, stride, dilation, padding].as_flattened().iter().any(|&option| option >= POSITIONS) {
        wrong("kernel, stride, dilation and padding must be less than 2^31")
    }
    let windows = |axis: usize, extent: usize| {
        let reach = (kernel_size[axis] - 1) * dilation[axis] + 1;
        Some((extent + 2 * padding[axis]).checked_sub(reach)? / stride[axis] + 1)
    };
    let [Some(rows), Some(columns)] = [windows(0, height), windows(1, width)] else {
        wrong("the dilated kernel must fit in the padded image")
    };
    let elements = |factors: [usize; 3]| factors.into_iter().fold(1, usize::saturating_mul);
    let output = [batch, elements([channels, kernel_size[0], kernel_size[1]]), elements([1, rows, columns])];
    check_size(NAME, &TensorType::new(x.dtype(), output.into()));
    if output.contains(&0) {
        return memory::zeros(output.into(), x.dtype());
    }
    let counts = [rows, columns];
    let picked = [0, 1].into_iter().fold(x, |x, axis| {
        let padded = padded(x, axis + 2, padding[axis]);
        // One pixel per window and no pixel left out: the windows are the axis.
        if [kernel_size[axis], stride[axis]] == [1, 1] {
            return padded;
        }
        gather::select_inside(
            padded,
            axis + 2,
            places([kernel_size[axis], counts[axis]], [dilation[axis], stride[axis]]),
        )
    });
    let apart = picked.with_shape([batch * channels * kernel_size[0], rows, kernel_size[1], columns].into());
    permute(apart, &[0, 2, 1, 3]).with_shape(output.into())
}

/// `x` with `padding` zeros before and behind each run along `axis`.
fn padded(x: MpsGraphTensor, axis: usize, padding: usize) -> MpsGraphTensor {
    if padding == 0 {
        return x;
    }
    let mut shape = x.shape();
    shape[axis] = padding;
    let zeros = memory::zeros(shape, x.dtype());
    cat(vec![zeros.clone(), x, zeros], axis)
}

/// `i * steps[0] + j * steps[1]` for each `i` and, within, each `j` below the counts.
fn places(counts: [usize; 2], steps: [usize; 2]) -> MpsGraphTensor {
    let [rows, columns] = [0, 1].map(|axis| {
        let mut shape = [1, 1];
        shape[axis] = counts[axis];
        let index = memory::arange(0..counts[axis] as i64, 1, DType::I32).with_shape(shape.into());
        if steps[axis] == 1 {
            return index;
        }
        arithmetic::binary_scalar(BinaryOp::Mul, index, ScalarInput::Int(steps[axis] as i64))
    });
    arithmetic::binary(BinaryOp::Add, rows, columns).with_shape([counts[0] * counts[1]].into())
}
