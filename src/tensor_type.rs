//! Element type and shape, which are known before a value is computed.

use burn_backend::{DType, Shape};

/// Element type and shape of a value; part of a program's identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TensorType {
    pub dtype: DType,
    pub shape: Shape,
}

impl TensorType {
    pub fn new(dtype: DType, shape: Shape) -> Self {
        Self { dtype, shape }
    }

    /// Product of the extents.
    pub fn elements(&self) -> usize {
        self.shape.num_elements()
    }

    /// Packed size in bytes.
    pub fn bytes(&self) -> usize {
        self.elements() * self.dtype.size()
    }
}
