//! Which integers and scales come out, and which floats they stand for.

use burn::tensor::backend::Backend;
use burn::tensor::quantization::{QuantLevel, QuantizationParameters};
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Tolerance::Exact;
use test_support::{FLOATS, Layout, floats};

use super::{Q2S, Q4S, Q8F, Q8S, both, by, schemes};

cases! {
    given(FLOATS, Layout::ALL, Exact) {
        dynamic = |layout, dtype| {
            let x = floats::<B>(layout, dtype, 0);
            let each = schemes(x.shape().num_elements()).into_iter();
            each.flat_map(|scheme| both(x.clone().quantize_dynamic(&scheme))).collect::<Vec<_>>()
        };
        calibrated = |layout, dtype| {
            let x = floats::<B>(layout, dtype, 0);
            let each = schemes(x.shape().num_elements()).into_iter();
            each.flat_map(|scheme| {
                let scales = scales::<B>(x.shape().num_elements(), scheme.level, dtype);
                both(x.clone().quantize(&scheme, QuantizationParameters { scales }))
            }).collect::<Vec<_>>()
        };
    }

    given([DType::F32], [Layout::Contiguous], Exact) {
        halves = |_layout, dtype| {
            // Multiples of half a step, and the nearest neighbours of half a step.
            let mut x: Vec<f32> = (-40..40).map(|i| i as f32 / 2.0).collect();
            x.extend([0.5f32.next_down(), 0.5f32.next_up(), -2.5f32.next_down(), -2.5f32.next_up()]);
            let x = Tensor::<B, 1>::from_data(TensorData::from(x.as_slice()), &B::Device::default());
            let quantize = |scale: f32| {
                let scales = Tensor::from_data(TensorData::from([scale]).convert_dtype(dtype), &B::Device::default());
                let x = x.clone() * scale;
                super::VALUES.into_iter().flat_map(move |value| {
                    let parameters = QuantizationParameters { scales: scales.clone() };
                    both(x.clone().quantize(&by(value, QuantLevel::Tensor), parameters))
                })
            };
            [1.0, 0.25, 1024.0].into_iter().flat_map(quantize).collect::<Vec<_>>()
        };
        scales_that_cannot_be_divided_by = |_layout, _dtype| {
            let x = Tensor::<B, 1>::from_data([0.0, -1.5, 3.0, f32::NAN], &B::Device::default());
            [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40, f32::MIN_POSITIVE, -0.5, f32::MAX]
                .into_iter()
                .flat_map(|scale: f32| {
                    let scales = Tensor::from_data([scale], &B::Device::default());
                    both(x.clone().quantize(&by(Q8S, QuantLevel::Tensor), QuantizationParameters { scales }))
                })
                .collect::<Vec<_>>()
        };
        // One over such a scale is denormal.
        large_scales = |_layout, _dtype| {
            let x = Tensor::<B, 1>::from_data([1.4e38, -1.7e38, 1e38, -3.3e38, 1e-38, 0.0], &B::Device::default());
            let parameters = |scale: f32| QuantizationParameters {
                scales: Tensor::from_data([scale], &B::Device::default()),
            };
            super::VALUES.into_iter().flat_map(|value| {
                let scheme = by(value, QuantLevel::Tensor);
                let given = [8e37, 9e37, 3e38].map(|scale| both(x.clone().quantize(&scheme, parameters(scale))));
                given.into_iter().flatten().chain(both(x.clone().quantize_dynamic(&scheme))).collect::<Vec<_>>()
            }).collect::<Vec<_>>()
        };
        nothing_but_zero_or_nan = |_layout, _dtype| {
            [[0.0, -0.0, 0.0, 0.0], [f32::NAN; 4], [f32::INFINITY, 1.0, f32::NAN, f32::NEG_INFINITY]]
                .into_iter()
                .flat_map(|x| {
                    let x = Tensor::<B, 1>::from_data(x, &B::Device::default());
                    let levels = [QuantLevel::Tensor, QuantLevel::block([2])];
                    levels.into_iter().flat_map(move |level| both(x.clone().quantize_dynamic(&by(Q8F, level))))
                })
                .collect::<Vec<_>>()
        };
    }

    by_hand() {
        quantize = |x = [1.0, 2.0, 3.0, -1.0, -5.0, 300.0], scales = [2.0]| {
            let dtype = x.dtype();
            let quantized = x.quantize(&by(Q4S, QuantLevel::Tensor), QuantizationParameters { scales });
            quantized.dequantize().cast(dtype)
        } => [2.0, 2.0, 4.0, -2.0, -6.0, 14.0];
        quantize_dynamic = |x = [1.0, 2.0, -4.0, 0.0, 0.0, 0.125]| {
            let dtype = x.dtype();
            x.quantize_dynamic(&by(Q2S, QuantLevel::block([3]))).dequantize().cast(dtype)
        } => [0.0, 4.0, -4.0, 0.0, 0.0, 0.125];
        dequantize = |x = [127.0, -254.0, 3.0]| {
            let dtype = x.dtype();
            x.quantize_dynamic(&by(Q8S, QuantLevel::Tensor)).dequantize().cast(dtype)
        } => [128.0, -254.0, 4.0];
    }
}

/// A different scale for each block, some so small that most numbers reach the range's ends.
fn scales<B: Backend>(elements: usize, level: QuantLevel, dtype: DType) -> Tensor<B, 1> {
    let blocks = match level {
        QuantLevel::Tensor => 1,
        QuantLevel::Block(size) => elements / size.num_elements(),
    };
    let scales: Vec<f32> = (0..blocks).map(|i| 2.0f32.powi((i % 9) as i32 - 5)).collect();
    Tensor::from_data(TensorData::from(scales.as_slice()).convert_dtype(dtype), (&B::Device::default(), dtype))
}
