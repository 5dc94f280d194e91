//! Quantized tensors: the numbers and bytes of every scheme, moves, products, and what is refused.

mod data;
mod linear;
mod mistakes;
mod moves;
mod numbers;
mod order;

use burn::tensor::backend::Backend;
use burn::tensor::quantization::{QTensorPrimitive, QuantLevel, QuantScheme, QuantStore, QuantValue};
use burn::tensor::{Tensor, TensorData};

use QuantValue::{Q2F, Q2S, Q4F, Q4S, Q8F, Q8S};

modules! { linear moves numbers order }

/// Every kind of integer.
const VALUES: [QuantValue; 6] = [Q8F, Q8S, Q4F, Q4S, Q2F, Q2S];

fn by(value: QuantValue, level: QuantLevel) -> QuantScheme {
    QuantScheme::default().with_value(value).with_level(level).with_store(QuantStore::Native)
}

/// Every scheme for a tensor of `elements` elements.
fn schemes(elements: usize) -> Vec<QuantScheme> {
    let blocks: [&[u8]; 5] = [&[1], &[3], &[2, 3], &[15], &[30]];
    let of_block = |size: &[u8]| size.iter().map(|&n| usize::from(n)).product::<usize>();
    let fits = |size: &&[u8]| elements > 0 && elements.is_multiple_of(of_block(size));
    let blocks = blocks.into_iter().filter(fits).map(QuantLevel::block);
    let levels: Vec<QuantLevel> = std::iter::once(QuantLevel::Tensor).chain(blocks).collect();
    VALUES.into_iter().flat_map(|value| levels.iter().map(move |&level| by(value, level)).collect::<Vec<_>>()).collect()
}

/// The bytes of a quantized tensor and the floats that it stands for.
fn both<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<TensorData> {
    vec![bytes(tensor.clone()), tensor.dequantize().into_data()]
}

fn bytes<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> TensorData {
    let data = tensor.into_data();
    TensorData::from(data.as_bytes())
}

/// The scheme that the tensor itself names.
fn scheme_of<B: Backend, const D: usize>(tensor: &Tensor<B, D>) -> QuantScheme {
    match tensor.clone().into_primitive() {
        burn::tensor::TensorPrimitive::QFloat(tensor) => *tensor.scheme(),
        burn::tensor::TensorPrimitive::Float(_) => panic!("the tensor is not quantized"),
    }
}
