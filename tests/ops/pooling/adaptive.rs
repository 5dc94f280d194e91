//! Averages over a given number of parts, and their gradients.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::module::{adaptive_avg_pool1d, adaptive_avg_pool2d};
use burn::tensor::{Tensor, TensorData};
use test_support::Tolerance::{self, RelativeOf};
use test_support::{FLOATS, Layout};

use super::{LAYOUTS, images, rows};
use crate::compare::{differentiate, gradient};

/// burn-flex sums f16 in 16 bits, and gradients of bf16.
const SUMS: Tolerance = RelativeOf([1e-6, 1e-2, 1e-6]);
const GRADIENTS: Tolerance = RelativeOf([1e-6, 1e-2, 5e-2]);

/// Of 6 by 5 elements: all, none, equal parts, parts that overlap, more parts than elements.
const SIZES: [[usize; 2]; 8] = [[1, 1], [6, 5], [3, 1], [2, 5], [4, 3], [5, 4], [12, 7], [1, 9]];

cases! {
    given(FLOATS, LAYOUTS, SUMS) {
        of_images = |layout, dtype| every::<B>(images(layout, dtype));
        of_rows = |layout, dtype| [1, 7, 10, 29, 30, 45].map(|size| {
            adaptive_avg_pool1d(rows::<B>(layout, dtype), size).into_data()
        }).to_vec();
    }

    given_autodiff(FLOATS, [Layout::Contiguous, Layout::Transposed, Layout::Empty], GRADIENTS) {
        gradients_of_images = |layout, dtype| SIZES.into_iter().flat_map(|size| {
            of_leaf::<B>(images(layout, dtype), size)
        }).collect::<Vec<_>>();
        gradients_of_rows = |layout, dtype| [1, 7, 10, 29, 45].into_iter().flat_map(|size| {
            let leaf = rows::<B>(layout, dtype).require_grad();
            let output = adaptive_avg_pool1d(leaf.clone(), size);
            differentiate(output, |gradients| vec![gradient(&leaf, gradients)])
        }).collect::<Vec<_>>();
    }

    by_hand() {
        adaptive_avg_pool1d = |x = [[[1.0, 5.0, 3.0, 4.0, 2.0]]]| adaptive_avg_pool1d(x, 3) => [[[3.0, 4.0, 3.0]]];
        adaptive_avg_pool2d = |x = [[[[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]]]]| adaptive_avg_pool2d(x, [1, 2])
            => [[[[3.5, 3.5]]]];
    }

    gradients_by_hand() {
        adaptive_avg_pool1d_backward = |x = [[[1.0, 5.0, 3.0]]]| adaptive_avg_pool1d(x, 2) => [[[0.5, 1.0, 0.5]]];
        adaptive_avg_pool2d_backward = |x = [[[[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]]]]| adaptive_avg_pool2d(x, [1, 2])
            => [[[[0.25, 0.5, 0.25], [0.25, 0.5, 0.25]]]];
    }
}

fn every<B: Backend>(x: Tensor<B, 4>) -> Vec<TensorData> {
    SIZES.into_iter().map(|size| adaptive_avg_pool2d(x.clone(), size).into_data()).collect()
}

fn of_leaf<B: AutodiffBackend>(x: Tensor<B, 4>, size: [usize; 2]) -> Vec<TensorData> {
    let leaf = x.require_grad();
    let output = adaptive_avg_pool2d(leaf.clone(), size);
    differentiate(output, |gradients| vec![gradient(&leaf, gradients)])
}

/// f32 does not tell places beyond 2^24 apart.
#[test]
fn places_of_long_axes() {
    type B = burn_mpsgraph::MpsGraph;
    let length = (1 << 24) + 29;
    let outputs = length / 3 * 2;
    let x = Tensor::<B, 1, burn::tensor::Int>::arange(0..length as i64, &Default::default()).remainder_scalar(101);
    let averages = adaptive_avg_pool1d(x.float().reshape([1, 1, length]), outputs).reshape([outputs]);
    let found = averages.slice(outputs - 50..outputs).into_data().to_vec::<f32>().expect("f32");
    for (output, found) in (outputs - 50..outputs).zip(found) {
        let part = output * length / outputs..((output + 1) * length).div_ceil(outputs);
        let expected = part.clone().map(|at| (at % 101) as f32).sum::<f32>() / part.len() as f32;
        assert!((found - expected).abs() < 1e-4, "{found} is not {expected}, the average of {part:?}");
    }
}
