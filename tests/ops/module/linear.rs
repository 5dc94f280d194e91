//! `Linear`.

use burn::backend::Autodiff;
use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, Tensor, TensorData};

use crate::agreement::{FLOATS, Layout, Tolerance, floats};
use crate::table::{compare, differentiate, gradient};

/// The output, and the gradients of input, weight and bias.
fn case<B: AutodiffBackend>(layout: Layout, dtype: DType, bias: bool) -> Vec<TensorData> {
    let input = floats::<B>(layout, dtype, 0).require_grad();
    let width = input.dims()[2];
    let weight = floats::<B>(Layout::Contiguous, dtype, 1).reshape([-1, 5]).slice([0..width, 0..4]).require_grad();
    let bias = bias.then(|| floats::<B>(Layout::Contiguous, dtype, 2).reshape([30]).slice(0..4).require_grad());
    let module = Linear { weight: Param::from_tensor(weight), bias: bias.map(Param::from_tensor) };
    differentiate(module.forward(input.clone()), |gradients| {
        let mut all = vec![gradient(&input, gradients), gradient(&module.weight.val(), gradients)];
        all.extend(module.bias.as_ref().map(|bias| gradient(&bias.val(), gradients)));
        all
    })
}

#[test]
fn linear_and_its_gradients() {
    for layout in Layout::ALL {
        // 16-bit sums of extreme numbers overflow in one order of summation and not in another.
        let dtypes = if layout == Layout::Extreme { &FLOATS[..1] } else { &FLOATS };
        for &dtype in dtypes {
            for bias in [true, false] {
                // burn-flex sums 16-bit floats in 16 bits.
                let tolerance = Tolerance::Relative(if dtype == DType::F32 { 1e-5 } else { 2e-2 });
                compare(
                    &format!("linear of {dtype:?}, {layout:?}, bias: {bias}"),
                    tolerance,
                    || case::<Autodiff<burn_flex::Flex>>(layout, dtype, bias),
                    || case::<Autodiff<burn_mpsgraph::MpsGraph>>(layout, dtype, bias),
                );
            }
        }
    }
}

#[test]
fn linear_of_other_ranks() {
    fn case<B: AutodiffBackend>(dtype: DType) -> Vec<TensorData> {
        let x = floats::<B>(Layout::Contiguous, dtype, 0);
        let weight = floats::<B>(Layout::Contiguous, dtype, 1).reshape([3, 10]);
        let module = Linear { weight: Param::from_tensor(weight), bias: None };
        let forward = |x: Tensor<B, 5>| module.forward(x).into_data();
        vec![
            module.forward(x.clone().reshape([10, 3])).into_data(),
            module.forward(x.clone().slice([0..1, 0..1]).reshape([3])).into_data(),
            forward(x.clone().reshape([2, 1, 5, 1, 3])),
            forward(x.reshape([5, 2, 1, 1, 3]).swap_dims(0, 1)),
        ]
    }
    for dtype in FLOATS {
        compare(
            &format!("linear of other ranks, {dtype:?}"),
            Tolerance::Relative(if dtype == DType::F32 { 1e-5 } else { 2e-2 }),
            || case::<Autodiff<burn_flex::Flex>>(dtype),
            || case::<Autodiff<burn_mpsgraph::MpsGraph>>(dtype),
        );
    }
}
