//! The quantized tensor primitive: packed values, their scales, and the shape they are seen with.
//!
//! Values of 8 bits are an i8 tensor. Narrower ones lie side by side in the 32 bits of an i32 tensor, in row-major
//! order from the lowest bits on, as Burn packs them into u32. Scales are f32, whatever the scheme's parameter type is:
//! Burn's bytes hold them so. Burn's block is a run of elements in row-major order, with one scale.
//!
//! What a scheme says of its store is how data comes in. As in burn-flex, the tensor's own scheme says
//! [`QuantStore::Native`]: data that is read has a byte for each value.

pub(crate) mod bytes;
mod words;

use burn_backend::quantization::{QuantScheme, QuantStore, QuantValue};
use burn_backend::{DType, Shape, TensorMetadata};

use super::MpsGraphTensor;
use crate::burn::{blocks_fill, level, metadata_items};
use crate::error::{invalid, unsupported};

/// A quantized tensor on the [`MpsGraphDevice`](crate::MpsGraphDevice). Cloning shares the data.
///
/// Its parts are in boxes, because Burn's tensors of floats are as large as this type.
#[derive(Clone, Debug)]
pub struct MpsGraphQuantizedTensor {
    /// As [`Packing`] has it.
    pub(crate) values: Box<MpsGraphTensor>,
    /// One f32 for each block, shape \[blocks\].
    pub(crate) scales: Box<MpsGraphTensor>,
    pub(crate) scheme: QuantScheme,
    pub(crate) shape: Shape,
}

impl MpsGraphQuantizedTensor {
    /// `scheme` is supported, and `values` and `scales` are what it says of `shape`.
    pub(crate) fn new(values: MpsGraphTensor, scales: MpsGraphTensor, scheme: QuantScheme, shape: Shape) -> Self {
        Self {
            values: Box::new(values),
            scales: Box::new(scales),
            scheme: scheme.with_store(QuantStore::Native),
            shape,
        }
    }

    /// What a message says of the tensor.
    pub(crate) fn typed(&self) -> (DType, &[usize]) {
        (DType::QFloat(self.scheme), &self.shape)
    }

    /// What each scale is for.
    pub(crate) fn level(&self) -> Level {
        Level::of_checked(&self.scheme)
    }

    /// How the values are stored on the device.
    pub(crate) fn packing(&self) -> Packing {
        Packing::of_checked(self.scheme.value)
    }
}

impl TensorMetadata for MpsGraphQuantizedTensor {
    metadata_items!();

    fn dtype(&self) -> DType {
        DType::QFloat(self.scheme)
    }

    fn shape(&self) -> Shape {
        self.shape.clone()
    }

    fn rank(&self) -> usize {
        self.shape.num_dims()
    }
}

/// How values lie in a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Packing {
    /// An i8 each.
    Bytes,
    /// Several in an i32; unused bits of the last one are 0.
    Words(Width),
}

/// Bits of a value that is narrower than a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Width {
    Two,
    Four,
}

impl Packing {
    /// How integer values lie; `None` for values that are floats of few bits.
    pub fn of(value: QuantValue) -> Option<Self> {
        match value {
            QuantValue::Q8F | QuantValue::Q8S => Some(Packing::Bytes),
            QuantValue::Q4F | QuantValue::Q4S => Some(Packing::Words(Width::Four)),
            QuantValue::Q2F | QuantValue::Q2S => Some(Packing::Words(Width::Two)),
            QuantValue::E4M3 | QuantValue::E5M2 | QuantValue::E2M1 => None,
        }
    }

    /// How the values of a scheme lie that [`Blocks::of`] has let pass.
    pub fn of_checked(value: QuantValue) -> Self {
        Self::of(value).unwrap_or_else(|| unreachable!("{value:?} is refused before a tensor is made"))
    }
}

impl Width {
    /// Bits of a value.
    pub fn bits(self) -> usize {
        match self {
            Width::Two => 2,
            Width::Four => 4,
        }
    }

    /// Values in a word.
    pub fn in_word(self) -> usize {
        32 / self.bits()
    }

    /// Words that `values` take.
    pub fn words(self, values: usize) -> usize {
        values.div_ceil(self.in_word())
    }
}

/// What has a scale of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Tensor,
    /// Runs of so many elements in row-major order.
    Block {
        elements: usize,
    },
}

impl Level {
    /// The level of a scheme that [`Blocks::of`] has let pass.
    pub fn of_checked(scheme: &QuantScheme) -> Self {
        level(scheme).unwrap_or_else(|reason| unreachable!("refused before a tensor is made: {reason}"))
    }
}

/// The blocks of a tensor: how many, and of how many elements each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    pub count: usize,
    pub elements: usize,
}

impl Blocks {
    /// The blocks of `shape`, after a check that this backend has the scheme.
    #[track_caller]
    pub fn of(op: &'static str, scheme: &QuantScheme, shape: &Shape) -> Self {
        if Packing::of(scheme.value).is_none() {
            unsupported(
                op,
                format!("values of {:?}, shape {:?}; use 8, 4 or 2-bit integers", scheme.value, &shape[..]),
            );
        }
        let all = shape.num_elements();
        let level = level(scheme).unwrap_or_else(|reason| {
            unsupported(
                op,
                format!("{scheme:?}, shape {:?}: {reason}; use one f32 for the tensor or for each block", &shape[..]),
            )
        });
        match level {
            Level::Tensor => Blocks { count: 1, elements: all },
            Level::Block { elements } => {
                let run = blocks_fill(shape);
                if elements == 0 || !run.is_multiple_of(elements) {
                    let reason = format!(
                        "blocks of {elements} elements do not divide runs of {run} elements of shape {:?}; use blocks \
                         that do, or one scale for the tensor; if it is quantized, dequantize first",
                        &shape[..]
                    );
                    invalid(op, reason);
                }
                Blocks { count: all / elements, elements }
            }
        }
    }
}
