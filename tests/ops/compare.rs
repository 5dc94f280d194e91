//! Results of burn-flex, or numbers that a test knows, against this backend's: recorded, and with a program per op.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{BasicOps, DType, Tensor, TensorData};
use burn_mpsgraph::eagerly;
use test_support::{BOOL, Tolerance};

/// What a case returns: a tensor, or several.
pub trait Results {
    fn results(self) -> Vec<TensorData>;
}

impl<B: Backend, const D: usize, K: BasicOps<B>> Results for Tensor<B, D, K> {
    fn results(self) -> Vec<TensorData> {
        vec![self.into_data()]
    }
}

impl Results for TensorData {
    fn results(self) -> Vec<TensorData> {
        vec![self]
    }
}

impl<T: Results> Results for Vec<T> {
    fn results(self) -> Vec<TensorData> {
        self.into_iter().flat_map(Results::results).collect()
    }
}

/// What eager results are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eager {
    /// The recorded ones, bit for bit.
    AsRecorded,
    /// The expected ones, as the recorded are: a transposition that is recorded with the product that it feeds is a
    /// stride, by itself it is a copy, and the order of summation may depend on that. What is recorded together may be
    /// rewritten by a pattern whose roundings differ.
    AsExpected,
}

/// Fails unless every result of `flex` equals that of `ours`, recorded and eager.
#[track_caller]
pub fn compare(
    what: &str,
    tolerance: Tolerance,
    flex: impl FnOnce() -> Vec<TensorData>,
    ours: impl Fn() -> Vec<TensorData>,
) {
    compare_with(what, tolerance, Eager::AsRecorded, flex, ours);
}

/// [`compare`] where the order of summation may differ between recorded and eager.
#[track_caller]
pub fn compare_sums(
    what: &str,
    tolerance: Tolerance,
    flex: impl FnOnce() -> Vec<TensorData>,
    ours: impl Fn() -> Vec<TensorData>,
) {
    compare_with(what, tolerance, Eager::AsExpected, flex, ours);
}

#[track_caller]
pub fn compare_with(
    what: &str,
    tolerance: Tolerance,
    eager_as: Eager,
    flex: impl FnOnce() -> Vec<TensorData>,
    ours: impl Fn() -> Vec<TensorData>,
) {
    let _running = Running(what);
    let (flex, recorded, eager) = (flex(), ours(), eagerly(&ours));
    assert_eq!([flex.len(), recorded.len()], [recorded.len(), eager.len()], "{what}: count of results");
    assert!(!flex.is_empty(), "{what}: no results");
    for (i, ((flex, recorded), eager)) in flex.iter().zip(&recorded).zip(&eager).enumerate() {
        let expected = of_dtype(flex, recorded.dtype);
        assert_close(&format!("{what}, result {i}, recorded"), &expected, recorded, tolerance);
        match eager_as {
            Eager::AsRecorded => {
                let what = format!("{what}, result {i}, eager against recorded");
                assert_close(&what, recorded, eager, Tolerance::Exact);
            }
            Eager::AsExpected => {
                assert_close(&format!("{what}, result {i}, eager"), &expected, eager, tolerance);
            }
        }
    }
}

/// burn-flex reads bools with the kernels of u8 and forgets what they were.
pub fn of_dtype(flex: &TensorData, found: DType) -> TensorData {
    let forgotten = flex.dtype == DType::U8 && found == BOOL;
    if forgotten { flex.clone().convert_dtype(BOOL) } else { flex.clone() }
}

/// Fails unless `function`, which computes on this backend, gives `expected` recorded and eagerly.
#[track_caller]
pub fn assert_gives(what: &str, expected: &TensorData, function: impl Fn() -> TensorData, tolerance: Tolerance) {
    compare(what, tolerance, || vec![expected.clone()], || vec![function()]);
}

/// Fails unless `function` gives at `points`, rounded to each float dtype, what `exact` gives in f64.
#[track_caller]
pub fn assert_function(
    name: &str,
    function: fn(Tensor<burn_mpsgraph::MpsGraph, 1>) -> Tensor<burn_mpsgraph::MpsGraph, 1>,
    exact: fn(f64) -> f64,
    points: &[f64],
    tolerance: Tolerance,
) {
    for dtype in test_support::FLOATS {
        let points = TensorData::from(points).convert_dtype(dtype);
        let values: Vec<f64> = points.iter::<f64>().map(exact).collect();
        let expected = TensorData::from(values.as_slice()).convert_dtype(dtype);
        let device = Default::default();
        let found = || function(Tensor::from_data(points.clone(), (&device, dtype))).into_data();
        assert_gives(&format!("{name} of {dtype:?}"), &expected, found, tolerance);
    }
}

#[track_caller]
fn assert_close(what: &str, expected: &TensorData, found: &TensorData, tolerance: Tolerance) {
    let outcome = test_support::compare(expected, found, tolerance);
    assert!(
        outcome.agrees,
        "{what}: expected {}, found {} ({tolerance:?})\nexpected {expected}\n   found {found}",
        outcome.expected, outcome.got
    );
}

/// Names the case when a backend panics in it.
struct Running<'a>(&'a str);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("while running {}", self.0);
        }
    }
}

/// `output` weighted by position and summed, differentiated: the output, then what `gradients` picks.
pub fn differentiate<B: AutodiffBackend, const D: usize>(
    output: Tensor<B, D>,
    gradients: impl FnOnce(&B::Gradients) -> Vec<TensorData>,
) -> Vec<TensorData> {
    let (shape, dtype) = (output.shape(), output.dtype());
    let weights: Vec<f32> = (0..shape.num_elements()).map(|i| (i % 7) as f32 / 4.0 - 0.75).collect();
    let weights = TensorData::new(weights, shape).convert_dtype(dtype);
    let weights = Tensor::<B, D>::from_data(weights, (&output.device(), dtype));
    let value = output.clone().into_data();
    let mut all = gradients(&(output * weights).sum().backward());
    all.insert(0, value);
    all
}

/// The gradient of a leaf.
pub fn gradient<B: AutodiffBackend, const D: usize>(leaf: &Tensor<B, D>, of: &B::Gradients) -> TensorData {
    leaf.grad(of).expect("the leaf takes part in the output").into_data()
}

/// `agree!(tolerance, function, arguments…)`: runs `function::<Backend>(arguments…)`, which returns a tensor, on
/// burn-flex and on this backend.
#[cfg(test)]
macro_rules! agree {
    ($tolerance:expr, $function:ident $(, $argument:expr)* $(,)?) => {{
        let what = format!(
            concat!(stringify!($function), "(", $(stringify!($argument), " = {:?} ",)* ")"),
            $(&$argument),*
        );
        let flex = $function::<burn_flex::Flex>($($argument),*).into_data();
        let ours = || $function::<burn_mpsgraph::MpsGraph>($($argument),*).into_data();
        $crate::compare::assert_gives(&what, &flex, ours, $tolerance);
    }};
}
