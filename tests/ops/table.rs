//! One line per op: macros that run it over every layout and dtype.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{BasicOps, BoolStore, DType, Shape, Tensor, TensorData};

use crate::agreement::{Layout, Tolerance, assert_agree, integer_data};

pub const BOOL: DType = DType::Bool(BoolStore::Native);

/// Every integer dtype.
pub const INTEGERS: [DType; 8] =
    [DType::I32, DType::I64, DType::I16, DType::I8, DType::U64, DType::U32, DType::U16, DType::U8];

/// Every dtype a tensor can have.
pub const DTYPES: [DType; 12] = [
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I32,
    DType::I64,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
    DType::U8,
    BOOL,
];

/// Every layout whose shape is \[2, 5, 3\].
pub const FULL: [Layout; 5] =
    [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Extreme];

/// These and one of shape \[1, 1, 1\]. What reshapes is not tried on an empty tensor: to `Tensor::reshape` an extent of
/// 0 means "as it was".
pub const FILLED: [Layout; 6] =
    [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Extreme, Layout::Single];

/// What a case returns: a tensor, or several.
pub trait Results {
    fn results(self) -> Vec<TensorData>;
}

impl<B: Backend, const D: usize, K: BasicOps<B>> Results for Tensor<B, D, K> {
    fn results(self) -> Vec<TensorData> {
        vec![self.into_data()]
    }
}

impl<T: Results> Results for Vec<T> {
    fn results(self) -> Vec<TensorData> {
        self.into_iter().flat_map(Results::results).collect()
    }
}

/// Fails unless every result of `flex` equals that of `ours`, recorded and eager.
#[track_caller]
pub fn compare(
    what: &str,
    tolerance: Tolerance,
    flex: impl FnOnce() -> Vec<TensorData>,
    ours: impl Fn() -> Vec<TensorData>,
) {
    let _running = Running(what);
    let (flex, recorded, eager) = (flex(), ours(), burn_mpsgraph::eagerly(&ours));
    assert_eq!([flex.len(), recorded.len()], [recorded.len(), eager.len()], "{what}: count of results");
    for (i, ((flex, recorded), eager)) in flex.iter().zip(&recorded).zip(&eager).enumerate() {
        // burn-flex reads bools with the kernels of u8 and forgets what they were.
        let flex = if flex.dtype == DType::U8 && recorded.dtype == BOOL {
            flex.clone().convert_dtype(BOOL)
        } else {
            flex.clone()
        };
        assert_agree(&format!("{what}, result {i}"), &flex, recorded, eager, tolerance);
    }
}

