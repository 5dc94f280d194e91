//! `MPSGraphConvolutionOps.h`: convolutions in two dimensions, and their gradients.
//!
//! Nothing is published of the precision in which 16-bit floats are summed; here they are summed in Float32 and rounded
//! once. The forms in three dimensions are left out: before macOS 26.3 they are silently wrong for packed data
//! (pytorch/pytorch#197114).

use crate::ir::{DType, TensorType, ValueId};
use crate::kernels::convolution::{Convolution, Wanted, Window};
use crate::mpsgraph::builder::{Accepts, Builder, refuse};
use crate::mpsgraph::convolution_2d_op_descriptor::{Convolution2DOpDescriptor, Properties};
use crate::mpsgraph::shape::Shown;
use crate::objc::version::macos;
use crate::objc::{Id, Method, Sel, Strong, This, method4, method5};

/// The selectors of the header that exist here.
pub const METHODS: &[Method] = &[
    method4("convolution2DWithSourceTensor:weightsTensor:descriptor:name:", convolution),
    method5(
        "convolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:forwardConvolutionDescriptor:\
         name:",
        data_gradient,
    ),
    method5(
        "convolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:forwardConvolutionDescriptor:\
         name:",
        weights_gradient,
    ),
];

/// Extents of a filter from here on overrun the memory of the kernel's threads (pytorch/pytorch#188335, #188359).
const LONG_FILTER: usize = 256;
/// More channels than this are silently wrong (pytorch/pytorch#129207, #142836).
const CHANNELS: usize = 1 << 16;
/// The gradient for the weights counts its images in 16 bits (pytorch/pytorch#96225, #193577).
const IMAGES: usize = u16::MAX as usize;

/// A message for a convolution while it is answered.
struct Request<'a> {
    builder: Builder<'a>,
    properties: Properties,
}

impl<'a> Request<'a> {
    fn open(this: This<'a>, cmd: Sel, descriptor: Id, name: Id) -> Self {
        let builder = Builder::open(this, cmd, name);
        let descriptor = Strong::retain(descriptor);
        let Some(state) = descriptor.try_state::<Convolution2DOpDescriptor>() else {
            refuse!(builder, "the descriptor is {}", descriptor.id().class_name());
        };
        let properties = *state.get();
        Self { builder, properties }
    }

    /// The values of two operands of one type and rank 4.
    fn operands(&self, [a, b]: [Id; 2], roles: [&str; 2]) -> [ValueId; 2] {
        let builder = &self.builder;
        let values = [(a, roles[0]), (b, roles[1])].map(|(tensor, role)| {
            let value = builder.operand(tensor, role, Accepts::Floats);
            builder.ranked(value, role);
            self.rank_4(builder.ty(value), role);
            value
        });
        builder.same_dtype(values[0], values[1]);
        values
    }

    fn rank_4(&self, ty: &TensorType, role: &str) {
        if ty.shape.len() != 4 {
            refuse!(self.builder, "the {role} is {}: a convolution must have four dimensions, others abort", Shown(ty));
        }
    }

    /// The type of a gradient that has the given shape.
    fn gradient(&self, shape: Id, dtype: DType) -> TensorType {
        let ty = TensorType::new(dtype, self.builder.fixed_shape(shape));
        self.rank_4(&ty, "result");
        ty
    }

    /// Refuses extents that do not go together, or that MPSGraph is known to get wrong, and gives the output's shape.
    fn output_shape(&self, input: &TensorType, weights: &TensorType) -> Vec<usize> {
        let (builder, asked) = (&self.builder, &self.properties);
        let groups = asked.groups;
        let (channels, outputs) = (input.shape[1], weights.shape[0]);
        if channels != weights.shape[1] * groups || outputs % groups != 0 {
            let (input, weights) = (Shown(input), Shown(weights));
            refuse!(builder, "{input} by {weights} in {groups} groups: the channels do not fit, which aborts");
        }
        if channels.max(outputs) > CHANNELS {
            refuse!(
                builder,
                "{channels} to {outputs} channels: more than {CHANNELS} are silently wrong, so split them"
            );
        }
        let mut shape = vec![input.shape[0], outputs];
        for axis in [0, 1] {
            let (extent, taps) = (input.shape[axis + 2], weights.shape[axis + 2]);
            if taps >= LONG_FILTER {
                refuse!(builder, "a filter of {taps}: from {LONG_FILTER} on it is silently wrong, so split it");
            }
            let padded = extent + asked.before[axis] + asked.after[axis];
            let reach = asked.dilations[axis] * (taps - 1) + 1;
            if reach > padded {
                let (input, weights) = (Shown(input), Shown(weights));
                refuse!(builder, "{input} by {weights}: a filter of {reach} over {padded} has no output, which aborts");
            }
            shape.push((padded - reach) / asked.strides[axis] + 1);
        }
        shape
    }

