//! Pooling.

use burn::nn::pool::{
    AdaptiveAvgPool1dConfig, AdaptiveAvgPool2dConfig, AvgPool1dConfig, AvgPool2dConfig, MaxPool1dConfig,
    MaxPool2dConfig,
};
use burn::nn::{PaddingConfig1d, PaddingConfig2d};
use burn::tensor::DType::F32;
use test_support::FLOATS;

use super::LAYER;

cases! {
    trained(FLOATS, LAYER) {
        adaptive_avg_1d = |x = [2, 3, 7]| AdaptiveAvgPool1dConfig::new(3).init().forward(x);
        adaptive_avg_2d = |x = [2, 3, 5, 7]| AdaptiveAvgPool2dConfig::new([2, 4]).init().forward(x);
        avg_2d = |x = [2, 3, 6, 5]| AvgPool2dConfig::new([3, 2]).init().forward(x);
        max_2d = |x = [2, 3, 6, 5]| MaxPool2dConfig::new([3, 2]).init().forward(x);
    }

    trained([F32], LAYER) {
        avg_1d = |x = [2, 3, 9]| AvgPool1dConfig::new(3).with_stride(2).init().forward(x);
        avg_1d_other_sides = |x = [2, 3, 9]|
            AvgPool1dConfig::new(3).with_stride(1).with_padding(PaddingConfig1d::Explicit(0, 1)).init().forward(x);
        avg_1d_padded = |x = [2, 3, 8]| AvgPool1dConfig::new(3).with_stride(2).with_count_include_pad(false)
            .with_ceil_mode(true).with_padding(PaddingConfig1d::Explicit(1, 1)).init().forward(x);
        avg_2d_other_sides = |x = [2, 3, 6, 5]| AvgPool2dConfig::new([2, 3]).with_strides([1, 2])
            .with_padding(PaddingConfig2d::Explicit(1, 0, 0, 2)).init().forward(x);
        avg_2d_padded = |x = [2, 3, 6, 5]| AvgPool2dConfig::new([3, 3]).with_strides([2, 2]).with_ceil_mode(true)
            .with_count_include_pad(false).with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1)).init().forward(x);
        max_1d = |x = [2, 3, 9]| MaxPool1dConfig::new(3).with_stride(2).with_dilation(2).init().forward(x);
        max_1d_same = |x = [2, 3, 9]|
            MaxPool1dConfig::new(4).with_stride(1).with_padding(PaddingConfig1d::Same).init().forward(x);
        max_2d_dilated = |x = [2, 3, 7, 6]| MaxPool2dConfig::new([2, 3]).with_strides([2, 1]).with_dilation([2, 2])
            .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1)).with_ceil_mode(true).init().forward(x);
        max_2d_other_sides = |x = [2, 3, 6, 5]| MaxPool2dConfig::new([2, 3]).with_strides([1, 2])
            .with_padding(PaddingConfig2d::Explicit(1, 0, 0, 2)).init().forward(x);
    }
}
