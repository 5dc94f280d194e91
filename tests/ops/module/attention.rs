//! Scaled dot-product attention.

use burn::backend::Autodiff;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::attention;
use burn::tensor::ops::AttentionModuleOptions;
use burn::tensor::{Bool, DType, Tensor, TensorData};

use crate::agreement::{FLOATS, Tolerance};
use crate::table::{compare_sums, differentiate, gradient};

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
        run(None, None, AttentionModuleOptions { is_causal: queries == keys, ..options() }),
        run(None, None, AttentionModuleOptions { scale: Some(0.3), softcap: Some(2.0), ..options() }),
        run(
            Some(mask(scores)),
            Some(numbers(scores, dtype, 3)),
            AttentionModuleOptions { scale: Some(1.5), ..options() },
        ),
    ]
}

#[test]
fn attention_with_every_option() {
    for dtype in FLOATS {
        for shape in [[5, 5], [1, 7], [6, 1], [20, 20]] {
            compare_sums(
                &format!("attention of {dtype:?} {shape:?}"),
                Tolerance::Relative(if dtype == DType::F32 { 1e-5 } else { 3e-2 }),
                || case::<burn_flex::Flex>(dtype, shape),
                || case::<burn_mpsgraph::MpsGraph>(dtype, shape),
            );
        }
    }
}

#[test]
fn gradients() {
    fn case<B: AutodiffBackend>() -> Vec<TensorData> {
        let leaf = |shape, salt| numbers::<B>(shape, DType::F32, salt).require_grad();
        let (query, key, value) = (leaf([1, 2, 5, 4], 0), leaf([1, 2, 6, 4], 1), leaf([1, 2, 6, 3], 2));
        let output =
            attention(query.clone(), key.clone(), value.clone(), None, None, AttentionModuleOptions::default());
        differentiate(output, |gradients| [query, key, value].iter().map(|leaf| gradient(leaf, gradients)).collect())
    }
    compare_sums(
        "gradients of attention",
        Tolerance::Relative(1e-4),
        case::<Autodiff<burn_flex::Flex>>,
        case::<Autodiff<burn_mpsgraph::MpsGraph>>,
    );
}
