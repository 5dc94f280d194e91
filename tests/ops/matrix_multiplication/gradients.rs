//! Gradients of products, for both operands.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor, TensorData, backend::AutodiffBackend};

use crate::agreement::{FLOATS, Tolerance};
use crate::table::{compare, differentiate, gradient};

/// Multiples of 1/4, whose short sums of products are exact in every order; the operands are views of the leaves.
fn case<B: AutodiffBackend, const D: usize>(dtype: DType, shapes: [[usize; D]; 2]) -> Vec<TensorData> {
    let leaf = |shape: [usize; D], salt: usize| {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|i| ((i * 5 + i / 3 + salt) % 13) as f32 / 4.0 - 1.5).collect();
        let data = TensorData::new(values, shape).convert_dtype(dtype);
        Tensor::<B, D>::from_data(data, (&B::Device::default(), dtype)).require_grad()
    };
    let [a, b] = [leaf(shapes[0], 1), leaf(shapes[1], 4)];
    let [x, y] = [&a, &b].map(|leaf| leaf.clone().flip([0]));
    differentiate(x.matmul(y), |gradients| vec![gradient(&a, gradients), gradient(&b, gradients)])
}

#[track_caller]
fn agree<const D: usize>(shapes: [[usize; D]; 2]) {
    type Flex = Autodiff<burn_flex::Flex>;
    type Ours = Autodiff<burn_mpsgraph::MpsGraph>;
    for dtype in FLOATS {
        let what = format!("gradients of {shapes:?} of {dtype:?}");
        let tolerance = Tolerance::Relative(if dtype == DType::F32 { 1e-5 } else { 2e-2 });
        let [a, b] = shapes;
        compare(&what, tolerance, || case::<Flex, D>(dtype, [a, b]), || case::<Ours, D>(dtype, [a, b]));
    }
}

#[test]
fn of_both_operands() {
    agree([[3, 4], [4, 2]]);
    agree([[1, 4], [4, 1]]);
    agree([[2, 3, 4], [2, 4, 5]]);
    agree([[2, 3, 4], [1, 4, 5]]);
    agree([[1, 3, 4], [2, 4, 5]]);
    agree([[2, 1, 3, 4], [1, 2, 4, 2]]);
    agree([[2, 1, 2, 2, 3], [1, 2, 2, 3, 2]]);
}
