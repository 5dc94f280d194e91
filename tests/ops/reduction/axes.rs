//! Every axis of ranks one to six: beyond four, axes are collapsed.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;

use crate::agreement::Tolerance::{self, Exact, Ulps};
use crate::sweep::assert_gives;

const EXTENTS: [usize; 6] = [2, 3, 1, 4, 2, 3];

fn tensor<B: Backend, const D: usize>() -> Tensor<B, D> {
    let shape: [usize; D] = std::array::from_fn(|axis| EXTENTS[axis]);
    let count = shape.iter().product();
    let numbers: Vec<f32> = (0..count).map(|i| ((i * 37 + 5) % 67) as f32 / 8.0 - 4.0).collect();
    Tensor::from_data(TensorData::new(numbers, shape), (&B::Device::default(), DType::F32))
}

/// A reduction of `tensor` along an axis.
trait Along {
    const TOLERANCE: Tolerance = Exact;
    fn along<B: Backend, const D: usize>(x: Tensor<B, D>, axis: usize) -> TensorData;
}

macro_rules! ranks {
    ($($name:ident: $tolerance:expr, |$x:ident, $axis:ident| $body:expr;)+) => {$(
        #[test]
        fn $name() {
            struct Case;
            impl Along for Case {
                const TOLERANCE: Tolerance = $tolerance;
                fn along<B: Backend, const D: usize>($x: Tensor<B, D>, $axis: usize) -> TensorData {
                    $body.into_data()
                }
            }
            assert_every_axis::<Case, 1>();
            assert_every_axis::<Case, 2>();
            assert_every_axis::<Case, 3>();
            assert_every_axis::<Case, 4>();
            assert_every_axis::<Case, 5>();
            assert_every_axis::<Case, 6>();
        }
    )+};
}

fn assert_every_axis<C: Along, const D: usize>() {
    for axis in 0..D {
        let flex = C::along(tensor::<Flex, D>(), axis);
        let ours = || C::along(tensor::<MpsGraph, D>(), axis);
        assert_gives(&format!("axis {axis} of rank {D}"), &flex, ours, C::TOLERANCE);
    }
}

ranks! {
    all_dim: Exact, |x, axis| x.greater_elem(-3.0).all_dim(axis);
    any_dim: Exact, |x, axis| x.greater_elem(3.0).any_dim(axis);
    argmax: Exact, |x, axis| x.argmax(axis);
    argmin: Exact, |x, axis| x.argmin(axis);
    int_sum_dim: Exact, |x, axis| x.int().sum_dim(axis);
    max_dim: Exact, |x, axis| x.max_dim(axis);
    mean_dim: Ulps(1), |x, axis| x.mean_dim(axis);
    min_dim: Exact, |x, axis| x.min_dim(axis);
    prod_dim: Ulps(4), |x, axis| x.prod_dim(axis);
    sum_dim: Exact, |x, axis| x.sum_dim(axis);
}
