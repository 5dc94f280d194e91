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

/// A shape's extents. Indexing is generic and so compiled here; `as_slice` and `deref` are calls into another crate.
#[inline]
pub(crate) fn extents(shape: &Shape) -> &[usize] {
    &shape[..]
}

/// Whether two shapes are equal. Comparing slices calls the C library, which takes longer for a few extents.
#[inline]
pub(crate) fn same_extents(a: &Shape, b: &Shape) -> bool {
    let (a, b) = (extents(a), extents(b));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// The shape to which both repeat, their last axes aligned.
///
/// # Errors
/// An axis of the longer shape along which the extents differ and none of them is 1.
pub(crate) fn broadcast(a: &[usize], b: &[usize]) -> Result<Shape, usize> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut result = shape(long);
    for (axis, &extent) in (long.len() - short.len()..).zip(short) {
        match (long[axis], extent) {
            (own, other) if own == other => (),
            (1, other) => result[axis] = other,
            (_, 1) => (),
            _ => return Err(axis),
        }
    }
    Ok(result)
}

/// The product of the extents; `None` if `usize` cannot hold it.
pub(crate) fn elements_of(extents: &[usize]) -> Option<usize> {
    if extents.contains(&0) {
        return Some(0);
    }
    extents.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent))
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

    /// Whether both are equal, as [`same_extents`] compares shapes.
    #[inline]
    pub fn is(&self, other: &Self) -> bool {
        self.dtype == other.dtype && same_extents(&self.shape, &other.shape)
    }

    /// Product of the extents.
    pub fn elements(&self) -> usize {
        extents(&self.shape).iter().product()
    }

    /// Packed size in bytes.
    pub fn bytes(&self) -> usize {
        self.elements() * self.dtype.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_beyond_usize_are_none() {
        assert_eq!(elements_of(&[2, 3]), Some(6));
        assert_eq!(elements_of(&[]), Some(1));
        assert_eq!(elements_of(&[usize::MAX, 2]), None);
        assert_eq!(elements_of(&[usize::MAX, 2, 0]), Some(0));
    }

    #[test]
    fn shapes_repeat_from_the_right() {
        assert_eq!(broadcast(&[2, 1], &[3]), Ok([2, 3].into()));
        assert_eq!(broadcast(&[], &[4]), Ok([4].into()));
        assert_eq!(broadcast(&[2], &[3]), Err(0));
        assert_eq!(broadcast(&[5, 2], &[4, 1, 3]), Err(2));
    }
}
