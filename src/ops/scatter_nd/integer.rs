//! Exact integer scatters.
//!
//! The kernels pass integers through f32 (pytorch/pytorch#195595), which holds every integer up to 2^24. So integers
//! are cut into digits so narrow that no sum of them leaves that range; then f32 addition is exact in any order. The
//! results are put together by integer arithmetic, which wraps around as it should. Extremes are found digit by digit
//! from the highest, as in a radix sort.

use burn_backend::{DType, Shape};

use crate::ffi::{self, DataType, ScatterMode};
use crate::lowering::axis::{joined, part};
use crate::lowering::conversion::{from_digits, low_bits, summed_in};
use crate::lowering::{Lowering, Operand};
use crate::ops::gather::carrier::Carrier;
use crate::tensor_type::TensorType;

/// The most elements that the table of [`mul`] has.
pub(super) const TABLE: usize = 1 << 26;

/// Where updates go.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Along an axis, each at its own index; the indices have the updates' shape.
    AlongAxis(usize),
    /// To the rows along an axis.
    Rows(usize),
}

/// Data with updates added.
pub(super) fn add(
    cx: &Lowering<'_>,
    data: &Operand,
    indices: &ffi::Tensor,
    updates: &Operand,
    place: Place,
) -> ffi::Tensor {
    let graph = cx.graph();
    let (Place::AlongAxis(axis) | Place::Rows(axis)) = place;
    if axis + 1 == data.ty.shape.num_dims() && digits(data.ty.dtype, updates.ty.shape[axis]) > 1 {
        // Digits are side by side along another axis than that of the indices.
        let [behind, from] = [data, updates].map(|operand| {
            let ty = TensorType::new(operand.ty.dtype, operand.ty.shape.iter().copied().chain([1]).collect());
            Operand { tensor: graph.reshape(&operand.tensor, &ty.shape), ty, is_zeros: operand.is_zeros }
        });
        let indices = graph.reshape(indices, &from.ty.shape);
        return graph.reshape(&add(cx, &behind, &indices, &from, place), &data.ty.shape);
    }
    let width = digit_width(updates.ty.shape[axis]);
    let words = words_of(graph, updates);
    let bits = 8 * updates.ty.dtype.size().min(4);
    let low = |x: &ffi::Tensor| graph.bitwise_and(x, &cx.constant(f64::from((1u32 << width) - 1), DType::I32));
    // Lowest digit first, all of them unsigned: bits above the dtype's vanish when the sums wrap.
    let digits: Vec<ffi::Tensor> = words
        .iter()
        .flat_map(|word| {
            (0..bits as u32).step_by(width as usize).map(|shift| {
                let shift = cx.constant(f64::from(shift), DType::I32);
                graph.cast(&low(&graph.bitwise_right_shift(word, &shift)), DataType::F32)
            })
        })
        .collect();
    let last = data.ty.shape.num_dims() - 1;
    let side_by_side = joined(graph, &digits, last);
    let target = widened(&data.ty.shape, digits.len());
    let axis = axis as isize;
    let sums = match place {
        Place::AlongAxis(_) => {
            let indices = joined(graph, &vec![indices.clone(); digits.len()], last);
            graph.scatter_along_axis_into_shape(axis, &side_by_side, &indices, &target, ScatterMode::Add)
        }
        Place::Rows(_) => graph.scatter_into_shape(&side_by_side, indices, &target, axis, ScatterMode::Add),
    };
    let (wide, columns) = (summed_in(data.ty.dtype), data.ty.shape[last]);
    let digit_sums: Vec<ffi::Tensor> = (0..digits.len())
        .map(|digit| {
            let sum = part(graph, &sums, &target, last, [digit * columns, (digit + 1) * columns]);
            low_bits(graph, &graph.cast(&sum, DataType::I32), DType::I32, wide)
        })
        .collect();
    let total = from_digits(cx, &digit_sums, f64::from(1u32 << width), wide);
    let total = if data.is_zeros { total } else { graph.addition(&widen(graph, data), &total) };
    narrow(graph, &total, data.ty.dtype)
}

/// The widest digit of which `count` cannot sum to more than 2^24. A power of two, so that no digit straddles two
/// words.
fn digit_width(count: usize) -> u32 {
    let bits = ((1usize << 24) / count).clamp(2, 1 << 16).ilog2();
    1 << bits.ilog2()
}

/// The number of digits into which a number of `dtype` is cut if up to `count` numbers are summed.
pub(super) fn digits(dtype: DType, count: usize) -> usize {
    (8 * dtype.size()).div_ceil(digit_width(count) as usize)
}

/// Data `(n, width)` with the updates of each row multiplied in: by a table of each row and each update, because no
/// scatter of MPSGraph multiplies integers exactly.
pub(super) fn mul(cx: &Lowering<'_>, data: &Operand, indices: &ffi::Tensor, updates: &Operand) -> ffi::Tensor {
    let graph = cx.graph();
    let [rows, width] = [data.ty.shape[0], data.ty.shape[1]];
    let count = updates.ty.shape[0];
    let row = graph.coordinate_along_axis(0, &[rows, 1, 1]);
    let meets = graph.equal(&row, &graph.reshape(indices, &[1, count, 1]));
    let factors = graph.reshape(&widen(graph, updates), &[1, count, width]);
    let table = graph.select(&meets, &factors, &cx.constant(1.0, summed_in(data.ty.dtype)));
    let products = graph.reshape(&graph.reduction_product(&table, &[1]), &[rows, width]);
    narrow(graph, &graph.multiplication(&widen(graph, data), &products), data.ty.dtype)
}

