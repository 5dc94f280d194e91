//! `scatter_nd`: slices at coordinates, replaced or combined.

use burn_backend::tensor::IndexingUpdateOp;
use burn_backend::{DType, TensorMetadata};

use super::checks::require_dtype;
use super::parts::{EXACT, in_parts};
use super::{Combine, ScatterNdOp, write_rows};
use crate::bridge::record;
use crate::dtype::BOOL;
use crate::error::{Call, invalid};
use crate::lowering::scalar::ScalarInput;
use crate::ops::arithmetic::{self, CompareOp};
use crate::ops::gather::require_indices;
use crate::ops::gather::{self, positions, require_elements};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// `data` with slices replaced or combined: `indices` of shape `(…, k)` address the first `k` axes, `values` has the
/// shape `(…) + data.shape[k..]`.
///
/// Of several updates of one slice the last one stays (`Assign`), or all are combined. `Assign` skips an index out of
/// range; the others change the nearest slice. `Mul` of integers works through a table of rows times updates.
pub(crate) fn scatter_nd(
    data: MpsGraphTensor,
    indices: MpsGraphTensor,
    values: MpsGraphTensor,
    reduction: IndexingUpdateOp,
) -> MpsGraphTensor {
    let _call = Call::begin("scatter_nd", [&data, &indices, &values].map(MpsGraphTensor::typed));
    let shape = data.shape.clone();
    let rank = indices.rank();
    let depth = if rank == 0 { 0 } else { indices.shape[rank - 1] };
    let fits = depth >= 1
        && depth <= shape.num_dims()
        && values.shape.as_slice() == [&indices.shape[..rank - 1], &shape[depth..]].concat();
    if !fits {
        let (at, new, shape) = (indices.dims(), values.dims(), &shape[..]);
        let given = format!("values of shape {new:?} at indices of shape {at:?} in data of shape {shape:?}");
        invalid("scatter_nd", format!("{given}: indices [.., k] take values [.., and the data's dims from k on]"));
    }
    require_indices("scatter_nd", &indices);
    require_dtype("scatter_nd", &data, &values);
    if values.shape.num_elements() == 0 {
        return data;
    }
    require_elements("scatter_nd", &data);
    let (rows, indices) = positions(&shape, indices);
    let [count, width] = [indices.shape[0], shape.num_elements() / rows];
    let data = data.with_shape([rows, width].into());
    let values = values.with_shape([count, width].into());
    let combine = match reduction {
        IndexingUpdateOp::Assign => return assign(data, indices, values).with_shape(shape),
        IndexingUpdateOp::Add => Combine::Add,
        IndexingUpdateOp::Mul => Combine::Mul,
        IndexingUpdateOp::Min => Combine::Min,
        IndexingUpdateOp::Max => Combine::Max,
    };
    write_rows("scatter_nd", data, 0, indices, values, combine).with_shape(shape)
}

/// Replaces rows; the last update of a row stays. Apple does not define which update `ScatterMode::Set` leaves, so each
/// row looks up its last writer.
fn assign(data: MpsGraphTensor, indices: MpsGraphTensor, values: MpsGraphTensor) -> MpsGraphTensor {
    let rows = data.shape[0];
    if indices.shape[0] > EXACT {
        return in_parts(data, (indices, 0), (values, 0), EXACT, assign);
    }
    let output = TensorType::new(DType::I32, [rows].into());
    let writer = record(ScatterNdOp::LastWriter.into(), &[&indices], &[], output);
    let written = arithmetic::compare_scalar(CompareOp::GreaterEqual, writer.clone(), ScalarInput::Int(0), BOOL);
    let mask = written.with_shape([rows, 1].into());
    arithmetic::mask_where(data, mask, gather::select(values, 0, writer))
}