/// [`compare`] where the order of summation may differ between recorded and eager: a transposition that is recorded
/// with the product that it feeds is a stride, by itself it is a copy.
#[track_caller]
pub fn compare_sums(
    what: &str,
    tolerance: Tolerance,
    flex: impl FnOnce() -> Vec<TensorData>,
    ours: impl Fn() -> Vec<TensorData>,
) {
    let _running = Running(what);
    let (flex, recorded, eager) = (flex(), ours(), burn_mpsgraph::eagerly(&ours));
    assert_eq!([flex.len(), recorded.len()], [recorded.len(), eager.len()], "{what}: count of results");
    for (i, ((flex, recorded), eager)) in flex.iter().zip(&recorded).zip(&eager).enumerate() {
        let what = format!("{what}, result {i}");
        assert_agree(&what, flex, recorded, recorded, tolerance);
        assert_agree(&format!("{what}, eager"), flex, eager, eager, tolerance);
    }
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

/// Distinct elements: large integers that wrap around, multiples of 1/8, or no regular pattern of bools.
pub fn distinct(shape: impl Into<Shape>, dtype: DType) -> TensorData {
    let shape = shape.into();
    let count = shape.num_elements();
    if dtype.is_bool() {
        return TensorData::new((0..count).map(|i| i * i / 3 % 2 == 0).collect::<Vec<_>>(), shape);
    }
    if dtype.is_float() {
        let values: Vec<f32> = (0..count).map(|i| i as f32 / 8.0 - 3.0).collect();
        return TensorData::new(values, shape).convert_dtype(dtype);
    }
    let values: Vec<i128> = (0..count).map(|i| i as i128 * 1_000_000_007 - 16_777_217).collect();
    integer_data(&values, shape.to_vec(), dtype)
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

/// `moves! { LAYOUTS; name = |x| expression; … }`: ops on a tensor `x` of rank 3 that only move elements, on every
/// dtype; a test each. `numbers!` is the same for ops that bools do not have; dtypes may stand after the layouts.
#[macro_export]
macro_rules! moves {
    ($layouts:expr; $($name:ident = |$x:ident| $body:expr;)*) => {
        $($crate::case!($layouts, $crate::table::DTYPES, [burn::tensor::BasicOps<B>], $name, $x, $body, layout, {
            burn::tensor::DType::Bool(_) => case($crate::agreement::bools::<B>(layout, 0)),
        });)*
    };
}

#[macro_export]
macro_rules! numbers {
    ($layouts:expr; $($rest:tt)*) => {
        $crate::numbers! { $layouts, $crate::table::DTYPES[..11]; $($rest)* }
    };
    ($layouts:expr, $dtypes:expr; $($name:ident = |$x:ident| $body:expr;)*) => {
        $($crate::case!(
            $layouts, $dtypes, [burn_backend::tensor::Ordered<B, Elem: burn::tensor::Element>], $name, $x, $body, layout, {}
        );)*
    };
}

#[macro_export]
macro_rules! case {
    ($layouts:expr, $dtypes:expr, [$($bound:tt)*], $name:ident, $x:ident, $body:expr, $layout:ident, { $($arm:tt)* }) => {
        #[test]
        fn $name() {
            use burn::tensor::{DType, Tensor, TensorData, backend::Backend};

            use $crate::agreement::{Layout, Tolerance, floats, ints};
            use $crate::table::{Results, compare};

            fn case<B: Backend, K: $($bound)*>($x: Tensor<B, 3, K>) -> Vec<TensorData> {
                Results::results($body)
            }
            fn of_kind<B: Backend>($layout: Layout, dtype: DType) -> Vec<TensorData> {
                match dtype {
                    $($arm)*
                    _ if dtype.is_float() => case(floats::<B>($layout, dtype, 0)),
                    _ => case(ints::<B>($layout, dtype, 0)),
                }
            }
            for layout in $layouts {
                for &dtype in $dtypes.iter() {
                    let what = format!("{} of {dtype:?}, {layout:?}", stringify!($name));
                    compare(
                        &what,
                        Tolerance::Exact,
                        || of_kind::<burn_flex::Flex>(layout, dtype),
                        || of_kind::<burn_mpsgraph::MpsGraph>(layout, dtype),
                    );
                }
            }
        }
    };
}

/// `gradients! { tolerance, LAYOUTS; name = |x| expression; … }`: the op's result and its gradient for `x`, a float
/// tensor of rank 3; a test each.
#[macro_export]
macro_rules! gradients {
    ($tolerance:expr, $layouts:expr; $($rest:tt)*) => {
        $crate::gradients! { $tolerance, $layouts, $crate::agreement::FLOATS; $($rest)* }
    };
    ($tolerance:expr, $layouts:expr, $dtypes:expr; $($name:ident = |$x:ident| $body:expr;)*) => {$(
        #[test]
        fn $name() {
            use burn::backend::Autodiff;
            use burn::tensor::{DType, TensorData, backend::AutodiffBackend};

            use $crate::agreement::{Layout, floats};
            use $crate::table::{compare, differentiate, gradient};

            fn case<B: AutodiffBackend>(layout: Layout, dtype: DType) -> Vec<TensorData> {
                let leaf = floats::<B>(layout, dtype, 0).require_grad();
                let $x = leaf.clone();
                differentiate($body, |gradients| vec![gradient(&leaf, gradients)])
            }
            for layout in $layouts {
                for dtype in $dtypes {
                    let what = format!("{} of {dtype:?}, {layout:?}", stringify!($name));
                    compare(
                        &what,
                        $tolerance,
                        || case::<Autodiff<burn_flex::Flex>>(layout, dtype),
                        || case::<Autodiff<burn_mpsgraph::MpsGraph>>(layout, dtype),
                    );
                }
            }
        }
    )*};
}
