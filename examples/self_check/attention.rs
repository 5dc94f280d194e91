//! Attention, as models write it and as Burn's module function. MPSGraph replaces nodes that look like attention by a
//! kernel of its own, which has been wrong for 17 to 24 positions and three matrices or more (macOS 26), and for
//! queries, keys and values that are slices of one computed tensor.

use burn::backend::Autodiff;
use burn::tensor::backend::Backend;
use burn::tensor::ops::AttentionModuleOptions;
use burn::tensor::{Bool, DType, Tensor, TensorData, activation, module, s};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{Tolerance, close_floats, within};
use crate::table::{Trap, check};
use crate::values::{B, floats, noise};

pub const TRAPS: &[Trap] = &[
    check("softmax(QK^T)V by hand: [3, 4, 20, 64]", || by_hand([3, 4, 20, 64])),
    check("softmax(QK^T)V by hand: [2, 12, 20, 64]", || by_hand([2, 12, 20, 64])),
    check("softmax(QK^T)V by hand: [2, 12, 24, 64]", || by_hand([2, 12, 24, 64])),
    check("softmax(QK^T)V by hand: [4, 2, 17, 32], [1, 8, 128, 64]", || {
        Outcome::of([by_hand([4, 2, 17, 32]), by_hand([1, 8, 128, 64])])
    }),
    check("the same with a causal mask of -inf: [3, 4, 20, 64]", causal_by_hand),
    check("the same with exp and sums in place of softmax: [3, 4, 20, 64]", composed),
    check("the same with softmin, quiet softmax, a reciprocal of the sum", other_softmaxes),
    check("the same seen through transposes, reshapes, halves, * 1, + 0", seen_otherwise),
    check("the same, rank 3, f16: [12, 20, 64]", narrow_by_hand),
    check("Q, K, V as slices of one computed tensor: [3, 20, 3 * 4 * 64]", slices_of_one),
    check("the same within Autodiff, with gradients: [3, 4, 20, 16]", gradients),
    check("attention of Burn's module: [3, 4, 20, 64], [2, 12, 24, 64]", module_attention),
    check("the same, causal, with a mask, other key and value sizes", module_attention_masked),
];

fn tolerance(dtype: DType) -> Tolerance {
    match dtype {
        DType::F16 => within(4e-3, 4e-3),
        _ => within(1e-5, 1e-5),
    }
}

