//! Reductions of permuted tensors, also where axes are merged behind the permutation. The numbers are small whole ones,
//! so sums are exact in any order.

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Int, Tensor, TensorData};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;

use crate::compare::compare;

const SHAPE: [usize; 4] = [2, 3, 1, 4];

const PERMUTATIONS: [[isize; 4]; 8] =
    [[0, 1, 3, 2], [0, 3, 1, 2], [1, 0, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 2, 1], [3, 1, 2, 0], [3, 2, 1, 0]];

/// Everything that is reduced of a permuted tensor, its axes apart, merged in pairs, and all of them one.
fn reduced<B: Backend>(permutation: [isize; 4]) -> Vec<TensorData> {
    let device = B::Device::default();
    let whole = Tensor::<B, 1, Int>::arange(0..24, &device) * 7 % 24 - 11;
    let whole = whole.reshape(SHAPE);
    let ints = whole.clone().permute(permutation);
    let floats = whole.clone().float().permute(permutation);
    let bools = whole.greater_elem(-9).permute(permutation);
    let shape = ints.dims();
    let pairs = [shape[0] * shape[1], shape[2] * shape[3]];
    let middle = [shape[0], shape[1] * shape[2], shape[3]];
    let mut all = vec![
        ints.clone().sum().into_data(),
        ints.clone().max().into_data(),
        floats.clone().sum().into_data(),
        floats.clone().mean().into_data(),
        floats.clone().min().into_data(),
        floats.clone().mean_dim(0).sum_dim(1).into_data(),
        floats.clone().reshape(middle).sum_dim(1).into_data(),
        ints.clone().reshape(middle).sum_dim(1).into_data(),
        bools.clone().any().into_data(),
        bools.clone().all().into_data(),
    ];
    for axis in 0..4 {
        all.extend(along(&ints, &floats, &bools, axis));
    }
    for axis in 0..2 {
        all.extend(along(
            &ints.clone().reshape(pairs),
            &floats.clone().reshape(pairs),
            &bools.clone().reshape(pairs),
            axis,
        ));
    }
    all
}

fn along<B: Backend, const D: usize>(
    ints: &Tensor<B, D, Int>,
    floats: &Tensor<B, D>,
    bools: &Tensor<B, D, Bool>,
    axis: usize,
) -> Vec<TensorData> {
    vec![
        ints.clone().sum_dim(axis).into_data(),
        ints.clone().max_dim(axis).into_data(),
        ints.clone().mean_dim(axis).into_data(),
        floats.clone().sum_dim(axis).into_data(),
        (floats.clone().sum_dim(axis) + 1.0).into_data(),
        floats.clone().max_dim(axis).into_data(),
        floats.clone().argmax(axis).cast(burn::tensor::IntDType::I64).into_data(),
        (floats.clone() - floats.clone().sum_dim(axis)).into_data(),
        bools.clone().all_dim(axis).into_data(),
    ]
}

#[test]
fn every_axis_after_a_permutation() {
    for permutation in PERMUTATIONS {
        let what = format!("permuted by {permutation:?}");
        compare(&what, Exact, || reduced::<Flex>(permutation), || reduced::<MpsGraph>(permutation));
    }
}
