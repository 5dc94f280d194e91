//! `LayerNorm` and its gradients. burn-flex computes 16-bit floats in 16 bits here and there, hence the tolerances.

use burn::backend::Autodiff;
use burn::module::Param;
use burn::nn::{LayerNorm, LayerNormConfig};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, TensorData};

use crate::agreement::{FLOATS, Layout, Tolerance, floats};
use crate::table::{compare, differentiate, gradient};

/// The output, and the gradients of input, scale and shift.
fn case<B: AutodiffBackend>(layout: Layout, dtype: DType, bias: bool) -> Vec<TensorData> {
    let input = floats::<B>(layout, dtype, 0).require_grad();
    let width = input.dims()[2];
    let row = |salt| floats::<B>(Layout::Contiguous, dtype, salt).reshape([30]).slice(0..width).require_grad();
    let mut module: LayerNorm<B> = LayerNormConfig::new(width).init(&input.device());
    module.gamma = Param::from_tensor(row(1));
    module.beta = bias.then(|| Param::from_tensor(row(2)));
    differentiate(module.forward(input.clone()), |gradients| {
        let mut all = vec![gradient(&input, gradients), gradient(&module.gamma.val(), gradients)];
        all.extend(module.beta.as_ref().map(|beta| gradient(&beta.val(), gradients)));
        all
    })
}

#[test]
fn layer_norm_and_its_gradients() {
    for layout in [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Empty] {
        for dtype in FLOATS {
            let tolerance = match dtype {
                DType::F32 => 1e-4,
                DType::F16 => 2e-2,
                _ => 1e-1,
            };
            for bias in [true, false] {
                compare(
                    &format!("layer_norm of {dtype:?}, {layout:?}, bias: {bias}"),
                    Tolerance::Relative(tolerance),
                    || case::<Autodiff<burn_flex::Flex>>(layout, dtype, bias),
                    || case::<Autodiff<burn_mpsgraph::MpsGraph>>(layout, dtype, bias),
                );
            }
        }
    }
}

/// A row without variance is its shift.
#[test]
fn layer_norm_of_equal_numbers() {
    fn case<B: burn::tensor::backend::Backend>(layout: Layout) -> Vec<TensorData> {
        let input = floats::<B>(layout, DType::F32, 0);
        let module: LayerNorm<B> = LayerNormConfig::new(input.dims()[2]).init(&input.device());
        vec![module.forward(input).into_data()]
    }
    for layout in [Layout::Broadcast, Layout::Single] {
        compare(
            &format!("layer_norm, {layout:?}"),
            Tolerance::Relative(1e-5),
            || case::<burn_flex::Flex>(layout),
            || case::<burn_mpsgraph::MpsGraph>(layout),
        );
    }
}
