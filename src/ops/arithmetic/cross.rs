//! The cross product, composed of recorded ops.

use burn_backend::{DType, Slice};

use super::{BinaryOp, binary, cast};
use crate::error::{Call, invalid};
use crate::ops::tensor_shape::{cat, slice};
use crate::tensor::MpsGraphTensor;

/// Cross products of the vectors of three along `dim`; other extents broadcast.
pub(crate) fn cross(lhs: MpsGraphTensor, rhs: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    let _call = Call::begin("cross", [lhs.typed(), rhs.typed()]);
    if lhs.dims().get(dim) != Some(&3) || rhs.dims().get(dim) != Some(&3) {
        let shapes = format!("shapes {:?} and {:?}", lhs.dims(), rhs.dims());
        invalid("cross", format!("{shapes} need the extent 3 at dim {dim}"));
    }
    // Products of 16-bit floats may be beyond their range where the difference is not.
    let dtype = lhs.dtype();
    let is_wider = matches!(dtype, DType::F16 | DType::BF16) && rhs.dtype() == dtype;
    let [lhs, rhs] = if is_wider { [lhs, rhs].map(|x| cast(x, DType::F32)) } else { [lhs, rhs] };
    // Each component is made of the next one and the one after that, so [x, y, z] is read as [y, z, x] and [z, x, y].
    let [a, b, c, d] = [(&lhs, 1), (&rhs, 2), (&lhs, 2), (&rhs, 1)].map(|(x, by)| rotated(x, dim, by));
    let [forward, backward] = [(a, b), (c, d)].map(|(x, y)| binary(BinaryOp::Mul, x, y));
    cast(binary(BinaryOp::Sub, forward, backward), dtype)
}

/// `x` with the three elements along `dim` moved `by` places to the front.
fn rotated(x: &MpsGraphTensor, dim: usize, by: isize) -> MpsGraphTensor {
    let part = |from, to| {
        let slices: Vec<_> = (0..x.dims().len())
            .map(|axis| if axis == dim { Slice::new(from, Some(to), 1) } else { Slice::full() })
            .collect();
        slice(x.clone(), &slices)
    };
    cat(vec![part(by, 3), part(0, by)], dim)
}
