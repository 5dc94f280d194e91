//! Conversion between any two dtypes, by the rules of [`crate::lowering::conversion`].

use burn_backend::{DType, TensorMetadata};

use super::ArithmeticOp;
use crate::bridge::record;
use crate::dtype::require;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// `x` as `dtype`; `x` itself if it has that dtype.
pub(crate) fn cast(x: MpsGraphTensor, dtype: DType) -> MpsGraphTensor {
    if x.dtype() == dtype {
        return x;
    }
    require("cast", dtype);
    let output = TensorType::new(dtype, x.shape());
    record(ArithmeticOp::Cast.into(), &[&x], &[], output)
}
