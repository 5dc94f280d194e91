//! Scaled dot-product attention.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::attention;
use burn::tensor::ops::AttentionModuleOptions;
use burn::tensor::{Bool, DType, Tensor, TensorData};
use test_support::Tolerance::{self, Relative, RelativeOf};
use test_support::{FLOATS, Layout};

use crate::compare::{differentiate, gradient};

/// burn-flex sums 16-bit floats in 16 bits.
const SUMS: Tolerance = RelativeOf([1e-5, 3e-2, 3e-2]);

// Every option, for counts of queries and keys.
cases! {
    sums(FLOATS, [Layout::Contiguous], SUMS) {
        attention_5_5 = |_layout, dtype| case::<B>(dtype, [5, 5]);
        attention_1_7 = |_layout, dtype| case::<B>(dtype, [1, 7]);
        attention_3_7 = |_layout, dtype| case::<B>(dtype, [3, 7]);
        attention_6_1 = |_layout, dtype| case::<B>(dtype, [6, 1]);
        attention_20_20 = |_layout, dtype| case::<B>(dtype, [20, 20]);
    }

    sums_autodiff([DType::F32], [Layout::Contiguous], Relative(1e-4)) {
        gradients = |_layout, _dtype| of_leaves::<B>();
    }

    // A query that is 0 sees all keys alike: the mean of the values.
    by_hand() {
        attention = |q = [[[[0.0, 0.0]]]], k = [[[[1.0, 2.0], [3.0, 4.0]]]], v = [[[[1.0, 5.0], [3.0, 9.0]]]]|
            attention(q, k, v, None, None, AttentionModuleOptions::default()) => [[[[2.0, 7.0]]]];
    }
}

fn numbers<B: Backend>(shape: [usize; 4], dtype: DType, salt: usize) -> Tensor<B, 4> {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| ((i * 37 + salt * 11 + i / 7) % 23) as f32 / 8.0 - 1.25).collect();
    Tensor::from_data(TensorData::new(values, shape).convert_dtype(dtype), (&B::Device::default(), dtype))
}

/// Every third key hidden, but never the first.
fn mask<B: Backend>(shape: [usize; 4]) -> Tensor<B, 4, Bool> {
    let count: usize = shape.iter().product();
    let hidden: Vec<bool> = (0..count).map(|i| i % shape[3] != 0 && i % 3 == 1).collect();
    Tensor::from_data(TensorData::new(hidden, shape), &B::Device::default())
}

fn case<B: Backend>(dtype: DType, [queries, keys]: [usize; 2]) -> Vec<TensorData> {
    let query = numbers::<B>([2, 3, queries, 4], dtype, 0);
    let key = numbers::<B>([2, 3, keys, 4], dtype, 1);
    let value = numbers::<B>([2, 3, keys, 5], dtype, 2);
    let scores = [2, 3, queries, keys];
    let run = |mask: Option<Tensor<B, 4, Bool>>, bias: Option<Tensor<B, 4>>, options| {
        attention(query.clone(), key.clone(), value.clone(), mask, bias, options).into_data()
    };
    let options = AttentionModuleOptions::default;
    vec![
        run(None, None, options()),
        run(Some(mask(scores)), None, options()),
        run(None, Some(numbers(scores, dtype, 3)), options()),
        run(None, None, AttentionModuleOptions { is_causal: queries <= keys, ..options() }),
        run(None, None, AttentionModuleOptions { scale: Some(0.3), softcap: Some(2.0), ..options() }),
        run(
            Some(mask(scores)),
            Some(numbers(scores, dtype, 3)),
            AttentionModuleOptions { scale: Some(1.5), ..options() },
        ),
    ]
}

fn of_leaves<B: AutodiffBackend>() -> Vec<TensorData> {
    let leaf = |shape, salt| numbers::<B>(shape, DType::F32, salt).require_grad();
    let (query, key, value) = (leaf([1, 2, 5, 4], 0), leaf([1, 2, 6, 4], 1), leaf([1, 2, 6, 3], 2));
    let output = attention(query.clone(), key.clone(), value.clone(), None, None, AttentionModuleOptions::default());
    differentiate(output, |gradients| [query, key, value].iter().map(|leaf| gradient(leaf, gradients)).collect())
}
