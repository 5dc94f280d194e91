//! Quantized tensors: numbers and bytes of every scheme that this backend has, and the names of those that it refuses.
//! Burn captures no quantization, so both backends are asked directly.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn_backend::ops::{FloatTensorOps, IntTensorOps, QTensorOps};
use burn_backend::quantization::{
    QuantMode, QuantScheme, QuantStore, QuantValue, QuantizationParametersPrimitive, ScaleDtype,
};
use burn_backend::tensor::QuantizedTensor;
use burn_backend::{Backend, DType, FloatDType, IntDType, Slice, TensorData, read_sync};
use burn_flex::{Flex, FlexDevice};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};

use QuantValue::{E4M3, Q2F, Q2S, Q4F, Q4S, Q8F, Q8S};

const VALUES: [QuantValue; 6] = [Q8F, Q8S, Q4F, Q4S, Q2F, Q2S];
const SHAPE: [usize; 2] = [4, 12];

fn by(value: QuantValue) -> QuantScheme {
    QuantScheme::default().with_value(value).with_store(QuantStore::Native)
}

/// Schemes with a scale for the tensor, named or not, and with one for each run of 1, 3, 4 and 12 elements.
fn schemes() -> Vec<QuantScheme> {
    let of_value = |value| {
        let blocks = [1u8, 3, 4, 12].map(|run| by(value).per_block([run], ScaleDtype::F32));
        [by(value), by(value).per_tensor(ScaleDtype::F32), by(value).per_block([1, 4], ScaleDtype::F32)]
            .into_iter()
            .chain(blocks)
    };
    VALUES.into_iter().flat_map(of_value).collect()
}

fn numbers() -> TensorData {
    TensorData::new((0..48).map(|at| (at as f32 * 1.7).sin() * 5.0).collect::<Vec<_>>(), SHAPE)
}

/// Burn's data of values that every width holds, with different scales.
fn data(scheme: QuantScheme) -> TensorData {
    let values: Vec<i8> = (0..48).map(|at| [0, 1, -1, 1, 0, -1, -1][at % 7]).collect();
    let runs = scheme.block_size().map_or(1, |size| 48 / size.num_elements());
    let scales: Vec<f32> = (0..runs).map(|at| 0.25 + at as f32 * 0.125).collect();
    if scheme.store == QuantStore::Native {
        return TensorData::quantized(values, SHAPE, scheme, &scales, None);
    }
    let bits = scheme.value.size_bits();
    let word = |values: &[i8]| {
        let place = |(at, value): (usize, &i8)| (u32::from(value.cast_unsigned()) & ((1 << bits) - 1)) << (at * bits);
        values.iter().enumerate().map(place).sum::<u32>().to_ne_bytes()
    };
    let words = values.chunks(32 / bits).map(word);
    let bytes = words.chain(scales.iter().map(|scale| scale.to_ne_bytes())).flatten().collect();
    TensorData::from_bytes_vec(bytes, SHAPE, DType::QFloat(scheme))
}

fn back<B: Backend>(tensor: QuantizedTensor<B>) -> TensorData {
    read_sync(B::q_into_data(tensor)).expect("a value")
}

fn floats<B: Backend>(tensor: QuantizedTensor<B>, dtype: FloatDType) -> TensorData {
    read_sync(B::float_into_data(B::dequantize(tensor, dtype))).expect("a value")
}

#[track_caller]
fn agree(what: &str, of: impl Fn(Who) -> Vec<TensorData>) {
    let (ours, flex) = (of(Who::Ours), of(Who::Flex));
    assert_eq!(ours.len(), flex.len());
    for (at, (ours, flex)) in ours.iter().zip(&flex).enumerate() {
        assert_eq!(ours, flex, "{what}: result {at}");
    }
}

#[derive(Clone, Copy)]
enum Who {
    Ours,
    Flex,
}

/// Calls a function that is generic over the backend.
macro_rules! on {
    ($who:expr, $function:ident $(, $argument:expr)*) => {
        match $who {
            Who::Ours => $function::<MpsGraph>(&MpsGraphDevice $(, $argument)*),
            Who::Flex => $function::<Flex>(&FlexDevice $(, $argument)*),
        }
    };
}

fn there_and_back<B: Backend>(device: &B::Device, data: TensorData) -> Vec<TensorData> {
    let tensor = || B::q_from_data(data.clone(), device);
    let mut results = vec![back::<B>(tensor())];
    results.extend([FloatDType::F32, FloatDType::F16, FloatDType::BF16].map(|dtype| floats::<B>(tensor(), dtype)));
    results
}

#[test]
fn data_comes_back_byte_by_byte() {
    for scheme in schemes() {
        for store in [QuantStore::Native, QuantStore::PackedU32(0)] {
            let scheme = scheme.with_store(store);
            agree(&format!("{scheme:?}"), |who| on!(who, there_and_back, data(scheme)));
        }
    }
}

