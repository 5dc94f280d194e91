//! Quantized tensors. How MPSGraph rounds and saturates from floats to i8 is not documented; values of 4 and 2 bits are
//! unpacked by shifts.

use burn::tensor::quantization::{QuantLevel, QuantScheme, QuantStore, QuantValue, QuantizationParameters};
use burn::tensor::{DType, Tensor, TensorData};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{EXACT, F32, close_floats, same_integers};
use crate::matrix_multiplication::{product, sums};
use crate::table::{Trap, check};
use crate::values::{B, FLOATS, f32s, floats, noise};

use QuantValue::{Q2F, Q2S, Q4F, Q4S, Q8F, Q8S};

pub const TRAPS: &[Trap] = &[
    check("halves of a step are rounded away from 0", halves),
    check("NaN becomes 0, infinities the ends of the range", || special(QuantLevel::Tensor)),
    check("the same in blocks", || special(QuantLevel::block([3]))),
    check("scales of 0, infinite, NaN, denormal", scales),
    check("words of 4 bits unpacked with their signs", || unpacked(Q4S, 4)),
    check("words of 2 bits unpacked with their signs", || unpacked(Q2S, 2)),
    check("packed and unpacked: every value type, 37 elements", packed),
    check("a block's own scale: 1e-30 beside 1e30", far_apart),
    check("f16 and bf16 are quantized in f32", narrow),
    check("a product with quantized weights of 8 and 4 bits", || Outcome::of([Q8S, Q4F].map(multiplied))),
    check("the same with their transpose", || Outcome::of([Q8S, Q4F].map(multiplied_turned))),
    check("sort and argmax of elements with a negative scale", negative_scale),
    check("rows of quantized weights by index", selected),
];

const ALL: [QuantValue; 6] = [Q8F, Q8S, Q4F, Q4S, Q2F, Q2S];

fn by(value: QuantValue, level: QuantLevel) -> QuantScheme {
    QuantScheme::default().with_value(value).with_level(level).with_store(QuantStore::Native)
}

fn with_scale<const D: usize>(x: Tensor<B, D>, value: QuantValue, scale: f64) -> Tensor<B, D> {
    x.quantize(&by(value, QuantLevel::Tensor), QuantizationParameters { scales: f32s(&[scale], [1]) })
}

fn halves() -> Outcome {
    let x = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.49, -3.51];
    let expected = [1.0, 2.0, 3.0, -1.0, -2.0, -3.0, 3.0, -4.0];
    Outcome::of([Q8S, Q4S].map(|value| {
        close_floats(&with_scale(f32s(&x, [8]), value, 1.0).dequantize().into_data(), &[8], &expected, EXACT)
    }))
}

fn special(level: QuantLevel) -> Outcome {
    let x = [f64::NAN, 3.0, f64::NAN, 1.0, -3.0, f64::NAN];
    Outcome::of(ALL.map(|value| {
        let quantized = f32s(&x, [6]).quantize_dynamic(&by(value, level));
        let (low, high) = value.range();
        let step = 6.0 / f64::from(high - low);
        let expected = x.map(|x| {
            let steps = (x / step).round().clamp(low.into(), high.into());
            if x.is_nan() { 0.0 } else { steps * step }
        });
        let infinite = with_scale(f32s(&[f64::INFINITY, f64::NEG_INFINITY], [2]), value, 1.0).dequantize();
        Outcome::of([
            close_floats(&quantized.dequantize().into_data(), &[6], &expected, F32),
            close_floats(&infinite.into_data(), &[2], &[high.into(), low.into()], EXACT),
        ])
    }))
}

/// They cannot be divided by, and become the smallest normal number.
fn scales() -> Outcome {
    let smallest = f64::from(f32::MIN_POSITIVE);
    Outcome::of([0.0, f64::INFINITY, f64::NAN, 1e-40].map(|scale| {
        let got = with_scale(f32s(&[0.0, -1.5, 3.0, f64::NAN], [4]), Q8S, scale).dequantize() * 1e30;
        let end = 127.0 * smallest * 1e30;
        close_floats(&got.into_data(), &[4], &[0.0, -end, end, 0.0], F32)
    }))
}