/// Attention of `(batch, q, d)`, `(batch, k, d)` and `(batch, k, v)`, with the keys that `visible` shows to a query.
fn reference(
    [query, key, value]: [&[f64]; 3],
    [batch, queries, keys, width, out]: [usize; 5],
    visible: impl Fn(usize, usize) -> bool,
) -> Vec<f64> {
    let mut result = Vec::with_capacity(batch * queries * out);
    for (at, i) in (0..batch).flat_map(|at| (0..queries).map(move |i| (at, i))) {
        let row = &query[(at * queries + i) * width..][..width];
        let scores: Vec<f64> = (0..keys)
            .map(|j| {
                let other = &key[(at * keys + j) * width..][..width];
                let dot: f64 = row.iter().zip(other).map(|(x, y)| x * y).sum();
                if visible(i, j) { dot / (width as f64).sqrt() } else { f64::NEG_INFINITY }
            })
            .collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|x| (x - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        result.extend(
            (0..out).map(|c| (0..keys).map(|j| weights[j] / total * value[(at * keys + j) * out + c]).sum::<f64>()),
        );
    }
    result
}

/// Queries, keys and values whose scores differ by a few units.
fn inputs(count: usize) -> [Vec<f64>; 3] {
    [1, 2, 3].map(|salt| noise(count, salt).into_iter().map(|x| if salt == 3 { x } else { 2.0 * x }).collect())
}

fn scores<C: Backend, const D: usize>(query: Tensor<C, D>, key: Tensor<C, D>, width: usize) -> Tensor<C, D> {
    query.matmul(key.swap_dims(D - 2, D - 1)) / (width as f64).sqrt()
}

fn by_hand(shape: [usize; 4]) -> Outcome {
    let [batch, heads, positions, width] = shape;
    let [q, k, v] = inputs(shape.iter().product());
    let expected = reference([&q, &k, &v], [batch * heads, positions, positions, width, width], |_, _| true);
    let of = |x: &[f64]| floats(x, shape, DType::F32);
    let given = activation::softmax(scores(of(&q), of(&k), width), 3).matmul(of(&v));
    // Computed operands: a fed operand could stop MPSGraph from recognising the pattern.
    let computed = |x: &[f64]| of(x) + 0.0;
    let all_inside = activation::softmax(scores(computed(&q), computed(&k), width), 3).matmul(computed(&v));
    Outcome::of([
        close_floats(&given.into_data(), &shape, &expected, tolerance(DType::F32)),
        close_floats(&all_inside.into_data(), &shape, &expected, tolerance(DType::F32)),
    ])
}

/// True where the key comes after the query.
fn future<C: Backend>(positions: usize, device: &C::Device) -> Tensor<C, 4, Bool> {
    let mask: Vec<bool> = (0..positions * positions).map(|i| i % positions > i / positions).collect();
    Tensor::<C, 2, Bool>::from_data(TensorData::new(mask, [positions, positions]), device).unsqueeze()
}

fn causal_by_hand() -> Outcome {
    let shape = [3, 4, 20, 64];
    let [q, k, v] = inputs(shape.iter().product());
    let expected = reference([&q, &k, &v], [12, 20, 20, 64, 64], |i, j| j <= i);
    let of = |x: &[f64]| floats(x, shape, DType::F32);
    let hidden = scores(of(&q), of(&k), 64)
        .mask_fill(future::<B>(20, &MpsGraphDevice).expand([3, 4, 20, 20]), f64::NEG_INFINITY);
    let got = activation::softmax(hidden, 3).matmul(of(&v));
    close_floats(&got.into_data(), &shape, &expected, tolerance(DType::F32))
}

fn composed() -> Outcome {
    let shape = [3, 4, 20, 64];
    let [q, k, v] = inputs(shape.iter().product());
    let expected = reference([&q, &k, &v], [12, 20, 20, 64, 64], |_, _| true);
    let of = |x: &[f64]| floats(x, shape, DType::F32);
    let scores = scores(of(&q), of(&k), 64);
    let weights = (scores.clone() - scores.max_dim(3)).exp();
    let got = (weights.clone() / weights.sum_dim(3)).matmul(of(&v));
    close_floats(&got.into_data(), &shape, &expected, tolerance(DType::F32))
}

/// Attention in f32 over `[3, 4, 20, 64]` with `weights` of the scores.
fn with(weights: impl Fn(Tensor<B, 4>) -> Tensor<B, 4>) -> Outcome {
    let shape = [3, 4, 20, 64];
    let [q, k, v] = inputs(shape.iter().product());
    let expected = reference([&q, &k, &v], [12, 20, 20, 64, 64], |_, _| true);
    let of = |x: &[f64]| floats(x, shape, DType::F32);
    let got = weights(scores(of(&q), of(&k), 64)).matmul(of(&v));
    close_floats(&got.into_data(), &shape, &expected, tolerance(DType::F32))
}

fn other_softmaxes() -> Outcome {
    let powers = |x: Tensor<B, 4>| (x.clone() - x.max_dim(3)).exp();
    Outcome::of([
        with(|x| activation::softmin(-x, 3)),
        with(|x| {
            // The one that quiet softmax adds to the sum, taken out again.
            let quiet = activation::quiet_softmax(x, 3);
            quiet.clone() / quiet.sum_dim(3)
        }),
        with(|x| activation::log_softmax(x, 3).exp()),
        with(|x| powers(x.clone()) * powers(x).sum_dim(3).recip()),
        with(|x| {
            let powers = powers(x);
            powers.clone() * powers.sum_dim(3).recip()
        }),
    ])
}

fn seen_otherwise() -> Outcome {
    let softmax = |x| activation::softmax(x, 3);
    Outcome::of([
        with(|x| (softmax(x).transpose() * 1.0).transpose()),
        with(|x| softmax(x).reshape([12, 400]).reshape([3, 4, 20, 20])),
        with(|x| softmax(x).swap_dims(0, 1).swap_dims(0, 1) + 0.0),
        with(|x| {
            let weights = softmax(x);
            let ones = Tensor::ones_like(&weights);
            let zeros = Tensor::zeros_like(&weights);
            weights * ones + zeros
        }),
        with(|x| Tensor::cat(softmax(x).chunk(2, 2), 2)),
    ])
}

fn narrow_by_hand() -> Outcome {
    let shape = [12, 20, 64];
    let [q, k, v] = inputs(shape.iter().product());
    let expected = reference([&q, &k, &v], [12, 20, 20, 64, 64], |_, _| true);
    let of = |x: &[f64]| floats(x, shape, DType::F16);
    let got = activation::softmax(scores(of(&q), of(&k), 64), 2).matmul(of(&v));
    close_floats(&got.into_data(), &shape, &expected, tolerance(DType::F16))
}

fn slices_of_one() -> Outcome {
    let (batch, positions, heads, width) = (3, 20, 4, 64);
    let all = noise(batch * positions * 3 * heads * width, 4);
    let part = |which: usize| -> Vec<f64> {
        let mut part = Vec::new();
        for (b, h) in (0..batch).flat_map(|b| (0..heads).map(move |h| (b, h))) {
            for p in 0..positions {
                let start = ((b * positions + p) * 3 + which) * heads * width + h * width;
                part.extend(all[start..start + width].iter().map(|x| 2.0 * x));
            }
        }
        part
    };
    let [q, k, v] = [0, 1, 2].map(part);
    let expected = reference([&q, &k, &v], [12, 20, 20, 64, 64], |_, _| true);
    let computed = floats(&all, [batch, positions, 3 * heads * width], DType::F32) * 2.0;
    let [q, k, v] = [0, 1, 2].map(|which| {
        let from = which * heads * width;
        computed
            .clone()
            .slice(s![.., .., from..from + heads * width])
            .reshape([batch, positions, heads, width])
            .swap_dims(1, 2)
    });
    let got = activation::softmax(scores(q, k, width), 3).matmul(v);
    close_floats(&got.into_data(), &[batch, heads, positions, width], &expected, tolerance(DType::F32))
}

fn gradients() -> Outcome {
    type A = Autodiff<B>;
    let shape = [3, 4, 20, 16];
    let [q, k, v] = inputs(shape.iter().product());
    let expected = reference([&q, &k, &v], [12, 20, 20, 16, 16], |_, _| true);
    let of = |x: &[f64]| {
        Tensor::<A, 4>::from_data(TensorData::new(x.to_vec(), shape), (&MpsGraphDevice, DType::F32)).require_grad()
    };
    let (query, key, value) = (of(&q), of(&k), of(&v));
    let output = activation::softmax(scores(query, key, 16), 3).matmul(value.clone());
    let gradients = output.clone().sum().backward();
    // Each value counts as often as its key is looked at.
    let looked_at = {
        let ones = vec![1.0; v.len()];
        let mut sums = vec![0.0; v.len()];
        for (at, j) in (0..12).flat_map(|at| (0..20).map(move |j| (at, j))) {
            let mut only = vec![0.0; v.len()];
            only[(at * 20 + j) * 16..][..16].copy_from_slice(&ones[..16]);
            let seen = reference(
                [&q[at * 320..][..320], &k[at * 320..][..320], &only[at * 320..][..320]],
                [1, 20, 20, 16, 16],
                |_, _| true,
            );
            let total: f64 = seen.chunks(16).map(|row| row[0]).sum();
            sums[(at * 20 + j) * 16..][..16].fill(total);
        }
        sums
    };
    let Some(gradient) = value.grad(&gradients) else {
        return Outcome::fact("a gradient", "none", false);
    };
    Outcome::of([
        close_floats(&output.into_data(), &shape, &expected, tolerance(DType::F32)),
        close_floats(&gradient.into_data(), &shape, &looked_at, tolerance(DType::F32)),
    ])
}

fn module_attention() -> Outcome {
    Outcome::of([[3, 4, 20, 64], [2, 12, 24, 64]].map(|shape| {
        let [batch, heads, positions, width] = shape;
        let [q, k, v] = inputs(shape.iter().product());
        let expected = reference([&q, &k, &v], [batch * heads, positions, positions, width, width], |_, _| true);
        let of = |x: &[f64]| floats(x, shape, DType::F32);
        let got = module::attention(of(&q), of(&k), of(&v), None, None, AttentionModuleOptions::default());
        close_floats(&got.into_data(), &shape, &expected, tolerance(DType::F32))
    }))
}

fn module_attention_masked() -> Outcome {
    let (queries, keys, width, out) = (18, 22, 16, 10);
    let q: Vec<f64> = noise(6 * queries * width, 1).iter().map(|x| 2.0 * x).collect();
    let k: Vec<f64> = noise(6 * keys * width, 2).iter().map(|x| 2.0 * x).collect();
    let v = noise(6 * keys * out, 3);
    let hidden = |_: usize, j: usize| j % 5 == 3;
    // The last key and the last query have the same position.
    let expected =
        reference([&q, &k, &v], [6, queries, keys, width, out], |i, j| !hidden(i, j) && j <= i + keys - queries);
    let mask: Vec<bool> = (0..queries * keys).map(|i| hidden(i / keys, i % keys)).collect();
    let mask = Tensor::<B, 2, Bool>::from_data(TensorData::new(mask, [queries, keys]), &MpsGraphDevice);
    let got = module::attention(
        floats(&q, [2, 3, queries, width], DType::F32),
        floats(&k, [2, 3, keys, width], DType::F32),
        floats(&v, [2, 3, keys, out], DType::F32),
        Some(mask.unsqueeze::<4>().expand([2, 3, queries, keys])),
        None,
        AttentionModuleOptions { is_causal: true, ..Default::default() },
    );
    close_floats(&got.into_data(), &[2, 3, queries, out], &expected, tolerance(DType::F32))
}
