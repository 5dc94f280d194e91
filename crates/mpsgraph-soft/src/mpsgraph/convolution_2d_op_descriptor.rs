//! `MPSGraphConvolution2DOpDescriptor`: how a filter moves over an image.
//!
//! What is not supported here, or ends the process later on a Mac, is refused when it is set.

use std::sync::{Mutex, MutexGuard};

use crate::ignore_poison::IgnorePoison;
use crate::objc::{ClassDef, ClassKind, Id, Sel, This, method4, method8, new_object};
use crate::violation;

/// See the file's header.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphConvolution2DOpDescriptor",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[method4(
        "setExplicitPaddingWithPaddingLeft:paddingRight:paddingTop:paddingBottom:",
        set_explicit_padding,
    )],
    class: &[method8(
        "descriptorWithStrideInX:strideInY:dilationRateInX:dilationRateInY:groups:paddingStyle:dataLayout:\
         weightsLayout:",
        descriptor,
    )],
};

const EXPLICIT: usize = 0;
const LAST_PADDING_STYLE: usize = 4;
const NCHW: usize = 0;
const OIHW: usize = 2;
const LAST_LAYOUT: usize = 10;

/// How the filter moves, by height and width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Properties {
    pub strides: [usize; 2],
    pub dilations: [usize; 2],
    pub groups: usize,
    pub before: [usize; 2],
    pub after: [usize; 2],
}

/// Payload of a descriptor.
pub(crate) struct Convolution2DOpDescriptor(Mutex<Properties>);

impl Convolution2DOpDescriptor {
    /// The properties, to read or change.
    pub fn get(&self) -> MutexGuard<'_, Properties> {
        self.0.lock().ignore_poison()
    }
}

#[allow(clippy::too_many_arguments, reason = "Apple's signature")]
extern "C-unwind" fn descriptor(
    this: This<'_>,
    cmd: Sel,
    stride_x: usize,
    stride_y: usize,
    dilation_x: usize,
    dilation_y: usize,
    groups: usize,
    padding_style: usize,
    data_layout: usize,
    weights_layout: usize,
) -> Id {
    for (number, what) in [
        (stride_x, "stride"),
        (stride_y, "stride"),
        (dilation_x, "dilation rate"),
        (dilation_y, "dilation rate"),
        (groups, "number of groups"),
    ] {
        if number == 0 {
            violation!(this, cmd, "a {what} of 0 aborts when the graph is compiled");
        }
    }
    if padding_style > LAST_PADDING_STYLE {
        violation!(this, cmd, "{padding_style} is no MPSGraphPaddingStyle");
    }
    if padding_style != EXPLICIT {
        violation!(this, cmd, "MPSGraphPaddingStyle {padding_style} is not supported here: set explicit padding");
    }
    for (layout, supported) in [(data_layout, NCHW), (weights_layout, OIHW)] {
        if layout > LAST_LAYOUT {
            violation!(this, cmd, "{layout} is no MPSGraphTensorNamedDataLayout");
        }
        if layout != supported {
            violation!(this, cmd, "layout {layout}: data is NCHW (0) and weights are OIHW (2) here");
        }
    }
    let properties = Properties {
        strides: [stride_y, stride_x],
        dilations: [dilation_y, dilation_x],
        groups,
        before: [0; 2],
        after: [0; 2],
    };
    new_object(&CLASS, Convolution2DOpDescriptor(Mutex::new(properties))).autorelease()
}

extern "C-unwind" fn set_explicit_padding(
    this: This<'_>,
    _: Sel,
    left: usize,
    right: usize,
    top: usize,
    bottom: usize,
) {
    let mut properties = this.state::<Convolution2DOpDescriptor>().get();
    properties.before = [top, left];
    properties.after = [bottom, right];
}
