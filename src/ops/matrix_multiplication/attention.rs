//! Scaled dot-product attention, composed of recorded ops in f32.
//!
//! MPSGraph's own `scaledDotProductAttention…` is wrong for some shapes (pytorch/pytorch#149132, #176767), and so is
//! the kernel by which its compiler replaces softmax(QKᵀ)V. The weights are read through a barrier (see
//! [`crate::lowering::provenance`]).

use burn_backend::DType;
use burn_backend::ops::AttentionModuleOptions;

use super::matmul;
use crate::dtype::{BOOL, Elements};
use crate::error::{Call, invalid};
use crate::lowering::scalar::ScalarInput;
use crate::ops::arithmetic::{self, BinaryOp, CompareOp, UnaryOp};
use crate::ops::tensor_shape::transpose;
use crate::ops::{memory, reduction};
use crate::tensor::MpsGraphTensor;

/// Axis of the keys in the scores.
const KEYS: usize = 3;

/// softmax(QKᵀ · scale + bias) V for `query (batch, heads, q, d)`, `key (batch, heads, k, d)`, `value (batch, heads, k,
/// v)`.
///
/// `mask` (true hides a key) and `bias` repeat to `(batch, heads, q, k)`. A query to which every key is hidden gives
/// zeros.
pub(crate) fn attention(
    query: MpsGraphTensor,
    key: MpsGraphTensor,
    value: MpsGraphTensor,
    mask: Option<MpsGraphTensor>,
    bias: Option<MpsGraphTensor>,
    options: AttentionModuleOptions,
) -> MpsGraphTensor {
    let operands = [&query, &key, &value].into_iter().chain(mask.as_ref()).chain(bias.as_ref());
    let _call = Call::begin("attention", operands.map(MpsGraphTensor::typed));
    let dtype = query.dtype();
    Elements::Floats.require("attention", &query);
    check(
        [&query, &key, &value],
        [("mask", &mask, Elements::Bools), ("bias", &bias, Elements::Floats)],
        options.softcap,
    );
    let (q, k, v) = (query.shape.clone(), key.shape.clone(), value.shape.clone());
    let scale = options.scale.unwrap_or_else(|| 1.0 / (q[3] as f64).sqrt());
    let (queries, keys) = (q[2], k[2]);
    let shape = [q[0], q[1], queries, v[3]];
    if keys == 0 {
        return memory::zeros(shape.into(), dtype);
    }
    let scalar = ScalarInput::Float;
    let [query, key, value] = [query, key, value].map(|tensor| arithmetic::cast(tensor, DType::F32));

    let mut scores = arithmetic::binary_scalar(BinaryOp::Mul, matmul(query, transpose(key)), scalar(scale));
    if let Some(softcap) = options.softcap {
        let part = arithmetic::binary_scalar(BinaryOp::Div, scores, scalar(softcap));
        scores = arithmetic::binary_scalar(BinaryOp::Mul, arithmetic::unary(UnaryOp::Tanh, part), scalar(softcap));
    }
    if let Some(mask) = mask {
        scores = arithmetic::mask_fill(scores, mask, scalar(f64::NEG_INFINITY));
    }
    // Nothing comes after a query that is the last key, as each is in decoding.
    if options.is_causal && queries > 1 {
        scores = arithmetic::mask_fill(scores, future(queries, keys), scalar(f64::NEG_INFINITY));
    }
    if let Some(bias) = bias {
        scores = arithmetic::binary(BinaryOp::Add, scores, arithmetic::cast(bias, DType::F32));
    }
    // With the bounds a row of -inf alone gives weights of 0 instead of NaN.
    let top = arithmetic::clamp(reduction::max_dim(scores.clone(), KEYS), Some(scalar(f32::MIN.into())), None);
    let weights = arithmetic::unary(UnaryOp::Exp, arithmetic::binary(BinaryOp::Sub, scores, top));
    let total = reduction::sum_dim(weights.clone(), KEYS);
    let total = arithmetic::clamp(total, Some(scalar(f32::MIN_POSITIVE.into())), None);
    let weights = arithmetic::binary(BinaryOp::Div, weights, total);
    arithmetic::cast(matmul(weights, value), dtype)
}

/// Ends an attention whose operands do not fit each other; `extras` are what is repeated to the scores.
fn check(
    [query, key, value]: [&MpsGraphTensor; 3],
    extras: [(&str, &Option<MpsGraphTensor>, Elements); 2],
    softcap: Option<f64>,
) {
    let (dtype, [q, k, v]) = (query.dtype(), [query, key, value].map(|tensor| tensor.dims()));
    let fits = [q, k, v].iter().all(|shape| shape.len() == 4 && shape[..2] == q[..2])
        && (q[3], k[2]) == (k[3], v[2])
        && [key, value].iter().all(|tensor| tensor.dtype() == dtype);
    if !fits {
        let [k_dtype, v_dtype] = [key.dtype(), value.dtype()];
        let expected =
            "one dtype, one batch and as many heads, query and key of one width, key and value of one length";
        let given = format!("query {dtype:?} {q:?}, key {k_dtype:?} {k:?}, value {v_dtype:?} {v:?}");
        invalid("attention", format!("{given}; they need {expected}"));
    }
    let scores = [q[0], q[1], q[2], k[2]];
    for (name, extra, elements) in extras {
        let repeats = |tensor: &MpsGraphTensor| {
            let mut extents = tensor.dims().iter().zip(scores);
            tensor.dims().len() == scores.len() && extents.all(|(&extent, whole)| extent == 1 || extent == whole)
        };
        let Some(tensor) = extra else { continue };
        if !elements.has(tensor.dtype()) {
            let (dtype, shape) = tensor.typed();
            invalid("attention", format!("{name} of dtype {dtype:?}, shape {shape:?}: it must hold {elements}"));
        }
        if !repeats(tensor) {
            invalid("attention", format!("{name} {:?} does not repeat to the scores {scores:?}", tensor.dims()));
        }
    }
    if softcap.is_some_and(|softcap| softcap.is_nan() || softcap <= 0.0) {
        invalid("attention", format!("softcap {:?} is not positive", softcap));
    }
}

/// True, in the shape of the scores, where a key comes after the query; the last key and the last query have the same
/// position.
fn future(queries: usize, keys: usize) -> MpsGraphTensor {
    let offset = keys as i64 - queries as i64;
    let query = memory::arange(offset..keys as i64, 1, DType::I32).with_shape([1, 1, queries, 1].into());
    let key = memory::arange(0..keys as i64, 1, DType::I32).with_shape([1, 1, 1, keys].into());
    arithmetic::compare(CompareOp::Greater, key, query, BOOL)
}
