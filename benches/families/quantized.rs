//! Products of a few or many rows with a quantized matrix of 1024 rows and columns, and quantizing it. burn-ndarray
//! has no values of 4 or 2 bits.

use burn::tensor::DType;
use burn::tensor::backend::Backend;
use burn::tensor::quantization::{QuantLevel, QuantScheme, QuantStore, QuantValue};
use criterion::Criterion;

use super::{Group, each_backend, floats, measure};

/// Rows and columns of the quantized matrix.
const SIDE: usize = 1024;

pub fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("quantized");
    for value in [QuantValue::Q8S, QuantValue::Q4S, QuantValue::Q2S] {
        for level in [QuantLevel::Tensor, QuantLevel::block([32])] {
            match value {
                QuantValue::Q8S => {
                    each_backend!(matrix(&mut group, value, level));
                }
                _ => {
                    each_backend!(without ndarray: matrix(&mut group, value, level));
                }
            }
        }
    }
    group.finish();
}

fn matrix<B: Backend>(group: &mut Group<'_>, value: QuantValue, level: QuantLevel, backend: &str) {
    let weights = || floats::<B, 2>([SIDE, SIDE], DType::F32);
    let scheme = QuantScheme::default().with_value(value).with_level(level).with_store(QuantStore::Native);
    let quantized = || weights().quantize_dynamic(&scheme);
    let name = if level == QuantLevel::Tensor { format!("{value:?}") } else { format!("{value:?} in blocks") };
    measure::<B, _, _>(group, backend, &name, weights, |x| x.clone().quantize_dynamic(&scheme));
    measure::<B, _, _>(group, backend, &format!("{name}, back"), quantized, |x| x.clone().dequantize());
    for rows in [1, 64, 1024] {
        let input = || (floats::<B, 2>([rows, SIDE], DType::F32), quantized());
        measure::<B, _, _>(group, backend, &format!("{name}, {rows} rows"), input, |(x, weights)| {
            x.clone().matmul(weights.clone())
        });
    }
}
