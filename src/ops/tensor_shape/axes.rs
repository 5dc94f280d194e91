//! Moving, repeating and reversing whole axes.

use burn_backend::{Shape, TensorMetadata};

use super::{PLAIN_RANK, TensorShapeOp};
use crate::bridge::{check_size, record};
use crate::error::invalid;
use crate::lowering::rank::outer_axis_inner;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::{TensorType, elements_of};

/// Exchanges two axes.
pub(crate) fn swap_dims(tensor: MpsGraphTensor, dim1: usize, dim2: usize) -> MpsGraphTensor {
    let rank = tensor.rank();
    if dim1 >= rank || dim2 >= rank {
        invalid("swap_dims", format!("dims {dim1} and {dim2} of shape {:?}: it has {rank}", tensor.dims()));
    }
    let mut axes: Vec<usize> = (0..rank).collect();
    axes.swap(dim1, dim2);
    permute(tensor, &axes)
}

/// Exchanges the last two axes; a tensor of rank below two is returned as it is.
pub(crate) fn transpose(tensor: MpsGraphTensor) -> MpsGraphTensor {
    match tensor.rank() {
        0 | 1 => tensor,
        rank => swap_dims(tensor, rank - 2, rank - 1),
    }
}

/// Output axis `i` is input axis `axes[i]`; `axes` is a permutation.
pub(crate) fn permute(tensor: MpsGraphTensor, axes: &[usize]) -> MpsGraphTensor {
    let rank = tensor.rank();
    if axes.len() != rank || (0..rank).any(|axis| !axes.contains(&axis)) {
        invalid("permute", format!("dims {axes:?} are not a permutation of those of shape {:?}", tensor.dims()));
    }
    let shape: Vec<usize> = axes.iter().map(|&axis| tensor.shape[axis]).collect();
    // Axes of extent 1 do not move anything.
    let moving: Vec<usize> = axes.iter().copied().filter(|&axis| tensor.shape[axis] != 1).collect();
    if moving.is_sorted() {
        return tensor.with_shape(shape.into());
    }
    if rank <= PLAIN_RANK {
        let output = TensorType::new(tensor.dtype(), shape.into());
        return record(TensorShapeOp::Permute { permutation: axes.to_vec() }.into(), &[&tensor], &[], output);
    }
    // Axes that stay next to each other, in output order: where they begin, and the extent of the one that they become.
    let mut joined: Vec<(usize, usize)> = Vec::new();
    let mut before = None;
    for &axis in &moving {
        let follows =
            before.is_some_and(|b: usize| b < axis && (b + 1..axis).all(|between| tensor.shape[between] == 1));
        match joined.last_mut() {
            Some((_, extent)) if follows => *extent *= tensor.shape[axis],
            _ => joined.push((axis, tensor.shape[axis])),
        }
        before = Some(axis);
    }
    let mut order: Vec<usize> = (0..joined.len()).collect();
    order.sort_by_key(|&at| joined[at].0);
    let merged: Vec<usize> = order.iter().map(|&at| joined[at].1).collect();
    let mut permutation = vec![0; joined.len()];
    for (place, &at) in order.iter().enumerate() {
        permutation[at] = place;
    }
    let moved: Vec<usize> = joined.iter().map(|&(_, extent)| extent).collect();
    let output = TensorType::new(tensor.dtype(), moved.into());
    let tensor = tensor.with_shape(merged.into());
    if permutation.len() > PLAIN_RANK {
        return one_by_one(tensor, &permutation).with_shape(shape.into());
    }
    record(TensorShapeOp::Permute { permutation }.into(), &[&tensor], &[], output).with_shape(shape.into())
}

/// Output axis `i` is input axis `permutation[i]`: the axes are brought to their places one after the other.
fn one_by_one(mut tensor: MpsGraphTensor, permutation: &[usize]) -> MpsGraphTensor {
    let mut order: Vec<usize> = (0..permutation.len()).collect();
    let mut shape = tensor.shape.to_vec();
    for (to, &axis) in permutation.iter().enumerate() {
        let from = order.iter().position(|&own| own == axis);
        let Some(from) = from.filter(|&from| from != to) else {
            continue;
        };
        let extents = |range: std::ops::Range<usize>| shape[range].iter().product::<usize>();
        let behind = from + 1..shape.len();
        let view = [extents(0..to), extents(to..from), shape[from], extents(behind)];
        tensor = permute(tensor.with_shape(view.into()), &[0, 2, 1, 3]);
        order[to..=from].rotate_right(1);
        shape[to..=from].rotate_right(1);
    }
    tensor
}

