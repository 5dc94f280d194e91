//! Moving the elements of a quantized tensor.
//!
//! With one scale, the integers move as any others. Blocks are runs of elements in row-major order: where all that
//! moves is whole blocks, integers and scales move alike and no value changes. What takes blocks apart is done with the
//! dequantized tensor, which gets new blocks and new scales, as in burn-flex.

use burn_backend::quantization::QuantScheme;
use burn_backend::{DType, Shape, Slice, TensorMetadata};

use super::{dequantize, of_values, quantize_for, values_of};
use crate::error::{Call, invalid};
use crate::ops::{check_dim, gather as reads, tensor_shape};
use crate::tensor::MpsGraphTensor;
use crate::tensor::quantized::{Blocks, Level, MpsGraphQuantizedTensor as Quantized, Packing};
use crate::tensor_type::elements_of;

/// The same elements in row-major order as `shape`, which must have as many. Blocks stay what they are.
pub(crate) fn reshape(tensor: Quantized, shape: Shape) -> Quantized {
    let _call = Call::begin("q_reshape", [tensor.typed()]);
    if elements_of(&shape) != Some(tensor.shape.num_elements()) {
        invalid("q_reshape", format!("shape {:?} has not as many elements as {:?}", &tensor.shape[..], &shape[..]));
    }
    Blocks::of("q_reshape", &tensor.scheme, &shape);
    Quantized { shape, ..tensor }
}

/// Repeats extents of 1 (and puts new axes in front) until the shape is `shape`.
pub(crate) fn expand(tensor: Quantized, shape: Shape) -> Quantized {
    let _call = Call::begin("q_expand", [tensor.typed()]);
    let (rank, new_rank) = (tensor.shape.num_dims(), shape.num_dims());
    let missing = new_rank.saturating_sub(rank);
    let fits =
        new_rank >= rank && tensor.shape.iter().zip(&shape[missing..]).all(|(&from, &to)| from == to || from == 1);
    if !fits {
        let (from, to) = (&tensor.shape[..], &shape[..]);
        invalid("q_expand", format!("shape {from:?} cannot be repeated to {to:?}: only extents of 1 can"));
    }
    let grows = |&axis: &usize| tensor.shape[axis] != shape[missing + axis];
    let moved = (0..rank).rev().find(grows).map_or(0, |axis| axis + 1);
    move_axes("q_expand", tensor, moved, |part| {
        let mut to = shape[..missing + moved].to_vec();
        to.push(part.shape[moved]);
        tensor_shape::expand(part, to.into())
    })
}

/// Exchanges two axes.
pub(crate) fn swap_dims(tensor: Quantized, dim1: usize, dim2: usize) -> Quantized {
    let _call = Call::begin("q_swap_dims", [tensor.typed()]);
    check_dim("q_swap_dims", dim1.max(dim2), &tensor.shape);
    let moved = if dim1 == dim2 { 0 } else { dim1.max(dim2) + 1 };
    move_axes(
        "q_swap_dims",
        tensor,
        moved,
        |part| if moved == 0 { part } else { tensor_shape::swap_dims(part, dim1, dim2) },
    )
}

/// Output axis `i` is input axis `axes[i]`; `axes` is a permutation.
pub(crate) fn permute(tensor: Quantized, axes: &[usize]) -> Quantized {
    let _call = Call::begin("q_permute", [tensor.typed()]);
    let rank = tensor.shape.num_dims();
    if axes.len() != rank || (0..rank).any(|axis| !axes.contains(&axis)) {
        invalid(
            "q_permute",
            format!("axes {axes:?} are not a permutation of the axes of shape {:?}", &tensor.shape[..]),
        );
    }
    let moved = (0..rank).rev().find(|&axis| axes[axis] != axis).map_or(0, |axis| axis + 1);
    let mut axes = axes[..moved].to_vec();
    axes.push(moved);
    move_axes("q_permute", tensor, moved, |part| tensor_shape::permute(part, &axes))
}

