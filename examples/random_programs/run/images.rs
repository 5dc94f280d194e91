//! Ops of signals, images and volumes.

use burn::tensor::IntDType;
use burn::tensor::backend::Backend;
use burn::tensor::ops::{
    ConvOptions, ConvTransposeOptions, DeformConvOptions, GridSampleOptions, GridSamplePaddingMode, InterpolateMode,
    InterpolateOptions, UnfoldOptions,
};
use burn_backend::tensor::{FloatTensor, IntTensor};

use crate::program::{Image, Resize, Window};
use crate::value::Value;

pub fn apply<B: Backend>(op: &Image, mut operands: impl Iterator<Item = FloatTensor<B>>) -> Value<B> {
    let mut next = || operands.next().expect("the program has the op's operands");
    let x = next();
    Value::Float(match op {
        Image::Conv(window) => convolution::<B>(window, x, next(), operands.next()),
        Image::ConvTranspose(window) => transposed::<B>(window, x, next(), operands.next()),
        Image::AvgPool { window, counts_padding, ceil } => match window.size[..] {
            [size] => B::avg_pool1d(x, size, window.stride[0], window.padding[0], *counts_padding, *ceil),
            _ => B::avg_pool2d(
                x,
                each(&window.size),
                each(&window.stride),
                each(&window.padding),
                *counts_padding,
                *ceil,
            ),
        },
        Image::MaxPool { window, ceil } => match window.size[..] {
            [size] => B::max_pool1d(x, size, window.stride[0], window.padding[0], window.dilation[0], *ceil),
            _ => B::max_pool2d(
                x,
                each(&window.size),
                each(&window.stride),
                each(&window.padding),
                each(&window.dilation),
                *ceil,
            ),
        },
        Image::MaxPoolIndices { window, ceil } => return Value::Int(positions::<B>(window, *ceil, x)),
        Image::AdaptiveAvgPool2d(size) => B::adaptive_avg_pool2d(x, *size),
        Image::Interpolate { size, mode, aligned } => {
            B::interpolate(x, *size, InterpolateOptions::new(resize(*mode)).with_align_corners(*aligned))
        }
        Image::GridSample { reflected, aligned } => {
            let beyond = if *reflected { GridSamplePaddingMode::Reflection } else { GridSamplePaddingMode::Border };
            let options = GridSampleOptions::new(InterpolateMode::Bilinear).with_padding_mode(beyond);
            B::float_grid_sample_2d(x, next(), options.with_align_corners(*aligned))
        }
        Image::DeformConv2d(Window { stride, padding, dilation, groups, .. }) => {
            let options = DeformConvOptions::new(each(stride), each(padding), each(dilation), *groups, 1);
            let [offsets, filters, mask] = [next(), next(), next()];
            B::deform_conv2d(x, offsets, filters, Some(mask), None, options)
        }
        Image::Unfold4d(Window { size, stride, padding, dilation, .. }) => {
            B::unfold4d(x, each(size), UnfoldOptions::new(each(stride), each(padding), each(dilation)))
        }
    })
}

/// An entry for each of so many extents.
fn each<const N: usize>(of: &[usize]) -> [usize; N] {
    of.try_into().expect("a window has an entry for each extent")
}

fn convolution<B: Backend>(
    window: &Window,
    x: FloatTensor<B>,
    filters: FloatTensor<B>,
    bias: Option<FloatTensor<B>>,
) -> FloatTensor<B> {
    fn options<const N: usize>(window: &Window) -> ConvOptions<N> {
        let Window { stride, padding, dilation, groups, .. } = window;
        ConvOptions::new(each(stride), each(padding), each(dilation), *groups)
    }
    match window.size.len() {
        1 => B::conv1d(x, filters, bias, options(window)),
        2 => B::conv2d(x, filters, bias, options(window)),
        _ => B::conv3d(x, filters, bias, options(window)),
    }
}

fn transposed<B: Backend>(
    window: &Window,
    x: FloatTensor<B>,
    filters: FloatTensor<B>,
    bias: Option<FloatTensor<B>>,
) -> FloatTensor<B> {
    fn options<const N: usize>(window: &Window) -> ConvTransposeOptions<N> {
        let Window { stride, padding, dilation, groups, .. } = window;
        ConvTransposeOptions::new(each(stride), each(padding), [0; N], each(dilation), *groups)
    }
    match window.size.len() {
        1 => B::conv_transpose1d(x, filters, bias, options(window)),
        2 => B::conv_transpose2d(x, filters, bias, options(window)),
        _ => B::conv_transpose3d(x, filters, bias, options(window)),
    }
}

fn positions<B: Backend>(window: &Window, ceil: bool, x: FloatTensor<B>) -> IntTensor<B> {
    let Window { size, stride, padding, dilation, .. } = window;
    let positions = match size[..] {
        [size] => B::max_pool1d_with_indices(x, size, stride[0], padding[0], dilation[0], ceil).indices,
        _ => {
            let [size, stride, padding, dilation] = [size, stride, padding, dilation].map(|of| each(of));
            B::max_pool2d_with_indices(x, size, stride, padding, dilation, ceil).indices
        }
    };
    B::int_cast(positions, IntDType::I32)
}

fn resize(mode: Resize) -> InterpolateMode {
    match mode {
        Resize::Nearest => InterpolateMode::Nearest,
        Resize::Bilinear => InterpolateMode::Bilinear,
        Resize::Bicubic => InterpolateMode::Bicubic,
        Resize::Lanczos3 => InterpolateMode::Lanczos3,
    }
}