/// Repeats extents of 1 (and puts new axes in front) until the shape is `shape`.
pub(crate) fn expand(tensor: MpsGraphTensor, shape: Shape) -> MpsGraphTensor {
    let fits = shape.num_dims() >= tensor.rank()
        && tensor.shape.iter().rev().zip(shape.iter().rev()).all(|(&from, &to)| from == to || from == 1);
    if !fits {
        invalid(
            "expand",
            format!("shape {:?} cannot be repeated to {:?}: only extents of 1 can", tensor.dims(), &shape[..]),
        );
    }
    if elements_of(&shape) == Some(tensor.shape.num_elements()) {
        return tensor.with_shape(shape);
    }
    check_size("expand", &TensorType::new(tensor.dtype(), shape.clone()));
    let missing = shape.num_dims() - tensor.rank();
    let from: Vec<usize> = std::iter::repeat_n(1, missing).chain(tensor.shape.iter().copied()).collect();
    let grows = |axis: usize| from[axis] != shape[axis];
    let (from, to) = if shape.num_dims() <= PLAIN_RANK {
        (from.clone(), shape.to_vec())
    } else {
        let merged = merge(&shape, |axis| Some(grows(axis)));
        let from = merged.iter().map(|axis| if grows(axis.first) { 1 } else { axis.extent }).collect();
        (from, merged.iter().map(|axis| axis.extent).collect())
    };
    if to.len() > PLAIN_RANK {
        let mut tensor = tensor;
        for axis in (0..to.len()).rev().filter(|&axis| from[axis] != to[axis]) {
            let outer = from[..axis].iter().product();
            let [_, extent, inner] = outer_axis_inner(&to, axis);
            let view = tensor.with_shape([outer, 1, inner].into());
            tensor = expand(view, [outer, extent, inner].into());
        }
        return tensor.with_shape(shape);
    }
    let output = TensorType::new(tensor.dtype(), to.into());
    record(TensorShapeOp::Expand.into(), &[&tensor.with_shape(from.into())], &[], output).with_shape(shape)
}

/// Reverses the order of the elements along `axes`.
pub(crate) fn flip(tensor: MpsGraphTensor, axes: &[usize]) -> MpsGraphTensor {
    let rank = tensor.rank();
    if axes.iter().any(|&axis| axis >= rank) {
        invalid("flip", format!("dims {axes:?} of shape {:?}: it has {rank}", tensor.dims()));
    }
    let turns = |axis: usize| axes.contains(&axis) && tensor.shape[axis] != 1;
    if !(0..rank).any(turns) {
        return tensor;
    }
    let shape = tensor.shape.clone();
    // Reversing two neighbouring axes is reversing the axis into which they merge.
    let merged = merge(&shape, |axis| Some(turns(axis)));
    let extents: Vec<usize> = merged.iter().map(|axis| axis.extent).collect();
    let axes: Vec<usize> = (0..merged.len()).filter(|&axis| turns(merged[axis].first)).collect();
    if merged.len() > PLAIN_RANK {
        let turned = axes
            .iter()
            .fold(tensor, |tensor, &axis| flip(tensor.with_shape(outer_axis_inner(&extents, axis).into()), &[1]));
        return turned.with_shape(shape);
    }
    let output = TensorType::new(tensor.dtype(), extents.clone().into());
    record(TensorShapeOp::Flip { axes }.into(), &[&tensor.with_shape(extents.into())], &[], output).with_shape(shape)
}

/// Neighbouring axes seen as one.
pub(super) struct MergedAxis {
    pub first: usize,
    pub extent: usize,
}

/// Merges neighbouring axes of one kind; an axis without a kind stays alone, one of extent 1 vanishes.
pub(super) fn merge(shape: &[usize], kind: impl Fn(usize) -> Option<bool>) -> Vec<MergedAxis> {
    let mut merged: Vec<MergedAxis> = Vec::new();
    for axis in (0..shape.len()).filter(|&axis| shape[axis] != 1) {
        match merged.last_mut() {
            Some(last) if kind(axis).is_some() && kind(last.first) == kind(axis) => last.extent *= shape[axis],
            _ => merged.push(MergedAxis { first: axis, extent: shape[axis] }),
        }
    }
    merged
}
