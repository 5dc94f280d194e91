//! The tensor primitive of the backend: a shared value and the shape it is seen with.
//!
//! A value is packed in row-major order, so a reshape is the same value under another shape and records nothing. The
//! bridge knows whether a value is recorded, in a buffer or empty.

pub(crate) mod quantized;

use burn_backend::{DType, Shape, TensorMetadata};

use crate::bridge::Handle;
use crate::burn::metadata_items;
use crate::tensor_type::{TensorType, extents, shape};

/// A tensor of any dtype on the [`MpsGraphDevice`](crate::MpsGraphDevice); the primitive behind Burn's float, int and
/// bool tensors. Cloning shares the data.
pub struct MpsGraphTensor {
    pub(crate) value: Handle,
    pub(crate) shape: Shape,
    /// Whether the elements are known to be 0, 1, 2 and so on, in one row: then a gather by them reads what is there in
    /// order.
    pub(crate) counts_from_zero: bool,
}

impl MpsGraphTensor {
    pub(crate) fn new(value: Handle) -> Self {
        let shape = shape(extents(&value.ty().shape));
        Self { value, shape, counts_from_zero: false }
    }

    /// The elements' dtype. Burn's signal crate asks for it without the trait that has it.
    pub fn dtype(&self) -> DType {
        self.value.ty().dtype
    }

    /// The same elements in row-major order seen with another shape of as many elements.
    pub(crate) fn with_shape(self, shape: Shape) -> Self {
        debug_assert_eq!(self.shape.num_elements(), shape.num_elements());
        Self { value: self.value, shape, counts_from_zero: false }
    }

    /// Type of the tensor as the holder of this handle sees it.
    pub(crate) fn ty(&self) -> TensorType {
        TensorType::new(self.value.ty().dtype, shape(self.dims()))
    }

    pub(crate) fn dims(&self) -> &[usize] {
        extents(&self.shape)
    }

    /// What a message says of the tensor.
    pub(crate) fn typed(&self) -> (DType, &[usize]) {
        (self.value.ty().dtype, self.dims())
    }
}

impl Clone for MpsGraphTensor {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), shape: shape(self.dims()), counts_from_zero: self.counts_from_zero }
    }
}

impl TensorMetadata for MpsGraphTensor {
    metadata_items!();

    fn dtype(&self) -> DType {
        self.dtype()
    }

    fn shape(&self) -> Shape {
        shape(self.dims())
    }

    fn rank(&self) -> usize {
        self.shape.num_dims()
    }
}

impl std::fmt::Debug for MpsGraphTensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MpsGraphTensor")
            .field("dtype", &self.dtype())
            .field("shape", &self.shape)
            .field("value", &self.value)
            .finish()
    }
}