/// Reverses the order of the elements along `axes`.
pub(crate) fn flip(tensor: Quantized, axes: &[usize]) -> Quantized {
    let _call = Call::begin("q_flip", [tensor.typed()]);
    let last = axes.iter().copied().max();
    if let Some(last) = last {
        check_dim("q_flip", last, &tensor.shape);
    }
    move_axes("q_flip", tensor, last.map_or(0, |axis| axis + 1), |part| tensor_shape::flip(part, axes))
}

/// The slices along `dim` that the rank-1 `indices` name.
pub(crate) fn select(tensor: Quantized, dim: usize, indices: &MpsGraphTensor) -> Quantized {
    let _call = Call::begin("q_select", [tensor.typed(), indices.typed()]);
    check_dim("q_select", dim, &tensor.shape);
    move_axes("q_select", tensor, dim + 1, |part| reads::select(part, dim, indices.clone()))
}

/// The elements that `slices` name, one slice per axis from the first on.
pub(crate) fn slice(tensor: Quantized, slices: &[Slice]) -> Quantized {
    let _call = Call::begin("q_slice", [tensor.typed()]);
    let shape = &tensor.shape[..];
    if slices.len() > shape.len() {
        invalid("q_slice", format!("{} slices for shape {shape:?}", slices.len()));
    }
    let whole = |axis: usize| {
        let Slice { start, end, step } = slices[axis];
        start == 0 && step == 1 && end.is_none_or(|end| end >= shape[axis].cast_signed())
    };
    let moved = (0..slices.len()).rev().find(|&axis| !whole(axis)).map_or(0, |axis| axis + 1);
    move_axes("q_slice", tensor, moved, |part| tensor_shape::slice(part, &slices[..moved]))
}

/// The tensor `times` times in a row along `dim`.
pub(crate) fn repeat_dim(tensor: Quantized, dim: usize, times: usize) -> Quantized {
    let _call = Call::begin("q_repeat_dim", [tensor.typed()]);
    check_dim("q_repeat_dim", dim, &tensor.shape);
    move_axes("q_repeat_dim", tensor, dim + 1, |part| tensor_shape::repeat_dim(part, dim, times))
}

/// Joins tensors that differ only in their extent along `dim`; the scheme is the first one's.
///
/// Whole blocks of one scheme stay what they are. Other tensors have scales that differ: their elements get new ones,
/// and go there in f32 whatever the device's float dtype is.
pub(crate) fn cat(mut tensors: Vec<Quantized>, dim: usize) -> Quantized {
    let _call = Call::begin("q_cat", tensors.iter().map(Quantized::typed));
    let Some(first) = tensors.first() else { invalid("q_cat", "no tensors") };
    check_dim("q_cat", dim, &first.shape);
    if tensors.len() == 1 {
        return tensors.remove(0);
    }
    let scheme = first.scheme;
    let floats = || tensors.iter().map(|tensor| dequantize(tensor, DType::F32)).collect();
    match Level::of_checked(&scheme) {
        Level::Block { elements } if tensors.iter().all(|tensor| has_blocks(tensor, &scheme, dim)) => {
            cat_blocks(tensors, dim, elements)
        }
        Level::Block { .. } | Level::Tensor => quantize_for("q_cat", tensor_shape::cat(floats(), dim), &scheme),
    }
}