/// The numbers of a word one after the other, as a word of Burn's holds them from the lowest bits on.
fn unpacked(value: QuantValue, bits: u32) -> Outcome {
    let scheme = by(value, QuantLevel::Tensor).with_store(QuantStore::PackedU32(0));
    let count = 2 * 32 / bits as usize;
    let (_, high) = value.range();
    let numbers: Vec<i32> = (0..count as i32).map(|i| i % (2 * high as i32 + 1) - high as i32).collect();
    let word = |numbers: &[i32]| {
        numbers.iter().rev().fold(0u32, |word, number| word << bits | (number.cast_unsigned() & ((1 << bits) - 1)))
    };
    let words = numbers.chunks(count / 2).flat_map(|numbers| word(numbers).to_ne_bytes());
    let bytes: Vec<u8> = words.chain(0.5f32.to_ne_bytes()).collect();
    let data = TensorData::from_bytes_vec(bytes, [count], DType::QFloat(scheme));
    let expected: Vec<f64> = numbers.iter().map(|&number| f64::from(number) / 2.0).collect();
    let got = Tensor::<B, 1>::from_data(data, &MpsGraphDevice).dequantize();
    close_floats(&got.into_data(), &[count], &expected, EXACT)
}

fn packed() -> Outcome {
    Outcome::of(ALL.map(|value| {
        let (low, high) = value.range();
        let x: Vec<f64> = (0..37).map(|i| f64::from(low) + f64::from(i % (high - low) as i32)).collect();
        let got = with_scale(f32s(&x, [37]), value, 1.0).reshape([37, 1]).dequantize();
        close_floats(&got.into_data(), &[37, 1], &x, EXACT)
    }))
}

fn far_apart() -> Outcome {
    let x = [1e-30, -0.5e-30, 0.0, 1e30, -1e30, 0.0];
    let got = f32s(&x, [2, 3]).quantize_dynamic(&by(Q8S, QuantLevel::block([3]))).dequantize();
    let within = |(at, (got, x)): (usize, (f64, f64))| {
        // Half a step of its block.
        let limit = if at < 3 { 1e-30 } else { 1e30 } / 127.0 * 0.51;
        Outcome::fact(format!("{x:e}"), format!("{got:e}"), (got - x).abs() <= limit)
    };
    Outcome::of(got.into_data().iter::<f64>().zip(x).enumerate().map(within))
}

fn narrow() -> Outcome {
    let x = noise(64, 1);
    Outcome::of(FLOATS.map(|dtype| {
        let got = floats(&x, [64], dtype).quantize_dynamic(&by(Q8S, QuantLevel::Tensor)).dequantize();
        let step = x.iter().fold(0.0, |most: f64, x| most.max(x.abs())) / 127.0;
        let expected: Vec<f64> = x.iter().map(|x| (x / step).round() * step).collect();
        close_floats(&got.into_data(), &[64], &expected, F32)
    }))
}

/// Whole numbers of steps of 1/4 within the range of 4 bits.
fn weights(count: usize) -> Vec<f64> {
    noise(count, 2).iter().map(|x| (x * 7.0).round() / 4.0).collect()
}

fn multiplied(value: QuantValue) -> Outcome {
    let (x, w) = (noise(5 * 96, 3), weights(96 * 33));
    let quantized = with_scale(f32s(&w, [96, 33]), value, 0.25);
    let got = f32s(&x, [5, 96]).matmul(quantized);
    close_floats(&got.into_data(), &[5, 33], &product(&x, &[5, 96], &w, &[96, 33]), sums(96))
}

fn multiplied_turned(value: QuantValue) -> Outcome {
    let (x, w) = (noise(5 * 96, 4), weights(33 * 96));
    let turned = crate::matrix_multiplication::turned(&w, 33, 96);
    let quantized = with_scale(f32s(&w, [33, 96]), value, 0.25).transpose();
    let got = f32s(&x, [5, 96]).matmul(quantized);
    close_floats(&got.into_data(), &[5, 33], &product(&x, &[5, 96], &turned, &[96, 33]), sums(96))
}

fn negative_scale() -> Outcome {
    let x = [1.0, -2.5, 3.0, 0.0, 2.0, -1.0];
    let quantized = || with_scale(f32s(&x, [6]), Q8S, -0.5);
    Outcome::of([
        close_floats(&quantized().sort(0).dequantize().into_data(), &[6], &[-2.5, -1.0, 0.0, 1.0, 2.0, 3.0], EXACT),
        same_integers(&quantized().argsort(0).into_data(), &[6], &[1, 5, 3, 0, 4, 2]),
        same_integers(&quantized().argmax(0).into_data(), &[1], &[2]),
    ])
}

fn selected() -> Outcome {
    let w = weights(20 * 6);
    let rows = [19, 0, 7, 7];
    let expected: Vec<f64> = rows.iter().flat_map(|&row| w[row * 6..][..6].to_vec()).collect();
    let indices = crate::values::ints(&rows.map(|row| row as i64), [4], DType::I32);
    Outcome::of([Q8F, Q4S].map(|value| {
        let got = with_scale(f32s(&w, [20, 6]), value, 0.25).select(0, indices.clone()).dequantize();
        close_floats(&got.into_data(), &[4, 6], &expected, EXACT)
    }))
}
