//! NaN and infinities in reductions: NaN wins. burn-flex's whole-tensor max and min skip it, so the values are written
//! down here.

use burn::tensor::{Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::FLOATS;
use test_support::Tolerance::Exact;

use crate::compare::assert_gives;

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// Name and function of each reduction to one number, and its value for each line of `LINES`.
type Reduction = (&'static str, fn(Tensor<MpsGraph, 1>) -> Tensor<MpsGraph, 1>, [f32; 5]);

const LINES: [[f32; 4]; 5] =
    [[1.0, NAN, 3.0, 2.0], [NAN, NAN, NAN, NAN], [INF, 1.0, -INF, 0.0], [INF, 2.0, INF, 1.0], [-INF, NAN, INF, 0.5]];

const REDUCTIONS: [Reduction; 6] = [
    ("max", Tensor::max, [NAN, NAN, INF, INF, NAN]),
    ("min", Tensor::min, [NAN, NAN, -INF, 1.0, NAN]),
    ("max_abs", Tensor::max_abs, [NAN, NAN, INF, INF, NAN]),
    ("sum", Tensor::sum, [NAN, NAN, NAN, INF, NAN]),
    ("mean", Tensor::mean, [NAN, NAN, NAN, INF, NAN]),
    ("prod", Tensor::prod, [NAN, NAN, NAN, INF, NAN]),
];

#[test]
fn whole_tensors() {
    for dtype in FLOATS {
        for (name, function, values) in REDUCTIONS {
            for (line, value) in LINES.into_iter().zip(values) {
                let data = TensorData::from(line).convert_dtype(dtype);
                let expected = TensorData::from([value]).convert_dtype(dtype);
                let device = Default::default();
                let found = || function(Tensor::from_data(data.clone(), (&device, dtype))).into_data();
                assert_gives(&format!("{name} of {line:?} as {dtype:?}"), &expected, found, Exact);
            }
        }
    }
}

#[test]
fn indices_of_the_first_nan() {
    let lines = || Tensor::<MpsGraph, 2>::from_floats(LINES, &Default::default());
    let max = || lines().argmax(1).into_data();
    assert_gives("argmax", &TensorData::from([[1], [0], [0], [0], [1]]), max, Exact);
    let min = || lines().argmin(1).into_data();
    assert_gives("argmin", &TensorData::from([[1], [0], [2], [3], [1]]), min, Exact);
}

#[test]
fn mean_of_nothing_is_nan() {
    // burn-flex panics for whole tensors; PyTorch and NumPy give NaN.
    let empty = || Tensor::<MpsGraph, 2>::zeros([2, 0], &Default::default());
    assert_gives("mean", &TensorData::from([NAN]), || empty().mean().into_data(), Exact);
    assert_gives("mean_dim", &TensorData::from([[NAN], [NAN]]), || empty().mean_dim(1).into_data(), Exact);
}
