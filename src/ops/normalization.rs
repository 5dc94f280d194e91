//! Normalization over the last axis. 16-bit floats are normalized in f32.
//!
//! One recorded op, because where a layer runs for one token the cost of each recorded op counts. Its nodes are
//! elementwise ones and sums, none of those of `MPSGraphNormalizationOps.h`: in which precision these compute is not
//! documented.

use burn_backend::DType;
use smallvec::SmallVec;

use super::{Operation, reduction};
use crate::bridge::record;
use crate::dtype::Elements;
use crate::error::{invalid, unsupported};
use crate::ffi;
use crate::lowering::conversion::convert;
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::rank::KERNEL_AXES;
use crate::lowering::scalar::ScalarInput;
use crate::lowering::{Lowering, MOST_ELEMENTS, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// A recorded normalization.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NormalizationOp {
    /// `[x, gamma]`, and `beta` if it `shifts`, floats of one dtype: `x` of up to four axes, the others with the last
    /// one alone. The node's scalar is epsilon.
    Layer { shifts: bool },
}

/// `(x - mean) / sqrt(variance + epsilon) * gamma + beta` over the last axis, with the population variance. `gamma` and
/// `beta` have that axis alone and the dtype of `tensor`.
pub(crate) fn layer_norm(
    tensor: MpsGraphTensor,
    gamma: MpsGraphTensor,
    beta: Option<MpsGraphTensor>,
    epsilon: f64,
) -> MpsGraphTensor {
    Elements::Floats.require("layer_norm", &tensor);
    let (dtype, shape) = (tensor.dtype(), tensor.shape.clone());
    let fits =
        |affine: &MpsGraphTensor| affine.dtype() == dtype && affine.shape.as_slice() == &shape[shape.len() - 1..];
    if shape.is_empty() || !fits(&gamma) || !beta.as_ref().is_none_or(fits) {
        let given = [Some(&gamma), beta.as_ref()].map(|affine| affine.map(|affine| (affine.dtype(), affine.dims())));
        let expected = "both need the input's dtype and the shape of its last axis alone";
        invalid("layer_norm", format!("{dtype:?} {:?} with gamma and beta {given:?}; {expected}", &shape[..]));
    }
    if shape.num_elements() == 0 {
        return tensor;
    }
    if shape.num_elements() > MOST_ELEMENTS {
        let limit = "more than the 2^30 elements that are normalized in f32; normalize fewer rows at a time";
        unsupported("layer_norm", format!("{dtype:?} {:?} has {limit}", &shape[..]));
    }
    let op = NormalizationOp::Layer { shifts: beta.is_some() }.into();
    let width = shape[shape.len() - 1];
    let is_matrix = shape.len() > KERNEL_AXES;
    let x = if is_matrix { tensor.with_shape([shape.num_elements() / width, width].into()) } else { tensor };
    let operands = [Some(&x), Some(&gamma), beta.as_ref()];
    let operands: SmallVec<[&MpsGraphTensor; 3]> = operands.into_iter().flatten().collect();
    let result = record(op, &operands, &[ScalarInput::Float(epsilon)], x.ty());
    if is_matrix { result.with_shape(shape) } else { result }
}

impl Operation for NormalizationOp {
    fn name(&self) -> &'static str {
        match self {
            NormalizationOp::Layer { .. } => "layer_norm",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let NormalizationOp::Layer { shifts } = self;
        let (dtype, graph) = (output.dtype, cx.graph());
        let axis = output.shape.num_dims() - 1;
        let mean = |x: &ffi::Tensor| reduction::mean_of(cx, x, DType::F32, output.shape[axis], &[axis as isize]);
        let wide = |operand: &Operand| convert(cx, &operand.tensor, dtype, DType::F32);

        let x = wide(&inputs[0]);
        let centered = graph.subtraction(&x, &mean(&x));
        let variance = mean(&graph.multiplication(&centered, &centered));
        let shifted = graph.addition(&variance, &cx.scalar(0, DType::F32));
        // A quotient for each row, not for each element.
        let scale = graph.reciprocal(&graph.square_root(&shifted));
        let normalized = graph.multiplication(&centered, &scale);
        let scaled = graph.multiplication(&normalized, &wide(&inputs[1]));
        let moved = if *shifts { graph.addition(&scaled, &wide(&inputs[2])) } else { scaled };
        convert(cx, &moved, DType::F32, dtype)
    }

    fn provenance(&self, inputs: &[Provenance]) -> Provenance {
        Provenance::union_of(inputs).without(Provenance::VIEW)
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        Reshapes::Nothing
    }
}
