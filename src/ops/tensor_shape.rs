//! Ops that move elements and compute nothing: permute, expand, flip, slices, concatenation, windows.
//!
//! A reshape records nothing (data is packed), and neither does any op here that only renames axes. For tensors of more
//! than four axes, axes that stay together are merged first; if more than four are left, the tensor is moved in several
//! steps. MPSGraph's kernels work best, and are best tested, up to rank four: reductions, sorting and random numbers
//! are known to fail beyond it (pytorch/pytorch#118126, #184844, #147624).

mod axes;
mod slice;
mod windows;

use burn_backend::{DType, Shape};

pub(crate) use axes::{expand, flip, permute, swap_dims, transpose};
pub(crate) use slice::{AxisRange, narrow, slice, slice_assign};
pub(crate) use windows::{unfold, unfold4d};

use super::{Distances, Op, Operation, Starts, check_dim, memory};
use crate::bridge::{check_size, join_uploaded, record};
use crate::error::{Call, invalid};
use crate::ffi;
use crate::lowering::provenance::{Provenance, Reading, Reshapes};
use crate::lowering::rank::outer_axis_inner;
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::{TensorType, elements_of};

/// A recorded movement of elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TensorShapeOp {
    /// `[x]`; axis `i` of the output is axis `permutation[i]` of `x`.
    Permute { permutation: Vec<usize> },
    /// `[x]`; extents of 1 become the output's by repetition. Same rank.
    Expand,
    /// `[x]` with the elements along `axes` in reverse order.
    Flip { axes: Vec<usize> },
    /// `[x]`; the elements of the region.
    Slice { region: Vec<slice::AxisRange> },
    /// `[data, update]`; `update` in place of the region's elements.
    SliceAssign { region: Vec<slice::AxisRange> },
    /// Any number of inputs, one after the other along `axis`.
    Cat { axis: usize },
}

impl Operation for TensorShapeOp {
    fn name(&self) -> &'static str {
        match self {
            TensorShapeOp::Permute { .. } => "permute",
            TensorShapeOp::Expand => "expand",
            TensorShapeOp::Flip { .. } => "flip",
            TensorShapeOp::Slice { .. } => "slice",
            TensorShapeOp::SliceAssign { .. } => "slice_assign",
            TensorShapeOp::Cat { .. } => "cat",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let graph = cx.graph();
        match self {
            TensorShapeOp::Permute { permutation } => graph.transpose(&inputs[0].tensor, permutation),
            // broadcastTensor: silently fills with zeros where an extent other than 1 differs (seen on macOS 27);
            // `expand` has checked the extents.
            TensorShapeOp::Expand => graph.broadcast(&inputs[0].tensor, &output.shape),
            TensorShapeOp::Flip { axes } => graph.reverse(&inputs[0].tensor, &signed(axes)),
            TensorShapeOp::Slice { region } => slice::lower_slice(cx, &inputs[0], region),
            TensorShapeOp::SliceAssign { region } => slice::lower_assign(cx, &inputs[0], &inputs[1], region),
            // A pattern may leave one.
            TensorShapeOp::Cat { .. } if inputs.len() == 1 => inputs[0].tensor.clone(),
            TensorShapeOp::Cat { axis } => {
                let tensors: Vec<&ffi::Tensor> = inputs.iter().map(|input| &input.tensor).collect();
                graph.concat(&tensors, *axis as isize)
            }
        }
    }

    fn widest(&self, _operands: &[&MpsGraphTensor], _output: &TensorType) -> usize {
        0
    }

    fn provenance(&self, inputs: &[Provenance]) -> Provenance {
        let all = Provenance::union_of(inputs);
        match self {
            TensorShapeOp::Permute { permutation } if keeps_matrices(permutation) => all.with(Provenance::PERMUTED),
            TensorShapeOp::Permute { .. } => all.with(Provenance::APART),
            TensorShapeOp::Expand => all.with(Provenance::REPEATED),
            TensorShapeOp::Slice { .. } => all.with(Provenance::APART),
            // Of one value it is that value.
            TensorShapeOp::Cat { .. } if inputs.len() == 1 => all,
            TensorShapeOp::Flip { .. } | TensorShapeOp::SliceAssign { .. } | TensorShapeOp::Cat { .. } => {
                all.without(Provenance::VIEW)
            }
        }
    }

