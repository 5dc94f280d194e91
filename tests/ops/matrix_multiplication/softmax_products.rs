//! softmax(QKᵀ)V as models write it. The software runtime refuses to compile the nodes that Apple's compiler takes for
//! it, so these tests also show that no program has them.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Bool, DType, Tensor, TensorData, activation as act};
use test_support::Tolerance::{self, Relative, RelativeOf};
use test_support::{FLOATS, Layout};

use crate::compare::{differentiate, gradient};

/// burn-flex sums in 16 bits.
const SUMS: Tolerance = RelativeOf([1e-5, 5e-2, 5e-2]);

cases! {
    sums(FLOATS, [Layout::Contiguous], SUMS) {
        every_way_to_write_it = |_layout, dtype| case::<B>(dtype, false);
    }

    sums([DType::F32], [Layout::Contiguous], SUMS) {
        nan_and_infinities_come_through = |_layout, dtype| case::<B>(dtype, true);
        a_query_that_sees_no_key = |_layout, _dtype| hidden_row::<B>();
    }

    sums_autodiff([DType::F32], [Layout::Contiguous], Relative(1e-4)) {
        gradients = |_layout, _dtype| {
            [0, 1, 6, 12, 18, 24, 29, 30, 35].into_iter().flat_map(of_leaves::<B>).collect::<Vec<TensorData>>()
        };
    }
}

/// Multiples of 1/8; with `extreme`, among them NaN and infinities.
fn numbers<B: Backend>(shape: [usize; 3], dtype: DType, salt: usize, extreme: bool) -> Tensor<B, 3> {
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let values: Vec<f32> = (0..shape.iter().product::<usize>())
        .map(|i| match i {
            _ if extreme && i % 17 == 5 => special[i / 17 % 3],
            _ => ((i * 37 + salt * 11 + i / 7) % 23) as f32 / 8.0 - 1.25,
        })
        .collect();
    Tensor::from_data(TensorData::new(values, shape).convert_dtype(dtype), (&B::Device::default(), dtype))
}

/// The ways to write a softmax of scores.
fn softmaxes<B: Backend>(scores: Tensor<B, 3>) -> Vec<Tensor<B, 3>> {
    let powers = (scores.clone() - scores.clone().max_dim(2)).exp();
    let sums = powers.clone().sum_dim(2);
    vec![
        act::softmax(scores.clone(), 2),
        act::softmin(-scores.clone(), 2),
        act::quiet_softmax(scores.clone(), 2),
        act::log_softmax(scores, 2).exp(),
        powers.clone() / sums.clone(),
        powers * sums.recip(),
    ]
}

/// Every softmax of the scores times the values, also seen through ops that change nothing.
fn attention<B: Backend>([q, k, v]: [Tensor<B, 3>; 3]) -> Vec<Tensor<B, 3>> {
    let scores = q.matmul(k.transpose()) * 0.5;
    let dims = scores.dims();
    softmaxes(scores)
        .into_iter()
        .flat_map(|weights| {
            let zeros = Tensor::zeros_like(&weights);
            let ones = Tensor::ones_like(&weights);
            let halves = weights.clone().chunk(2, 1);
            let seen = [
                weights.clone(),
                weights.clone().transpose().transpose(),
                weights.clone().reshape([1, 1, dims[0], dims[1], dims[2]]).reshape(dims),
                weights.clone() + zeros,
                weights * ones,
                Tensor::cat(halves, 1),
            ];
            seen.map(|weights| weights.matmul(v.clone()))
        })
        .collect()
}

fn case<B: Backend>(dtype: DType, extreme: bool) -> Vec<TensorData> {
    let of = |shape, salt| numbers::<B>(shape, dtype, salt, extreme);
    attention([of([3, 18, 4], 0), of([3, 18, 4], 1), of([3, 18, 5], 2)]).into_iter().map(Tensor::into_data).collect()
}

/// A query that sees no key.
fn hidden_row<B: Backend>() -> Vec<TensorData> {
    let [q, k, v] = [0, 1, 2].map(|salt| numbers::<B>([3, 18, 4], DType::F32, salt, false));
    let hidden: Vec<bool> = (0..18 * 18).map(|i| i / 18 == 7 || i % 18 > i / 18).collect();
    let hidden = Tensor::<B, 2, Bool>::from_data(TensorData::new(hidden, [18, 18]), &B::Device::default());
    let scores = q.matmul(k.transpose()).mask_fill(hidden.unsqueeze::<3>().expand([3, 18, 18]), f32::NEG_INFINITY);
    vec![act::softmax(scores, 2).matmul(v).into_data()]
}

/// Autodiff records softmax as powers over their sum.
fn of_leaves<B: AutodiffBackend>(which: usize) -> Vec<TensorData> {
    let leaf = |shape, salt| numbers::<B>(shape, DType::F32, salt, false).require_grad();
    let leaves = [leaf([3, 18, 4], 0), leaf([3, 18, 4], 1), leaf([3, 18, 5], 2)];
    let output = attention(leaves.clone()).swap_remove(which);
    differentiate(output, |gradients| leaves.iter().map(|leaf| gradient(leaf, gradients)).collect())
}
