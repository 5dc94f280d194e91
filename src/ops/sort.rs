//! Sorting along an axis: sorted elements, the positions that they come from, and the first few of both.
//!
//! Floats are ordered by sign and then by magnitude, as in burn-flex (`total_cmp`): -NaN is the lowest, -0 is below 0,
//! NaN is the highest. Equal elements stay in the order of their positions, both up and down.
//!
//! Of MPSGraph's kernels this file uses only the sort of i32 values in rows. PyTorch relied on it from macOS 13 on, and
//! we know of no report against it. The others are avoided for these reasons:
//! - Floats: NaN is ordered by its sign on 13.5 (pytorch/pytorch#116567), denormals may compare as 0. A float's bits
//!   make an i32 key of the right order instead (`key`).
//! - `argSort`: wrong for i64 from 15.4 on and, in one graph with the sort of the same tensor, wrong for both
//!   (pytorch/pytorch#155560). Apple does not promise that it keeps equal elements in order, and top-k, which runs on
//!   the same kernel, does not (pytorch/pytorch#155950). So positions are sorted as low bits of the values; then no two
//!   values are equal.
//! - 64-bit integers: as above. They are sorted by two keys of 32 bits.
//! - `topK`: Apple documents neither the order of its results nor which of equal elements it takes. The first of all
//!   sorted elements are taken instead.
//! - Other axes than the last: rows are sorted where they lie side by side.
//! - More than 2^22 rows: with 2^22 + 1 the order came out wrong (pytorch/pytorch#183885). They are sorted in parts.

pub(super) mod key;

use burn_backend::{DType, TensorMetadata};
use smallvec::smallvec;

use self::key::Word;
use super::arithmetic::cast;
use super::gather::carrier::Carrier;
use super::{Distances, Operation, check_dim, gather, memory, tensor_shape};
use crate::bridge::record;
use crate::dtype::{Elements, require_positions};
use crate::error::{Call, invalid};
use crate::ffi;
use crate::lowering::axis::{joined, part};
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::rank::{along, outer_axis_inner, reshaped};
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// The most rows that are sorted at once.
const MOST_ROWS: usize = 1 << 22;

/// `[x (outer, axis, inner)]`, sorted along the axis; the shape stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SortOp {
    kind: Kind,
    descending: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// The elements, of at most 32 bits.
    Values,
    /// The positions that they come from, in i32.
    Positions,
}

/// The elements of each row along `dim` in order; every dtype but bool.
pub(crate) fn sort(x: MpsGraphTensor, dim: usize, descending: bool) -> MpsGraphTensor {
    let _call = Call::begin("sort", [x.typed()]);
    let op = SortOp { kind: Kind::Values, descending };
    op.check(&x, dim);
    if x.dtype().size() == 8 {
        return sorted_by_position(x, dim, descending).0;
    }
    if is_sorted(&x, dim) { x } else { op.record(x, dim) }
}

/// [`sort`] and [`argsort`].
pub(crate) fn sort_with_indices(
    x: MpsGraphTensor,
    dim: usize,
    descending: bool,
    out: DType,
) -> (MpsGraphTensor, MpsGraphTensor) {
    let _call = Call::begin("sort_with_indices", [x.typed()]);
    let op = SortOp { kind: Kind::Positions, descending };
    op.check(&x, dim);
    require_positions(op.name(), x.dims(), x.dims()[dim], out);
    let (values, positions) = sorted_by_position(x, dim, descending);
    (values, cast(positions, out))
}

/// The position along `dim` that each element of [`sort`] comes from, as the integer dtype `out`.
pub(crate) fn argsort(x: MpsGraphTensor, dim: usize, descending: bool, out: DType) -> MpsGraphTensor {
    let _call = Call::begin("argsort", [x.typed()]);
    let op = SortOp { kind: Kind::Positions, descending };
    op.check(&x, dim);
    require_positions(op.name(), x.dims(), x.dims()[dim], out);
    if is_sorted(&x, dim) { memory::zeros(x.shape, out) } else { cast(op.record(x, dim), out) }
}

/// The `k` largest elements of each row along `dim`, the largest first.
pub(crate) fn topk(x: MpsGraphTensor, dim: usize, k: usize) -> MpsGraphTensor {
    let _call = Call::begin("topk", [x.typed()]);
    check_count("topk", &x, dim, k);
    tensor_shape::narrow(sort(x, dim, true), dim, [0, k])
}

/// The positions of the `k` largest elements of each row along `dim`, of equal ones the first, as `out`.
pub(crate) fn argtopk(x: MpsGraphTensor, dim: usize, k: usize, out: DType) -> MpsGraphTensor {
    let _call = Call::begin("argtopk", [x.typed()]);
    check_count("argtopk", &x, dim, k);
    tensor_shape::narrow(argsort(x, dim, true, out), dim, [0, k])
}

fn sorted_by_position(x: MpsGraphTensor, dim: usize, descending: bool) -> (MpsGraphTensor, MpsGraphTensor) {
    if is_sorted(&x, dim) {
        let zeros = memory::zeros(x.shape.clone(), DType::I32);
        return (x, zeros);
    }
    let last = x.rank() - 1;
    if dim != last {
        // Positions of one row are near each other in memory then, for the sort and for the gather.
        let rows = tensor_shape::swap_dims(x, dim, last);
        let (values, positions) = sorted_by_position(rows, last, descending);
        return (tensor_shape::swap_dims(values, dim, last), tensor_shape::swap_dims(positions, dim, last));
    }
    let positions = SortOp { kind: Kind::Positions, descending }.record(x.clone(), dim);
    (gather::gather(dim, x, positions.clone()), positions)
}

