//! Element type and shape, which are known before a value is computed.

use burn_backend::{DType, Shape};
use smallvec::SmallVec;

/// A shape of these extents. Recording an op makes some, and `Shape::from` and `clone` push one extent after the other.
#[inline]
pub(crate) fn shape(extents: &[usize]) -> Shape {
    let dims = match *extents {
        [a] => SmallVec::from_buf_and_len([a, 0, 0, 0, 0], 1),
        [a, b] => SmallVec::from_buf_and_len([a, b, 0, 0, 0], 2),
        [a, b, c] => SmallVec::from_buf_and_len([a, b, c, 0, 0], 3),
        [a, b, c, d] => SmallVec::from_buf_and_len([a, b, c, d, 0], 4),
        _ => SmallVec::from_slice(extents),
    };
    Shape::new_raw(dims)
}

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

    /// A clone, made as [`shape`] makes shapes.
    pub fn copied(&self) -> Self {
        Self::new(self.dtype, shape(&self.shape))
    }

    /// Becomes a copy of `other` in its place.
    pub fn set(&mut self, other: &Self) {
        self.dtype = other.dtype;
        if self.shape.len() == other.shape.len() {
            self.shape.iter_mut().zip(other.shape.iter()).for_each(|(own, &extent)| *own = extent);
        } else {
            self.shape = shape(&other.shape);
        }
    }

    /// Product of the extents.
    pub fn elements(&self) -> usize {
        self.shape.as_slice().iter().product()
    }

    /// Packed size in bytes.
    pub fn bytes(&self) -> usize {
        self.elements() * self.dtype.size()
    }
}
