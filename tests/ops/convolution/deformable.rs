//! `deform_conv2d` and its gradients.

mod by_hand;
#[cfg(test)]
mod differences;
#[cfg(test)]
mod edges;
#[cfg(test)]
mod mistakes;
mod values;

use burn::tensor::backend::Backend;
use burn::tensor::ops::DeformConvOptions;
use burn::tensor::{DType, Tensor, TensorData};

use super::quarters;

modules! { by_hand values }

/// The operands but for mask and bias, which are optional.
struct Operands<B: Backend> {
    x: Tensor<B, 4>,
    offset: Tensor<B, 4>,
    weight: Tensor<B, 4>,
}

/// Places that lie between pixels, up to 2 from the usual ones: odd sixteenths.
fn offsets<B: Backend>(shape: [usize; 4], dtype: DType, salt: usize) -> Tensor<B, 4> {
    let count: usize = shape.iter().product();
    let number = |i: usize| (2 * ((i * 29 + salt * 7 + i / 3) % 33)) as f32 / 16.0 - 33.0 / 16.0;
    let values: Vec<f32> = (0..count).map(number).collect();
    Tensor::from_data(TensorData::new(values, shape).convert_dtype(dtype), (&B::Device::default(), dtype))
}

/// The shape of a mask for these shapes; offsets have twice as many channels.
fn mask_shape([x, weight]: [[usize; 4]; 2], options: &DeformConvOptions<2>) -> [usize; 4] {
    let [height, width] = [0, 1].map(|axis| {
        let reach = options.dilation[axis] * (weight[2 + axis] - 1) + 1;
        (x[2 + axis] + 2 * options.padding[axis] - reach) / options.stride[axis] + 1
    });
    [x[0], options.offset_groups * weight[2] * weight[3], height, width]
}

fn offset_shape(shapes: [[usize; 4]; 2], options: &DeformConvOptions<2>) -> [usize; 4] {
    let [batch, numbers, height, width] = mask_shape(shapes, options);
    [batch, 2 * numbers, height, width]
}

/// Operands of these shapes.
fn operands<B: Backend>(shapes: [[usize; 4]; 2], options: &DeformConvOptions<2>, dtype: DType) -> Operands<B> {
    Operands {
        x: quarters(shapes[0], dtype, 0),
        offset: offsets(offset_shape(shapes, options), dtype, 1),
        weight: quarters(shapes[1], dtype, 1),
    }
}
