//! Quantized data in and out.

use burn::tensor::backend::Backend;
use burn::tensor::quantization::{QuantLevel, QuantParam, QuantScheme, QuantStore};
use burn::tensor::{DType, Tensor, TensorData, Transaction};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use test_support::{Layout, floats};

use super::{Q2S, Q4F, Q4S, Q8F, Q8S, VALUES, both, by, bytes, scheme_of, schemes};

fn from<B: Backend, const D: usize>(data: &TensorData) -> Tensor<B, D> {
    Tensor::from_data(data.clone(), &B::Device::default())
}

/// Bytes of burn-flex come in as they are, and go out as they came; and the other way round.
#[test]
fn bytes_go_to_burn_flex_and_back() {
    for scheme in schemes(30) {
        let theirs = floats::<Flex>(Layout::Contiguous, DType::F32, 0).quantize_dynamic(&scheme).into_data();
        let here = from::<MpsGraph, 3>(&theirs);
        assert_eq!((here.dtype(), here.shape()), (theirs.dtype, theirs.shape.clone()));
        assert_eq!(both(here.clone()), both(from::<Flex, 3>(&theirs)), "{scheme:?}");
        let ours = here.into_data();
        assert_eq!(ours.dtype, theirs.dtype);
        assert_eq!(ours.as_bytes(), theirs.as_bytes(), "{scheme:?}");
        assert_eq!(both(from::<Flex, 3>(&ours)), both(from::<MpsGraph, 3>(&ours)), "{scheme:?}");
    }
}

/// What a scheme says of its store and of the type of its scales changes nothing, and the tensor says `Native`.
#[test]
fn every_store_and_parameter_type() {
    let stores = [QuantStore::Native, QuantStore::PackedU32(0), QuantStore::PackedU32(1), QuantStore::PackedNative(0)];
    let parameters = [QuantParam::F32, QuantParam::F16, QuantParam::BF16, QuantParam::UE8M0, QuantParam::UE4M3];
    for value in VALUES {
        for store in stores {
            for parameter in parameters {
                let scheme = by(value, QuantLevel::block([6])).with_store(store).with_param(parameter);
                let ours = floats::<MpsGraph>(Layout::Contiguous, DType::F32, 0).quantize_dynamic(&scheme);
                let theirs = floats::<Flex>(Layout::Contiguous, DType::F32, 0).quantize_dynamic(&scheme);
                assert_eq!(scheme_of(&ours), scheme_of(&theirs));
                assert_eq!(scheme_of(&ours), scheme.with_store(QuantStore::Native));
                assert_eq!((ours.dtype(), ours.to_data().dtype), (theirs.dtype(), theirs.to_data().dtype));
                assert_eq!(both(ours), both(theirs), "{scheme:?}");
            }
        }
    }
}

/// Words as Burn packs them: the first value in the lowest bits.
#[test]
fn packed_words_come_in() {
    let data = |scheme: QuantScheme, words: &[u32], scales: &[f32], shape: [usize; 1]| {
        let words = words.iter().flat_map(|word| word.to_ne_bytes());
        let bytes: Vec<u8> = words.chain(scales.iter().flat_map(|scale| scale.to_ne_bytes())).collect();
        TensorData::from_bytes_vec(bytes, shape, DType::QFloat(scheme))
    };
    let packed = |value, level| by(value, level).with_store(QuantStore::PackedU32(0));
    let four = data(packed(Q4S, QuantLevel::block([5])), &[0x7654_3210, 0xf9], &[1.0, 0.5], [10]);
    let expected = [0.0f32, 1.0, 2.0, 3.0, 4.0, 2.5, 3.0, 3.5, -3.5, -0.5];
    assert_eq!(from::<MpsGraph, 1>(&four).dequantize().into_data(), TensorData::from(expected));
    assert_eq!(both(from::<MpsGraph, 1>(&four)), both(from::<Flex, 1>(&four)));
    let two = data(packed(Q2S, QuantLevel::Tensor), &[0b11_01_00_11_01], &[3.0], [5]);
    assert_eq!(from::<MpsGraph, 1>(&two).dequantize().into_data(), TensorData::from([3.0f32, -3.0, 0.0, 3.0, -3.0]));
    assert_eq!(both(from::<MpsGraph, 1>(&two)), both(from::<Flex, 1>(&two)));
    let eight = data(packed(Q8F, QuantLevel::Tensor), &[0x7f80_ff01], &[2.0], [4]);
    assert_eq!(both(from::<MpsGraph, 1>(&eight)), both(from::<Flex, 1>(&eight)));
    // burn-flex reads the bytes that fill the last word as values.
    let filled = data(packed(Q8F, QuantLevel::Tensor), &[0x7f80_ff01, 2], &[2.0], [5]);
    let expected = [2.0f32, -2.0, -256.0, 254.0, 4.0];
    assert_eq!(from::<MpsGraph, 1>(&filled).dequantize().into_data(), TensorData::from(expected));
}

#[test]
fn nothing_in_nothing_out() {
    for value in VALUES {
        let scheme = by(value, QuantLevel::Tensor);
        let ours = floats::<MpsGraph>(Layout::Empty, DType::F32, 0).quantize_dynamic(&scheme);
        let theirs = floats::<Flex>(Layout::Empty, DType::F32, 0).quantize_dynamic(&scheme);
        assert_eq!(both(ours.clone()), both(theirs));
        let data = ours.clone().into_data();
        assert_eq!(both(from::<MpsGraph, 3>(&data)), both(from::<Flex, 3>(&data)));
        assert_eq!(ours.clone().flip([0, 1]).dequantize().shape(), ours.shape());
        // burn-flex has no tensor without scales.
        let blocks =
            floats::<MpsGraph>(Layout::Empty, DType::F32, 0).quantize_dynamic(&by(value, QuantLevel::block([2])));
        assert_eq!(bytes(blocks.clone()).num_elements(), 0);
        assert_eq!(blocks.clone().transpose().dequantize().shape(), blocks.transpose().shape());
    }
}

#[test]
fn a_transaction_reads_quantized_tensors_among_others() {
    let x = floats::<MpsGraph>(Layout::Contiguous, DType::F32, 0);
    let quantized =
        [by(Q4F, QuantLevel::Tensor), by(Q8S, QuantLevel::block([3]))].map(|s| x.clone().quantize_dynamic(&s));
    let transaction = Transaction::<MpsGraph>::default().register(x.clone()).register(quantized[0].clone());
    let found = transaction.register(x.clone().equal_elem(1.0)).register(quantized[1].clone()).execute();
    assert_eq!(found[0], x.clone().into_data());
    assert_eq!(found[1], quantized[0].to_data());
    assert_eq!(found[2], x.equal_elem(1.0).into_data());
    assert_eq!(found[3], quantized[1].to_data());
}
