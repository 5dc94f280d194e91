//! Shapes: how they are read from arrays, what sizes a tensor may have, how two of them broadcast.

use crate::foundation::{ns_array, ns_number};
use crate::ir::TensorType;
use crate::objc::{Id, Strong};

use super::dtype;

/// Dimensions that an `MPSNDArray` can have.
pub(crate) const MAX_RANK: usize = 16;

/// The numbers of an `NSArray` of `NSNumber`; the error says what the object is instead.
pub(crate) fn integers(array: Id) -> Result<Vec<i64>, String> {
    if !array.is_kind_of("NSArray") {
        return Err(format!("is {}, not an NSArray of NSNumber", array.class_name()));
    }
    let number = |item: &Strong| {
        let is_number = item.id().is_kind_of("NSNumber");
        is_number.then(|| ns_number::as_i64(item)).ok_or_else(|| format!("holds {}", item.id().class_name()))
    };
    ns_array::items(&Strong::retain(array)).iter().map(number).collect()
}

/// A static shape. Rank 0 is refused, because only a part of Apple's operations accept it.
pub(crate) fn fixed(array: Id) -> Result<Vec<usize>, String> {
    let extents = integers(array)?;
    if extents.is_empty() {
        return Err("is empty; many operations abort on rank 0, so use [1]".into());
    }
    let extent = |extent: i64| match usize::try_from(extent) {
        Ok(0) => Err(format!("{extents:?} has a zero extent: MPSGraph aborts; answer empty tensors without a graph")),
        Ok(extent) => Ok(extent),
        Err(_) => Err(format!("{extents:?} has dynamic extents, which are not supported here")),
    };
    extents.iter().copied().map(extent).collect()
}

/// Refuses types that no buffer of Apple's can hold or that its kernels index wrongly.
pub(crate) fn limits(ty: &TensorType) -> Result<(), String> {
    if ty.shape.len() > MAX_RANK {
        return Err(format!("{} has more than {MAX_RANK} dimensions", Shown(ty)));
    }
    let elements = ty.shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
    let Some(elements) = elements.filter(|&elements| elements < 1 << 31) else {
        return Err(format!("{} has 2^31 elements or more: MPSNDArray asserts", Shown(ty)));
    };
    if (elements * ty.dtype.size()) as u64 > 1 << 32 {
        return Err(format!("{} is larger than 4 GiB: MPSNDArray asserts", Shown(ty)));
    }
    Ok(())
}

/// The NumPy-broadcast shape of two; `None` when extents differ and neither is 1.
pub(crate) fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut result = long.to_vec();
    for (out, &extent) in result[long.len() - short.len()..].iter_mut().zip(short) {
        match (*out, extent) {
            (have, want) if have == want => (),
            (1, want) => *out = want,
            (_, 1) => (),
            _ => return None,
        }
    }
    Some(result)
}

/// The `NSArray` of a shape, autoreleased.
pub(crate) fn array(shape: &[usize]) -> Id {
    ns_array::array(shape.iter().map(|&extent| ns_number::number_i64(extent as i64)))
}

/// A type as the messages show it, for example `Float32 [2, 3]`.
pub(crate) struct Shown<'a>(pub &'a TensorType);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", dtype::name(self.0.dtype), self.0.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::DType;

    #[test]
    fn broadcasting() {
        assert_eq!(broadcast(&[2, 3], &[3]), Some(vec![2, 3]));
        assert_eq!(broadcast(&[1], &[4, 1]), Some(vec![4, 1]));
        assert_eq!(broadcast(&[], &[2]), Some(vec![2]));
        assert_eq!(broadcast(&[2, 1, 5], &[7, 1]), Some(vec![2, 7, 5]));
        assert_eq!(broadcast(&[2, 3], &[2]), None);
    }

    #[test]
    fn sizes() {
        assert!(limits(&TensorType::new(DType::F32, [1 << 30])).is_ok());
        assert!(limits(&TensorType::new(DType::U8, [1 << 16, 1 << 15])).is_err());
        assert!(limits(&TensorType::new(DType::I64, [(1 << 29) + 1])).is_err());
        assert!(limits(&TensorType::new(DType::U8, [usize::MAX, 3])).is_err());
        assert!(limits(&TensorType::new(DType::U8, [1; 17])).is_err());
    }
}