/// Joins tensors of one scheme whose rows from `dim` on are whole blocks of so many elements.
fn cat_blocks(tensors: Vec<Quantized>, dim: usize, elements: usize) -> Quantized {
    let scheme = tensors[0].scheme;
    let shape = tensor_shape::joined_shape(tensors.iter().map(|tensor| &tensor.shape), dim);
    let rows: usize = shape[..dim].iter().product();
    let behind = |tensor: &Quantized| tensor.shape[dim..].iter().product::<usize>();
    let joined = |parts: Vec<(MpsGraphTensor, usize)>| {
        let parts = parts.into_iter().map(|(part, last)| part.with_shape([rows, last].into()));
        flat(tensor_shape::cat(parts.collect(), 1))
    };
    let scales = tensors.iter().map(|tensor| (*tensor.scales.clone(), behind(tensor) / elements)).collect();
    let words: Option<Vec<_>> = tensors
        .iter()
        .map(|tensor| whole_words(tensor, behind(tensor)).map(|last| (*tensor.values.clone(), last)))
        .collect();
    let Some(words) = words else {
        let values = tensor_shape::cat(tensors.iter().map(values_of).collect(), dim);
        return of_values(values, joined(scales), scheme);
    };
    Quantized::new(joined(words), joined(scales), scheme, shape)
}

/// Whether a row of the axes from `dim` on is whole blocks of `scheme`.
fn has_blocks(tensor: &Quantized, scheme: &QuantScheme, dim: usize) -> bool {
    let Level::Block { elements } = Level::of_checked(scheme) else { return false };
    let same = tensor.level() == Level::Block { elements } && tensor.scheme.value == scheme.value;
    same && tensor.rank() > dim && tensor.shape[dim..].iter().product::<usize>().is_multiple_of(elements)
}

/// Elements along `dim` at `indices`, which has the tensor's shape but for its extent along `dim`.
pub(crate) fn gather(dim: usize, tensor: Quantized, indices: MpsGraphTensor) -> Quantized {
    let _call = Call::begin("q_gather", [tensor.typed(), indices.typed()]);
    match tensor.level() {
        Level::Tensor => {
            let values = reads::gather(dim, values_of(&tensor), indices);
            of_values(values, *tensor.scales, tensor.scheme)
        }
        Level::Block { .. } => {
            let read = reads::gather(dim, dequantize(&tensor, DType::F32), indices);
            quantize_for("q_gather", read, &tensor.scheme)
        }
    }
}

/// Applies `function` to the first `moved` axes. It is given tensors in which one axis stands for all the others, and
/// leaves that axis, which is the last one, in place.
fn move_axes(
    op: &'static str,
    tensor: Quantized,
    moved: usize,
    function: impl Fn(MpsGraphTensor) -> MpsGraphTensor,
) -> Quantized {
    let (leading, rest) = tensor.shape.split_at(moved);
    let behind: usize = rest.iter().product();
    let apply = |part: MpsGraphTensor, last: usize| {
        let view = [leading, &[last]].concat();
        function(part.with_shape(view.into()))
    };
    let shape_of = |result: &MpsGraphTensor| Shape::from([&result.shape[..result.rank() - 1], rest].concat());
    let elements = |part: MpsGraphTensor| {
        let result = apply(part, behind);
        let shape = shape_of(&result);
        result.with_shape(shape)
    };
    let integers = |scales: MpsGraphTensor| match whole_words(&tensor, behind) {
        Some(last) => {
            let words = apply(*tensor.values.clone(), last);
            let shape = shape_of(&words);
            Quantized::new(flat(words), scales, tensor.scheme, shape)
        }
        None => of_values(elements(values_of(&tensor)), scales, tensor.scheme),
    };
    match tensor.level() {
        Level::Tensor => integers(*tensor.scales.clone()),
        Level::Block { elements: run } if behind.is_multiple_of(run) => {
            integers(flat(apply(*tensor.scales.clone(), behind / run)))
        }
        Level::Block { .. } => quantize_for(op, elements(dequantize(&tensor, DType::F32)), &tensor.scheme),
    }
}

/// How many words hold each run of so many values, if values are in words and each run begins with one.
fn whole_words(tensor: &Quantized, run: usize) -> Option<usize> {
    let Packing::Words(width) = tensor.packing() else { return None };
    run.is_multiple_of(width.in_word()).then(|| run / width.in_word())
}

fn flat(tensor: MpsGraphTensor) -> MpsGraphTensor {
    let count = tensor.shape.num_elements();
    tensor.with_shape([count].into())
}