    fn apart(&self, operand: &[usize]) -> Distances {
        // An extent of 1 has no neighbours.
        let apart = |axis: usize, extent: usize| {
            if extent == 1 { 0 } else { operand[axis + 1..].iter().product::<usize>() }
        };
        match self {
            TensorShapeOp::Permute { permutation } => {
                permutation.iter().map(|&axis| apart(axis, operand[axis])).collect()
            }
            TensorShapeOp::Slice { region } => {
                region.iter().enumerate().map(|(axis, range)| apart(axis, range.count()) * range.step()).collect()
            }
            TensorShapeOp::Expand
            | TensorShapeOp::Flip { .. }
            | TensorShapeOp::SliceAssign { .. }
            | TensorShapeOp::Cat { .. } => Distances::new(),
        }
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    /// Elements are moved as they are.
    fn widens(&self, _dtype: DType, _readings: &[Reading<'_>], _output: &TensorType) -> bool {
        false
    }

    /// The lowering of an assignment reshapes before macOS 14.4 only, where no product has to know.
    fn reshapes(&self, _rank: usize) -> Reshapes {
        Reshapes::Nothing
    }

    fn starts(&self) -> Starts {
        match self {
            TensorShapeOp::Slice { region } | TensorShapeOp::SliceAssign { region } => slice::starts(region),
            TensorShapeOp::Permute { .. }
            | TensorShapeOp::Expand
            | TensorShapeOp::Flip { .. }
            | TensorShapeOp::Cat { .. } => Starts::new(),
        }
    }

    fn with_moving_starts(&self, moving: &[bool]) -> Op {
        let op = match self {
            TensorShapeOp::Slice { region } => {
                TensorShapeOp::Slice { region: slice::with_moving_starts(region, moving) }
            }
            TensorShapeOp::SliceAssign { region } => {
                TensorShapeOp::SliceAssign { region: slice::with_moving_starts(region, moving) }
            }
            TensorShapeOp::Permute { .. }
            | TensorShapeOp::Expand
            | TensorShapeOp::Flip { .. }
            | TensorShapeOp::Cat { .. } => self.clone(),
        };
        op.into()
    }
}

/// The same elements in row-major order as `shape`, which must have as many.
pub(crate) fn reshape(tensor: MpsGraphTensor, shape: Shape) -> MpsGraphTensor {
    if elements_of(&shape) != Some(tensor.shape.num_elements()) {
        invalid("reshape", format!("shape {:?} does not have as many elements as {:?}", tensor.dims(), &shape[..]));
    }
    tensor.with_shape(shape)
}

/// The shape of what is joined along `dim`, of shapes that differ only there.
pub(crate) fn joined_shape<'a>(mut shapes: impl Iterator<Item = &'a Shape>, dim: usize) -> Shape {
    let Some(first) = shapes.next() else { invalid("cat", "no tensors") };
    check_dim("cat", dim, first);
    let mut joined = first.clone();
    for shape in shapes {
        let same = |axis: usize| axis == dim || shape[axis] == first[axis];
        if shape.num_dims() != first.num_dims() || !(0..first.num_dims()).all(same) {
            invalid("cat", format!("shapes {:?} and {:?} differ outside dim {dim}", &shape[..], &first[..]));
        }
        joined[dim] = joined[dim].saturating_add(shape[dim]);
    }
    joined
}

/// Joins tensors that differ only in their extent along `dim`.
pub(crate) fn cat(tensors: Vec<MpsGraphTensor>, dim: usize) -> MpsGraphTensor {
    let Some(first) = tensors.first() else { invalid("cat", "no tensors") };
    let dtype = first.dtype();
    if let Some(other) = tensors.iter().find(|tensor| tensor.dtype() != dtype) {
        let (given, [shape, other_shape]) = (other.dtype(), [first, other].map(MpsGraphTensor::dims));
        let shapes = format!("of shapes {other_shape:?} and {shape:?}");
        invalid("cat", format!("dtypes {given:?} and {dtype:?} {shapes} differ: cast one"));
    }
    let shape = joined_shape(tensors.iter().map(|tensor| &tensor.shape), dim);
    let [outer, _, inner] = outer_axis_inner(&shape, dim);
    // A zero extent in concatTensors: ends the process.
    let mut parts: Vec<MpsGraphTensor> = tensors.into_iter().filter(|t| t.shape.num_elements() > 0).collect();
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let view = |extent: usize| {
        if outer == 1 { vec![extent * inner] } else { vec![outer, extent * inner] }
    };
    let output = TensorType::new(dtype, view(shape[dim]).into());
    let parts: Vec<MpsGraphTensor> = parts
        .into_iter()
        .map(|part| {
            let extent = part.shape[dim];
            part.with_shape(view(extent).into())
        })
        .collect();
    let parts: Vec<&MpsGraphTensor> = parts.iter().collect();
    if let Some(joined) = join_uploaded(&parts, outer, &output) {
        return joined.with_shape(shape);
    }
    record(TensorShapeOp::Cat { axis: usize::from(outer != 1) }.into(), &parts, &[], output).with_shape(shape)
}

/// The tensor `times` times in a row along `dim`.
pub(crate) fn repeat_dim(tensor: MpsGraphTensor, dim: usize, times: usize) -> MpsGraphTensor {
    const NAME: &str = "repeat_dim";
    let _call = Call::begin(NAME, [tensor.typed()]);
    let mut shape = tensor.shape.clone();
    check_dim(NAME, dim, &shape);
    let outer: usize = shape[..dim].iter().product();
    let block: usize = shape[dim..].iter().product();
    shape[dim] = shape[dim].checked_mul(times).unwrap_or_else(|| {
        let from = tensor.dims();
        invalid(NAME, format!("dim {dim} of shape {from:?}, {times} times: there are not so many elements"))
    });
    check_size(NAME, &TensorType::new(tensor.dtype(), shape.clone()));
    if shape.num_elements() == 0 {
        return memory::zeros(shape, tensor.dtype());
    }
    expand(tensor.with_shape([outer, 1, block].into()), [outer, times, block].into()).with_shape(shape)
}

/// Rank up to which one op moves everything.
const PLAIN_RANK: usize = 4;

/// Whether the matrices along the last two axes stay matrices, or are turned.
fn keeps_matrices(permutation: &[usize]) -> bool {
    let first = permutation.len().saturating_sub(2);
    permutation[first..].iter().all(|&axis| axis >= first)
}

fn signed(axes: &[usize]) -> Vec<isize> {
    axes.iter().map(|&axis| axis as isize).collect()
}