/// Data `(n, width)` with the smallest or largest of each row and its updates.
pub(super) fn extreme(
    cx: &Lowering<'_>,
    data: &Operand,
    indices: &ffi::Tensor,
    updates: &Operand,
    mode: ScatterMode,
) -> ffi::Tensor {
    let graph = cx.graph();
    let dtype = data.ty.dtype;
    // A number that loses against every digit, for data and updates that a higher digit has already ruled out.
    let out = cx.constant(if mode == ScatterMode::Max { -65_536.0 } else { 131_072.0 }, DType::F32);
    let [ours, theirs] = [data, updates].map(|operand| ordered_digits(cx, operand));
    let mut running: Option<[ffi::Tensor; 2]> = None;
    let mut best = Vec::with_capacity(ours.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let only_running = |side: usize, digit: &ffi::Tensor| match &running {
            None => digit.clone(),
            Some(running) => graph.select(&running[side], digit, &out),
        };
        let digit = graph.scatter(&only_running(0, ours), &only_running(1, theirs), indices, 0, mode);
        let seen = graph.gather(&digit, indices, 0, 0);
        let equal = [graph.equal(ours, &digit), graph.equal(theirs, &seen)];
        running = Some(match &running {
            None => equal,
            Some(before) => [0, 1].map(|side| graph.logical_and(&before[side], &equal[side])),
        });
        best.push(digit);
    }
    let wide = summed_in(dtype);
    let whole = |digit: &ffi::Tensor| low_bits(graph, &graph.cast(digit, DataType::I32), DType::I32, wide);
    let lowest_first: Vec<ffi::Tensor> = best.iter().rev().map(whole).collect();
    let found = from_digits(cx, &lowest_first, 65_536.0, wide);
    // Undo the flip of the sign; adding half the range wraps just as the flip does.
    if dtype == DType::U32 {
        graph.reinterpret_cast(&graph.addition(&found, &cx.constant(SIGN, DType::I32)), DataType::U32)
    } else if dtype == DType::U64 {
        // 2^63 as a product, because no conversion from f64 to i64 gives it.
        let half = graph.multiplication(&cx.constant(SIGN, DType::I64), &cx.constant(4_294_967_296.0, DType::I64));
        graph.reinterpret_cast(&graph.addition(&found, &half), DataType::U64)
    } else {
        narrow(graph, &found, dtype)
    }
}

/// The lowest i32.
const SIGN: f64 = -2_147_483_648.0;

/// 16-bit digits whose lexicographic order, highest first, is the order of the integers; only the highest is signed.
fn ordered_digits(cx: &Lowering<'_>, operand: &Operand) -> Vec<ffi::Tensor> {
    let graph = cx.graph();
    let mut words = words_of(graph, operand);
    if operand.ty.dtype.size() < 4 {
        return vec![graph.cast(&words[0], DataType::F32)];
    }
    if let (DType::U32 | DType::U64, Some(top)) = (operand.ty.dtype, words.last_mut()) {
        *top = graph.bitwise_xor(top, &cx.constant(SIGN, DType::I32));
    }
    let [shift, mask] = [16.0, 65_535.0].map(|value| cx.constant(value, DType::I32));
    let mut digits = Vec::new();
    for (place, word) in words.iter().rev().enumerate() {
        let high = graph.bitwise_right_shift(word, &shift);
        let high = if place == 0 { high } else { graph.bitwise_and(&high, &mask) };
        digits.push(graph.cast(&high, DataType::F32));
        digits.push(graph.cast(&graph.bitwise_and(word, &mask), DataType::F32));
    }
    digits
}

/// The operand as one i32 tensor, or as two for 64 bits, the low half first.
///
/// Halves are taken by reinterpreting: 64-bit bit operations lack kernels.
fn words_of(graph: &ffi::Graph, operand: &Operand) -> Vec<ffi::Tensor> {
    match Carrier::of(operand.ty.dtype) {
        Carrier::Value => vec![graph.cast(&operand.tensor, DataType::I32)],
        Carrier::Bits => vec![low_bits(graph, &operand.tensor, operand.ty.dtype, DType::I32)],
        Carrier::BitPairs => {
            let pairs = graph.reinterpret_cast(&operand.tensor, DataType::I32);
            let apart = [operand.ty.shape.as_slice(), &[2]].concat();
            let pairs = graph.reshape(&pairs, &apart);
            (0..2)
                .map(|half| {
                    let half = part(graph, &pairs, &apart, apart.len() - 1, [half, half + 1]);
                    graph.reshape(&half, &operand.ty.shape)
                })
                .collect()
        }
        Carrier::Own | Carrier::Signed(_) => unreachable!("an integer scatter of {:?}", operand.ty.dtype),
    }
}

fn widen(graph: &ffi::Graph, x: &Operand) -> ffi::Tensor {
    low_bits(graph, &x.tensor, x.ty.dtype, summed_in(x.ty.dtype))
}

fn narrow(graph: &ffi::Graph, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
    low_bits(graph, x, summed_in(dtype), dtype)
}

/// Extents of a packed shape with the last multiplied by `times`.
fn widened(shape: &Shape, times: usize) -> Vec<usize> {
    let mut shape = shape.to_vec();
    if let Some(last) = shape.last_mut() {
        *last *= times;
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_digits_stay_exact_and_digits_fit_words() {
        for count in [1, 255, 256, 257, 65_536, 65_537, 1 << 20, (1 << 24) - 1] {
            let width = digit_width(count);
            assert!(count * ((1 << width) - 1) <= 1 << 24, "{count} digits of {width} bits");
            assert_eq!(32 % width, 0);
        }
        assert_eq!([1, 256, 257, 65_536].map(digit_width), [16, 16, 8, 8]);
        assert_eq!(digits(DType::I8, 1), 1);
        assert_eq!(digits(DType::I64, 1000), 8);
        assert_eq!(digits(DType::I32, 1 << 20), 8);
    }
}
