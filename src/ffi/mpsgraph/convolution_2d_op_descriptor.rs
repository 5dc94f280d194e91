//! `MPSGraphConvolution2DOpDescriptor`: how a filter moves over an image.

use crate::ffi::objc::{Retained, objc_class, objc_enum, objc_methods};

objc_class!(
    /// How a filter moves over an image.
    MPSGraphConvolution2DOpDescriptor
);

/// The descriptor, retained.
pub(crate) type ConvolutionDescriptor = Retained<MPSGraphConvolution2DOpDescriptor>;

objc_enum! {
    /// Where the padding comes from. Others derive it from the extents.
    enum PaddingStyle: u64 = "MPSGraphPaddingStyle" {
        /// As the descriptor says.
        Explicit = "MPSGraphPaddingStyleExplicit" 0,
    }
}

objc_enum! {
    /// The order of dimensions.
    enum Layout: u64 = "MPSGraphTensorNamedDataLayout" {
        /// Batch, channels, height, width.
        Nchw = "MPSGraphTensorNamedDataLayoutNCHW" 0,
        /// Outputs, inputs, height, width.
        Oihw = "MPSGraphTensorNamedDataLayoutOIHW" 2,
    }
}

objc_methods! {
    "MPSGraphConvolutionOps.h";
    impl MPSGraphConvolution2DOpDescriptor {
        class fn descriptor(
            stride_x: usize,
            stride_y: usize,
            dilation_x: usize,
            dilation_y: usize,
            groups: usize,
            padding_style: PaddingStyle,
            data_layout: Layout,
            weights_layout: Layout,
        ) -> Option<ConvolutionDescriptor>
            = "descriptorWithStrideInX:strideInY:dilationRateInX:dilationRateInY:groups:paddingStyle:\
               dataLayout:weightsLayout:",
            since (11, 0);

        instance fn set_explicit_padding(left: usize, right: usize, top: usize, bottom: usize)
            = "setExplicitPaddingWithPaddingLeft:paddingRight:paddingTop:paddingBottom:", since (11, 0);
    }
}

/// How a filter moves along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Window {
    /// Elements of the input between two positions, at least 1.
    pub stride: usize,
    /// Elements of the input between two taps of the filter, at least 1.
    pub dilation: usize,
    /// Zeros before and after the input.
    pub padding: [usize; 2],
}

impl ConvolutionDescriptor {
    /// For packed data and weights in Burn's order of dimensions; windows by height and width.
    pub(crate) fn new([y, x]: [Window; 2], groups: usize) -> Self {
        let descriptor = MPSGraphConvolution2DOpDescriptor::descriptor(
            x.stride,
            y.stride,
            x.dilation,
            y.dilation,
            groups,
            PaddingStyle::Explicit,
            Layout::Nchw,
            Layout::Oihw,
        );
        let descriptor = descriptor.expect("MPSGraph makes a descriptor of numbers that are not 0");
        descriptor.set_explicit_padding(x.padding[0], x.padding[1], y.padding[0], y.padding[1]);
        descriptor
    }
}

/// What it does is seen in the exercise of `convolution`.
#[cfg(test)]
pub(super) fn exercise() {
    let window = Window { stride: 1, dilation: 1, padding: [0, 0] };
    crate::ffi::autoreleasepool(|| drop(ConvolutionDescriptor::new([window; 2], 1)));
}