    /// Refuses a gradient that has not the shape of the output.
    fn incoming(&self, grad: ValueId, shape: &[usize]) {
        if self.builder.shape(grad) != shape {
            let grad = Shown(self.builder.ty(grad));
            refuse!(self.builder, "the incoming gradient is {grad}: it must have the output's shape {shape:?}");
        }
    }

    /// Refuses a gradient with one channel in a group that goes on behind the last tap for more than there is padding.
    fn beyond_the_filter(&self, input: &TensorType, weights: &TensorType, grad: &[usize]) {
        if macos() < (27, 0) || weights.shape[1] > 1 {
            return;
        }
        let asked = &self.properties;
        for axis in [0, 1] {
            let reach = asked.dilations[axis] * (weights.shape[axis + 2] - 1) + 1;
            let met = (grad[axis + 2] - 1) * asked.strides[axis] + reach;
            let beyond = input.shape[axis + 2] + asked.before[axis] + asked.after[axis] - met;
            if beyond > asked.after[axis] {
                refuse!(
                    self.builder,
                    "{} by {}: {beyond} elements behind the last tap with a padding of {}, which aborts on macOS 27 if \
                     a group has one channel",
                    Shown(input),
                    Shown(weights),
                    asked.after[axis]
                );
            }
        }
    }

    /// Appends the node, in Float32 whatever the operands are.
    fn finish(mut self, wanted: Wanted, operands: [ValueId; 2], ty: TensorType) -> Id {
        let Properties { strides, dilations, before, groups, .. } = self.properties;
        let window = |axis: usize| Window { stride: strides[axis], dilation: dilations[axis], before: before[axis] };
        let op = Convolution { wanted, windows: [window(0), window(1)], groups };
        let operands = operands.map(|operand| self.builder.cast(operand, DType::F32));
        let wide = self.builder.emit(op, operands, TensorType::new(DType::F32, ty.shape));
        let value = self.builder.cast(wide, ty.dtype);
        self.builder.tensor(value)
    }
}

extern "C-unwind" fn convolution(this: This<'_>, cmd: Sel, source: Id, weights: Id, descriptor: Id, name: Id) -> Id {
    let request = Request::open(this, cmd, descriptor, name);
    let [x, w] = request.operands([source, weights], ["source", "weights"]);
    let shape = request.output_shape(request.builder.ty(x), request.builder.ty(w));
    let ty = TensorType::new(request.builder.dtype(x), shape);
    request.finish(Wanted::Output, [x, w], ty)
}

extern "C-unwind" fn data_gradient(
    this: This<'_>,
    cmd: Sel,
    incoming: Id,
    weights: Id,
    output_shape: Id,
    descriptor: Id,
    name: Id,
) -> Id {
    let request = Request::open(this, cmd, descriptor, name);
    let [grad, w] = request.operands([incoming, weights], ["incoming gradient", "weights"]);
    let ty = request.gradient(output_shape, request.builder.dtype(w));
    request.incoming(grad, &request.output_shape(&ty, request.builder.ty(w)));
    request.beyond_the_filter(&ty, request.builder.ty(w), request.builder.shape(grad));
    request.finish(Wanted::InputGradient, [grad, w], ty)
}

extern "C-unwind" fn weights_gradient(
    this: This<'_>,
    cmd: Sel,
    incoming: Id,
    source: Id,
    output_shape: Id,
    descriptor: Id,
    name: Id,
) -> Id {
    let request = Request::open(this, cmd, descriptor, name);
    let [grad, x] = request.operands([incoming, source], ["incoming gradient", "source"]);
    let ty = request.gradient(output_shape, request.builder.dtype(x));
    request.incoming(grad, &request.output_shape(request.builder.ty(x), &ty));
    let images = request.builder.shape(x)[0];
    if images > IMAGES {
        refuse!(
            request.builder,
            "{images} images: of more than {IMAGES} the gradient for the weights is silently wrong, so split them"
        );
    }
    request.finish(Wanted::WeightsGradient, [grad, x], ty)
}
