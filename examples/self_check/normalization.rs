//! Layer normalization.

use burn::nn::LayerNormConfig;
use burn::tensor::DType;
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{close_floats, within};
use crate::table::{Trap, check};
use crate::values::{B, floats, noise};

pub const TRAPS: &[Trap] = &[check("layer norm of rows far from 0", far_from_zero)];

/// Rows of `width` with mean 0 and variance 1.
fn normalized(x: &[f64], width: usize) -> Vec<f64> {
    x.chunks(width)
        .flat_map(|row| {
            let mean = row.iter().sum::<f64>() / width as f64;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / width as f64;
            row.iter().map(move |x| (x - mean) / (variance + 1e-5).sqrt())
        })
        .collect()
}

fn of(dtype: DType, offset: f64, tolerance: crate::agreement::Tolerance) -> Outcome {
    let x: Vec<f64> = noise(2 * 5 * 96, 1).iter().map(|x| x + offset).collect();
    let layer = LayerNormConfig::new(96).init::<B>(&MpsGraphDevice);
    let layer = burn::module::Module::map(layer, &mut To(dtype));
    let got = layer.forward(floats(&x, [2, 5, 96], dtype));
    close_floats(&got.into_data(), &[2, 5, 96], &normalized(&x, 96), tolerance)
}

/// Casts parameters.
struct To(DType);

impl burn::module::ModuleMapper<B> for To {
    fn map_float<const D: usize>(
        &mut self,
        parameter: burn::module::Param<burn::tensor::Tensor<B, D>>,
    ) -> burn::module::Param<burn::tensor::Tensor<B, D>> {
        let dtype = self.0;
        parameter.map(|tensor| tensor.cast(dtype))
    }
}

fn far_from_zero() -> Outcome {
    of(DType::F32, 64.0, within(1e-4, 1e-4))
}
