//! Elements and rows read by index.

mod coordinates;
mod gradients;
mod indices;
mod out_of_range;
mod reads;

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use test_support::integer_data;

modules! { coordinates gradients indices reads }

/// Indices below `extent` in no order, many of them twice.
pub fn indices<B: Backend, const D: usize>(shape: [usize; D], extent: usize, dtype: DType) -> Tensor<B, D, Int> {
    let count: usize = shape.iter().product();
    let values: Vec<i128> = (0..count).map(|i| ((i * 7 + i / 3 + 2) % extent) as i128).collect();
    let data: TensorData = integer_data(&values, shape.to_vec(), dtype);
    Tensor::from_data(data, (&B::Device::default(), dtype))
}
