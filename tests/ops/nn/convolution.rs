//! Convolutions: padding of every kind, strides, dilation, groups.

use burn::nn::conv::{
    Conv1dConfig, Conv2dConfig, Conv3dConfig, ConvTranspose1dConfig, ConvTranspose2dConfig, ConvTranspose3dConfig,
    DeformConv2dConfig,
};
use burn::nn::{PaddingConfig1d, PaddingConfig2d, PaddingConfig3d};
use burn::tensor::DType::F32;
use test_support::FLOATS;

use super::LAYER;

cases! {
    trained(FLOATS, LAYER) {
        conv_1d = |layer = (Conv1dConfig::new(4, 6, 3)), x = [2, 4, 9]| layer.forward(x);
        conv_2d = |layer = (Conv2dConfig::new([3, 4], [3, 2])), x = [2, 3, 6, 5]| layer.forward(x);
        conv_transpose_2d = |layer = (ConvTranspose2dConfig::new([3, 4], [3, 2])), x = [2, 3, 4, 5]|
            layer.forward(x);
    }

    trained([F32], LAYER) {
        conv_1d_other_sides = |layer = (Conv1dConfig::new(4, 6, 3).with_stride(2).with_groups(2)
            .with_padding(PaddingConfig1d::Explicit(2, 1))), x = [2, 4, 10]| layer.forward(x);
        conv_1d_same = |layer = (Conv1dConfig::new(2, 3, 4).with_padding(PaddingConfig1d::Same)), x = [2, 2, 7]|
            layer.forward(x);
        conv_1d_dilated = |layer = (Conv1dConfig::new(2, 3, 3).with_dilation(3).with_bias(false)), x = [2, 2, 11]|
            layer.forward(x);
        conv_2d_other_sides = |layer = (Conv2dConfig::new([2, 4], [3, 3]).with_stride([2, 1])
            .with_padding(PaddingConfig2d::Explicit(1, 0, 2, 1))), x = [2, 2, 7, 6]| layer.forward(x);
        conv_2d_same = |layer = (Conv2dConfig::new([2, 3], [2, 3]).with_padding(PaddingConfig2d::Same)),
            x = [2, 2, 5, 6]| layer.forward(x);
        conv_2d_depthwise = |layer = (Conv2dConfig::new([4, 8], [3, 3]).with_groups(4).with_bias(false)),
            x = [2, 4, 6, 5]| layer.forward(x);
        conv_2d_dilated = |layer = (Conv2dConfig::new([4, 2], [3, 2]).with_groups(2).with_dilation([2, 3])),
            x = [2, 4, 7, 6]| layer.forward(x);
        conv_3d = |layer = (Conv3dConfig::new([4, 2], [2, 3, 2]).with_stride([1, 2, 1]).with_groups(2)
            .with_dilation([2, 1, 1]).with_padding(PaddingConfig3d::Explicit(1, 0, 1))), x = [2, 4, 4, 5, 3]|
            layer.forward(x);
        conv_3d_same = |layer = (Conv3dConfig::new([2, 3], [3, 3, 1]).with_padding(PaddingConfig3d::Same)),
            x = [1, 2, 3, 4, 3]| layer.forward(x);
        conv_transpose_1d = |layer = (ConvTranspose1dConfig::new([4, 6], 3).with_stride(2).with_groups(2)
            .with_padding(1).with_padding_out(1).with_dilation(2)), x = [2, 4, 5]| layer.forward(x);
        conv_transpose_2d_with_options = |layer = (ConvTranspose2dConfig::new([4, 2], [3, 2]).with_stride([2, 3])
            .with_groups(2).with_padding([1, 0]).with_padding_out([1, 2]).with_bias(false)), x = [2, 4, 3, 4]|
            layer.forward(x);
        conv_transpose_3d = |layer = (ConvTranspose3dConfig::new([2, 3], [2, 3, 2]).with_stride([1, 2, 1])
            .with_dilation([2, 1, 1]).with_padding([1, 1, 0]).with_padding_out([0, 1, 0])), x = [1, 2, 3, 2, 3]|
            layer.forward(x);
        deform_conv_2d = |layer = (DeformConv2dConfig::new([2, 3], [3, 2])), x = [2, 2, 5, 4],
            offset = [2, 12, 3, 3], mask = [2, 6, 3, 3]| layer.forward(x, offset, Some(mask));
        deform_conv_2d_with_options = |layer = (DeformConv2dConfig::new([4, 4], [2, 2]).with_stride([2, 1])
            .with_weight_groups(2).with_offset_groups(2).with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
            .with_bias(false)), x = [1, 4, 5, 4], offset = [1, 16, 3, 5]| layer.forward(x, offset, None);
    }
}