/// Whether rows hold at most one element.
fn is_sorted(x: &MpsGraphTensor, dim: usize) -> bool {
    x.dims()[dim] <= 1 || x.shape.num_elements() == 0
}

/// Ends an op that asks for more elements than there are along `dim`.
pub(crate) fn check_count(op: &'static str, x: &MpsGraphTensor, dim: usize, k: usize) {
    check_dim(op, dim, x.dims());
    let extent = x.dims()[dim];
    if k > extent {
        invalid(op, format!("the {k} largest of {extent} elements, along dim {dim} of shape {:?}", x.dims()));
    }
}

impl SortOp {
    fn check(self, x: &MpsGraphTensor, dim: usize) {
        check_dim(self.name(), dim, x.dims());
        Elements::Numbers.require(self.name(), x);
    }

    fn record(self, x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        let shape = x.shape.clone();
        let seen = outer_axis_inner(&shape, dim);
        let dtype = match self.kind {
            Kind::Values => x.dtype(),
            Kind::Positions => DType::I32,
        };
        record(self.into(), &[&x.with_shape(seen.into())], &[], TensorType::new(dtype, seen.into())).with_shape(shape)
    }

    /// Rows along the last axis.
    fn sorted_rows(self, cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType, [rows, extent]: [usize; 2]) -> ffi::Tensor {
        match self.kind {
            Kind::Values => {
                let sorted = cx.graph().sort(&key::of(cx, x, dtype), 1, self.descending);
                key::element(cx, &sorted, dtype)
            }
            Kind::Positions => {
                let (axis, shape) = along(&[rows, extent], 1);
                let x = reshaped(cx, x, &[rows, extent], &shape);
                let found = positions(cx, &key::words(cx, &x, dtype, &shape), (axis, extent), self.descending);
                reshaped(cx, &found, &shape, &[rows, extent])
            }
        }
    }
}

impl Operation for SortOp {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Values => "sort",
            Kind::Positions => "argsort",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], _output: &TensorType) -> ffi::Tensor {
        let (graph, Operand { tensor, ty, .. }) = (cx.graph(), &inputs[0]);
        let &[outer, extent, inner] = ty.shape.as_slice() else { unreachable!("recorded as outer, axis, inner") };
        let rows = outer * inner;
        let turned = if inner == 1 { tensor.clone() } else { graph.transpose(tensor, &[0, 2, 1]) };
        let x = graph.reshape(&turned, &[rows, extent]);
        let parts: Vec<ffi::Tensor> = (0..rows)
            .step_by(MOST_ROWS)
            .map(|low| {
                let high = rows.min(low + MOST_ROWS);
                let x = part(graph, &x, &[rows, extent], 0, [low, high]);
                self.sorted_rows(cx, &x, ty.dtype, [high - low, extent])
            })
            .collect();
        let sorted = joined(graph, &parts, 0);
        if inner == 1 {
            return reshaped(cx, &sorted, &[rows, extent], &ty.shape);
        }
        graph.transpose(&graph.reshape(&sorted, &[outer, inner, extent]), &[0, 2, 1])
    }

    /// Rows along another axis than the last are permuted back at the end.
    fn provenance(&self, _inputs: &[Provenance]) -> Provenance {
        Provenance::APART
    }

    fn apart(&self, operand: &[usize]) -> Distances {
        match operand {
            &[_, extent, inner] if inner > 1 => smallvec![inner * extent, 1, extent],
            _ => Distances::new(),
        }
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        Reshapes::AnyShape
    }
}

/// The positions in a row of `extent`, along the last `axis`, from which its elements come in order of these keys,
/// lowest first.
///
/// A radix sort with digits as wide as they can be: each pass sorts i32 values with a digit of the key in the high
/// bits and the place in the row in the low bits. No two values are equal, so each pass keeps the order of the pass
/// before.
fn positions(cx: &Lowering<'_>, words: &[Word], (axis, extent): (usize, usize), descending: bool) -> ffi::Tensor {
    let (graph, axis) = (cx.graph(), axis as isize);
    let number = |number: u32| cx.constant(number.into(), DType::I32);
    let place_bits = usize::BITS - (extent - 1).leading_zeros();
    let places = graph.coordinate_along_axis(0, &[extent]);
    let key_bits: u32 = words.iter().map(|word| word.bits).sum();
    let width = key_bits.div_ceil(key_bits.div_ceil(32 - place_bits));
    let mut order: Option<ffi::Tensor> = None;
    for low in (0..key_bits).step_by(width as usize) {
        let digit = key::digit(cx, words, low..key_bits.min(low + width), descending);
        let high = graph.bitwise_left_shift(&digit, &number(place_bits));
        let arranged = order.as_ref().map_or_else(|| high.clone(), |order| at(graph, axis, &high, order));
        let sorted = graph.sort(&graph.bitwise_or(&arranged, &places), axis, false);
        let from = graph.bitwise_and(&sorted, &number((1 << place_bits) - 1));
        order = Some(order.map_or_else(|| from.clone(), |order| at(graph, axis, &order, &from)));
    }
    order.unwrap_or_else(|| unreachable!("a key has bits"))
}

/// Integers along an axis at i32 positions there.
fn at(graph: &ffi::Graph, axis: isize, x: &ffi::Tensor, positions: &ffi::Tensor) -> ffi::Tensor {
    let carrier = Carrier::of(DType::I32);
    carrier.store(graph, &graph.gather_along_axis(axis, &carrier.load(graph, x), positions), DType::I32)
}
