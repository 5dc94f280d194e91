//! 16-bit floats are averaged, and gradients summed, in f32 and rounded once: burn-flex's result in f32, rounded.

use burn::backend::Autodiff;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::module::{adaptive_avg_pool2d, avg_pool2d, max_pool2d};
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use test_support::Layout;
use test_support::Tolerance::Ulps;

use super::images;
use crate::compare::{compare, differentiate, gradient};

/// Results and gradients of numbers that every float dtype holds, where windows overlap. Averages are of 1, 2, 4 or 8
/// elements, so that f32 rounds nothing and no order of sums matters.
fn results<B: AutodiffBackend>(computed: DType) -> Vec<TensorData> {
    let of = |pool: &dyn Fn(Tensor<B, 4>) -> Tensor<B, 4>| {
        let leaf = images::<B>(Layout::Contiguous, computed).require_grad();
        differentiate(pool(leaf.clone()), |gradients| vec![gradient(&leaf, gradients)])
    };
    [
        of(&|x| avg_pool2d(x, [2, 4], [1, 1], [1, 2], true, false)),
        of(&|x| avg_pool2d(x, [2, 2], [1, 1], [1, 1], false, false)),
        of(&|x| adaptive_avg_pool2d(x, [4, 4])),
        of(&|x| max_pool2d(x, [3, 3], [1, 1], [1, 1], [1, 1], false)),
    ]
    .concat()
}

#[test]
fn sums_are_rounded_once() {
    for dtype in [DType::F16, DType::BF16] {
        let rounded = || {
            let exact = results::<Autodiff<Flex>>(DType::F32).into_iter();
            exact.map(|data| data.convert_dtype(dtype)).collect()
        };
        compare(&format!("{dtype:?}"), Ulps(1), rounded, || results::<Autodiff<MpsGraph>>(dtype));
    }
}