fn quantized<B: Backend>(device: &B::Device, scheme: QuantScheme) -> Vec<TensorData> {
    let tensor = || B::float_from_data(numbers(), device);
    let dynamic = || B::quantize_dynamic(tensor(), &scheme);
    let runs = scheme.block_size().map_or(1, |size| 48 / size.num_elements());
    let scales = TensorData::new((0..runs).map(|at| 0.5 + at as f32 * 0.25).collect::<Vec<f32>>(), [runs]);
    let scales = B::float_from_data(scales, device);
    let given = B::quantize(tensor(), &scheme, QuantizationParametersPrimitive { scales, global: None });
    let mut results = vec![back::<B>(dynamic()), back::<B>(given)];
    results.extend([FloatDType::F32, FloatDType::F16].map(|dtype| floats::<B>(dynamic(), dtype)));
    results
}

#[test]
fn numbers_are_quantized_to_the_same_bytes() {
    for scheme in schemes() {
        agree(&format!("{scheme:?}"), |who| on!(who, quantized, scheme));
    }
}

/// burn-flex quantizes anew what it moves of blocks; here the rows take their scales along.
#[test]
fn rows_keep_their_scales() {
    for scheme in schemes() {
        let tensor = || MpsGraph::q_from_data(data(scheme), &MpsGraphDevice);
        let whole = || MpsGraph::dequantize(tensor(), FloatDType::F32);
        let rows = || MpsGraph::int_from_data(TensorData::from([2, 0, 2]), &MpsGraphDevice);
        let some = [Slice::from(1..3)];
        let moved = [MpsGraph::q_select(tensor(), 0, rows()), MpsGraph::q_slice(tensor(), &some)];
        let expected = [MpsGraph::float_select(whole(), 0, rows()), MpsGraph::float_slice(whole(), &some)];
        for (moved, expected) in moved.into_iter().zip(expected) {
            let expected = read_sync(MpsGraph::float_into_data(expected)).expect("a value");
            assert_eq!(floats::<MpsGraph>(moved, FloatDType::F32), expected, "{scheme:?}");
        }
    }
}

#[test]
fn the_largest_with_their_positions() {
    let scheme = by(Q8S);
    let data = TensorData::quantized::<i8, _>(vec![3, -7, 9, 1, 5, 4], [2, 3], scheme, &[0.5], None);
    let tensor = MpsGraph::q_from_data(data, &MpsGraphDevice);
    let (largest, positions) = MpsGraph::q_topk_with_indices(tensor, 1, 2, IntDType::I32);
    assert_eq!(floats::<MpsGraph>(largest, FloatDType::F32), TensorData::from([[4.5f32, 1.5], [2.5, 2.0]]));
    let positions = read_sync(MpsGraph::int_into_data(positions)).expect("a value");
    assert_eq!(positions, TensorData::from([[2, 0], [1, 2]]));
}

/// The text with which a scheme is refused.
fn refusal(scheme: QuantScheme) -> String {
    let tensor = MpsGraph::float_from_data(numbers(), &MpsGraphDevice);
    let refused = catch_unwind(AssertUnwindSafe(|| MpsGraph::quantize_dynamic(tensor, &scheme)));
    let panic = refused.expect_err("the scheme is refused");
    panic.downcast_ref::<String>().expect("the text of an error").clone()
}

#[test]
fn refused_schemes_are_named() {
    let cases = [
        (by(Q4F).with_mode(QuantMode::Lookup), "a codebook in place of scales"),
        (by(Q8S).per_tensor(ScaleDtype::F16), "scales of another dtype than f32"),
        (by(Q8S).per_block([4], ScaleDtype::BF16), "scales of another dtype than f32"),
        (by(Q8S).per_block([4], ScaleDtype::UE8M0), "scales of another dtype than f32"),
        (
            by(Q8S).per_block([4], ScaleDtype::F32).per_tensor(ScaleDtype::F32),
            "scales of blocks beside one of the tensor",
        ),
        (by(Q8S).per_block([2, 4], ScaleDtype::F32), "blocks that are not runs of one row"),
        (by(E4M3), "values of E4M3"),
        (by(Q8S).per_block([5], ScaleDtype::F32), "blocks of 5 elements do not divide runs of 12 elements"),
    ];
    for (scheme, reason) in cases {
        let text = refusal(scheme);
        assert!(text.starts_with("quantize_dynamic: ") && text.contains(reason) && text.contains("use "), "{text}");
    }
}

#[test]
fn what_may_be_stored_is_told() {
    for value in VALUES {
        assert!(!MpsGraph::dtype_usage(&MpsGraphDevice, DType::QFloat(by(value))).is_empty());
    }
    assert!(MpsGraph::dtype_usage(&MpsGraphDevice, DType::QFloat(by(E4M3))).is_empty());
}
