//! Burn's bytes of a quantized tensor: the values, then an f32 for each block.
//!
//! Here the bytes are cut and joined; buffers are filled and read elsewhere. Values come in with a byte each, or packed
//! into 32-bit words along the innermost dimension, which is all that Burn itself reads (burn-std, quantization.rs),
//! and go out with a byte each.

use burn_backend::quantization::{QuantScheme, QuantStore};
use burn_backend::{DType, TensorData};

use super::words::{pack, unpack};
use super::{Blocks, MpsGraphQuantizedTensor, Packing};
use crate::burn::{dtype_of, quantized_data, shape_of};
use crate::error::{invalid, unsupported};
use crate::tensor_type::elements_of;

const OP: &str = "q_from_data";

/// What becomes the tensors of a quantized one.
pub(crate) struct SplitData {
    pub values: TensorData,
    pub scales: TensorData,
    pub scheme: QuantScheme,
}

/// Takes Burn's bytes apart.
pub(crate) fn split(data: &TensorData) -> SplitData {
    let (dtype, shape) = (dtype_of(data), shape_of(data));
    let DType::QFloat(scheme) = dtype else { invalid(OP, format!("dtype {dtype:?} is not quantized")) };
    let bytes = data.as_bytes();
    // A value takes two bits at least.
    let Some(count) = elements_of(shape).filter(|count| count / 4 <= bytes.len()) else {
        invalid(OP, format!("{} bytes of data are too few for shape {:?} of {scheme:?}", bytes.len(), &shape[..]));
    };
    let blocks = Blocks::of(OP, &scheme, shape);
    let packing = Packing::of_checked(scheme.value);
    let lengths = value_bytes(&scheme, packing, count);
    let length = lengths.into_iter().find(|length| length + 4 * blocks.count == bytes.len());
    let Some(length) = length else {
        let expected = format!("{} for the values and {} for the scales", lengths[0], 4 * blocks.count);
        let (given, shape) = (bytes.len(), &shape[..]);
        invalid(OP, format!("{given} bytes of data where shape {shape:?} of {scheme:?} takes {expected}"));
    };
    let (values, scales) = bytes.split_at(length);
    let values = match (packing, scheme.store) {
        (Packing::Bytes, _) => {
            let values: Vec<i8> = values[..count].iter().map(|&byte| byte.cast_signed()).collect();
            TensorData::new(values, shape.clone())
        }
        (Packing::Words(width), QuantStore::Native) => in_words(pack(OP, values, width, scheme.value)),
        (Packing::Words(_), QuantStore::PackedU32(_) | QuantStore::PackedNative(_)) => in_words(numbers(values)),
    };
    let scales: Vec<f32> = numbers(scales).into_iter().map(|bits| f32::from_bits(bits.cast_unsigned())).collect();
    SplitData { values, scales: TensorData::new(scales, [blocks.count]), scheme }
}

/// How many bytes the values may take. Bytes in words may or may not fill the last word.
fn value_bytes(scheme: &QuantScheme, packing: Packing, count: usize) -> [usize; 2] {
    match (scheme.store, packing) {
        (QuantStore::Native, _) => [count; 2],
        (QuantStore::PackedU32(0), Packing::Bytes) => [count, count.next_multiple_of(4)],
        (QuantStore::PackedU32(0), Packing::Words(width)) => [4 * width.words(count); 2],
        (QuantStore::PackedU32(_) | QuantStore::PackedNative(_), _) => {
            unsupported(OP, format!("data stored as {:?}; use Native or PackedU32(0)", scheme.store))
        }
    }
}

fn in_words(words: Vec<i32>) -> TensorData {
    let count = words.len();
    TensorData::new(words, [count])
}

fn numbers(bytes: &[u8]) -> Vec<i32> {
    bytes.as_chunks().0.iter().map(|&bytes| i32::from_ne_bytes(bytes)).collect()
}

/// Burn's data of `tensor`, whose values and scales were read.
pub(crate) fn join(tensor: &MpsGraphQuantizedTensor, values: &TensorData, scales: &TensorData) -> TensorData {
    let values = match tensor.packing() {
        Packing::Bytes => values.as_bytes().iter().map(|&byte| byte.cast_signed()).collect(),
        Packing::Words(width) => unpack(&numbers(values.as_bytes()), width, tensor.shape.num_elements()),
    };
    let scales: Vec<f32> = numbers(scales.as_bytes()).iter().map(|bits| f32::from_bits(bits.cast_unsigned())).collect();
    quantized_data(values, tensor.shape.clone(), tensor.scheme, &scales)
}
