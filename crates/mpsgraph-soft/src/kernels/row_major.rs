//! Positions and coordinates in packed tensors, in which tests state what an element is made of.

/// Position of the element at these coordinates.
pub fn flat(shape: &[usize], at: &[usize]) -> usize {
    shape.iter().zip(at).fold(0, |flat, (&extent, &at)| flat * extent + at)
}

/// Coordinates of the element at this position.
pub fn coordinates(shape: &[usize], mut flat: usize) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        at[axis] = flat % shape[axis];
        flat /= shape[axis];
    }
    at
}
