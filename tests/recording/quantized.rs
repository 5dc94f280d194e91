//! Quantized tensors stay packed on the device, and what computes with one is one program.

use burn::tensor::quantization::{QuantLevel, QuantScheme, QuantStore, QuantValue};
use burn::tensor::{Distribution, Tensor};
use burn_mpsgraph::MpsGraphDevice;

use super::{B, Turn};

const WIDTH: usize = 1024;

fn scheme(value: QuantValue, level: QuantLevel) -> QuantScheme {
    QuantScheme::default().with_value(value).with_level(level).with_store(QuantStore::Native)
}

/// Bytes of live buffers that the weights of a layer take, which is then used.
fn bytes_of(turn: &Turn, make: impl FnOnce(Tensor<B, 2>) -> Tensor<B, 2>) -> u64 {
    let before = turn.used().bytes_live;
    let weights = make(Tensor::random([WIDTH, WIDTH], Distribution::Default, &MpsGraphDevice));
    MpsGraphDevice.sync().expect("the device works");
    let bytes = turn.used().bytes_live - before;
    let x = Tensor::<B, 2>::ones([4, WIDTH], &MpsGraphDevice);
    let product = x.matmul(weights.clone()).sum().into_scalar();
    assert!(product.is_finite());
    assert_eq!(turn.used().bytes_live - before, bytes, "a product leaves nothing behind");
    bytes
}

#[test]
fn quantized_weights_take_less_memory_than_floats() {
    let turn = Turn::take();
    let floats = bytes_of(&turn, |weights| weights);
    let of = |value, level| bytes_of(&turn, |weights| weights.quantize_dynamic(&scheme(value, level)));
    // The pool has buffers of a few sizes only, so the bytes are not exactly a fourth and so on.
    let small = floats / 32;
    for (value, part) in [(QuantValue::Q8S, 4), (QuantValue::Q4S, 8), (QuantValue::Q2F, 16)] {
        let bytes = of(value, QuantLevel::Tensor);
        assert!(bytes <= floats / part + small, "{value:?}: {bytes} bytes instead of {floats}");
        // An f32 for each 32 elements, that is another 32nd.
        let bytes = of(value, QuantLevel::block([32]));
        assert!(bytes <= floats / part + 2 * small, "{value:?} in blocks: {bytes} bytes instead of {floats}");
    }
}

#[test]
fn a_product_with_a_quantized_matrix_is_one_program() {
    let mut turn = Turn::take();
    let weights = Tensor::<B, 2>::ones([64, 64], &MpsGraphDevice);
    for value in [QuantValue::Q8S, QuantValue::Q4S] {
        let weights = weights.clone().quantize_dynamic(&scheme(value, QuantLevel::block([32])));
        let x = Tensor::<B, 2>::ones([4, 64], &MpsGraphDevice);
        MpsGraphDevice.sync().expect("the device works");
        turn.restart();
        let _ = x.matmul(weights).into_data();
        let used = turn.used();
        assert_eq!((used.executions, used.commits, used.host_reads), (1, 1, 1), "{used:?}");
    }
}

#[test]
fn what_sorts_joins_and_compares_is_one_program() {
    let mut turn = Turn::take();
    let x = Tensor::<B, 2>::ones([64, 64], &MpsGraphDevice);
    for level in [QuantLevel::Tensor, QuantLevel::block([32])] {
        let x = x.clone().quantize_dynamic(&scheme(QuantValue::Q4S, level));
        MpsGraphDevice.sync().expect("the device works");
        turn.restart();
        let (sorted, positions) = x.clone().sort_with_indices(1);
        let joined = Tensor::cat(vec![sorted, x.clone().sort_descending(0), x.clone().abs()], 0);
        let counted = positions.sum().float() + x.argmax(0).sum().float();
        let _ = (joined.dequantize().sum() + counted).into_data();
        let used = turn.used();
        assert_eq!((used.executions, used.commits, used.host_reads), (1, 1, 1), "{level:?}: {used:?}");
    }
}
