//! The macros of the tables. A file of a family has one `cases! { kind(settings) { name = |inputs| expression; … } }`
//! with any number of kinds; each line becomes a test of that name and a [`Case`](crate::case::Case), so a row of
//! `self_check` per dtype. An expression is a tensor over the backend `B`, or a `Vec` of them.

/// The kinds:
///
/// - `sweep(inputs, DTYPES, LAYOUTS, tolerance)`: inputs of rank 3 by `floats`, `ints` or `bools`, each other numbers
/// - `moves(LAYOUTS)`: a tensor of rank 3 of any dtype; `numbers(LAYOUTS, DTYPES)`: the same without bools
/// - `of_rank(RANK, SHAPE)`: a tensor of that rank, of any dtype
/// - `every_axis(tolerance)`: f32 of the ranks 1 to 6 and each of their axes
/// - `gradients(DTYPES, LAYOUTS, tolerance)`: the result and its gradient for a float tensor of rank 3; recorded
///   gradients are rewritten by patterns that may round otherwise
/// - `given(DTYPES, LAYOUTS, tolerance)`: layout and dtype, of which the expression makes its inputs itself; `sums` the
///   same where eager and recorded may sum in another order; `given_autodiff`, `sums_autodiff` where `B` is autodiff's
/// - `trained(DTYPES, tolerance)`: `name = |layer = (config), x = [2, 3], …| expression;`, what `config.init` makes and
///   float inputs of these shapes: the result, the gradients of every input and of every parameter
/// - `by_hand()`: `name = |x = [1.0, 2.0], …| expression => [numbers];`, all numbers in the line, no oracle; the name
///   is the op's; `gradients_by_hand()`: the gradient of the expression's sum for the first input
macro_rules! cases {
    ($($kind:ident($($setting:tt)*) { $($line:tt)* })*) => {
        pub fn cases() -> Vec<$crate::case::Case> {
            let mut all = Vec::new();
            $($kind! { all; $($setting)*; $($line)* })*
            all
        }
        $(tests! { $kind $($line)* })*
    };
}

/// The cases of a family that stands in several files.
macro_rules! modules {
    ($($module:ident)*) => {
        pub fn cases() -> Vec<$crate::case::Case> {
            [$($module::cases()),*].concat()
        }
    };
}

macro_rules! tests {
    (by_hand $($line:tt)*) => {
        #[cfg(test)]
        mod by_hand {
            line_tests! { $($line)* }
        }
    };
    (gradients_by_hand $($line:tt)*) => {
        #[cfg(test)]
        mod gradients_by_hand {
            line_tests! { $($line)* }
        }
    };
    ($kind:ident $($line:tt)*) => {
        line_tests! { $($line)* }
    };
}

macro_rules! line_tests {
    ($($name:ident = |$($input:ident $(= $value:tt)?),+| $body:expr $(=> $result:expr)?;)*) => {$(
        #[test]
        fn $name() {
            $crate::case::check(module_path!(), stringify!($name));
        }
    )*};
}

/// One line: its name (below a module, if one is given), where it runs, and both sides.
macro_rules! line {
    ($all:ident, [$($module:literal)? $name:ident], $dtypes:expr, $layouts:expr, $tolerance:expr, $eager:ident,
     $expected:expr, $found:expr) => {
        $all.push($crate::case::Case {
            path: concat!(module_path!(), "::", $($module, "::",)? stringify!($name)),
            dtypes: $dtypes.to_vec(),
            layouts: $layouts.to_vec(),
            tolerance: $tolerance,
            eager: $crate::compare::Eager::$eager,
            expected: $expected,
            found: $found,
        })
    };
}

macro_rules! sweep {
    ($all:ident; $make:ident, $dtypes:expr, $layouts:expr, $tolerance:expr;
     $($name:ident = |$($input:ident),+| $body:expr;)*) => {$({
        fn line_results<B: burn::tensor::backend::Backend>(
            layout: test_support::Layout,
            dtype: burn::tensor::DType,
        ) -> Vec<burn::tensor::TensorData> {
            let mut salts = 0..;
            $(let $input = test_support::$make::<B>(layout, dtype, salts.next().unwrap_or(0));)+
            $crate::compare::Results::results($body)
        }
        line!($all, [$name], $dtypes, $layouts, $tolerance, AsRecorded,
              line_results::<burn_flex::Flex>, line_results::<burn_mpsgraph::MpsGraph>);
    })*};
}

macro_rules! moves {
    ($all:ident; $layouts:expr; $($name:ident = |$x:ident| $body:expr;)*) => {$(
        of_any_kind!(
            $all, $layouts, test_support::DTYPES, [burn::tensor::BasicOps<B>], $name, $x, $body, layout, dtype,
            { burn::tensor::DType::Bool(_) => line_results(test_support::bools::<B>(layout, dtype, 0)), }
        );
    )*};
}

macro_rules! numbers {
    ($all:ident; $layouts:expr, $dtypes:expr; $($name:ident = |$x:ident| $body:expr;)*) => {$(
        of_any_kind!(
            $all, $layouts, $dtypes, [burn_backend::tensor::Ordered<B, Elem: burn::tensor::Element>], $name, $x, $body,
            layout, dtype, {}
        );
    )*};
}

/// A function over the kind of a tensor, for the kinds of the dtypes.
macro_rules! of_any_kind {
    ($all:ident, $layouts:expr, $dtypes:expr, [$($bound:tt)*], $name:ident, $x:ident, $body:expr,
     $layout:ident, $dtype:ident, { $($arm:tt)* }) => {{
        fn line_results<B: burn::tensor::backend::Backend, K: $($bound)*>(
            $x: burn::tensor::Tensor<B, 3, K>,
        ) -> Vec<burn::tensor::TensorData> {
            $crate::compare::Results::results($body)
        }
        fn of_kind<B: burn::tensor::backend::Backend>(
            $layout: test_support::Layout,
            $dtype: burn::tensor::DType,
        ) -> Vec<burn::tensor::TensorData> {
            match $dtype {
                $($arm)*
                _ if $dtype.is_float() => line_results(test_support::floats::<B>($layout, $dtype, 0)),
                _ => line_results(test_support::ints::<B>($layout, $dtype, 0)),
            }
        }
        line!($all, [$name], $dtypes, $layouts, test_support::Tolerance::Exact, AsRecorded,
              of_kind::<burn_flex::Flex>, of_kind::<burn_mpsgraph::MpsGraph>);
    }};
}

macro_rules! of_rank {
    ($all:ident; $rank:literal, $shape:expr; $($name:ident = |$x:ident| $body:expr;)*) => {$({
        use burn::tensor::{BasicOps, Bool, DType, Float, Int, Tensor, TensorData, backend::Backend};

        fn line_results<B: Backend, K: BasicOps<B>>(dtype: DType) -> Vec<TensorData> {
            let data = test_support::distinct($shape, dtype);
            let $x = Tensor::<B, $rank, K>::from_data(data, (&B::Device::default(), dtype));
            $crate::compare::Results::results($body)
        }
        fn of_kind<B: Backend>(_: test_support::Layout, dtype: DType) -> Vec<TensorData> {
            match dtype {
                DType::Bool(_) => line_results::<B, Bool>(dtype),
                _ if dtype.is_float() => line_results::<B, Float>(dtype),
                _ => line_results::<B, Int>(dtype),
            }
        }
        line!($all, [$name], test_support::DTYPES, [test_support::Layout::Contiguous], test_support::Tolerance::Exact,
              AsRecorded, of_kind::<burn_flex::Flex>, of_kind::<burn_mpsgraph::MpsGraph>);
    })*};
}

macro_rules! every_axis {
    ($all:ident; $tolerance:expr; $($name:ident = |$x:ident, $axis:ident| $body:expr;)*) => {$({
        use burn::tensor::{DType, Tensor, TensorData, backend::Backend};

        fn of_rank<B: Backend, const D: usize>() -> Vec<TensorData> {
            let shape: [usize; D] = std::array::from_fn(|axis| [2, 3, 1, 4, 2, 3][axis]);
            let number = |i| ((i * 37 + 5) % 67) as f32 / 8.0 - 4.0;
            let numbers: Vec<f32> = (0..shape.iter().product()).map(number).collect();
            let data = TensorData::new(numbers, shape);
            let along = |$axis| {
                let $x = Tensor::<B, D>::from_data(data.clone(), (&B::Device::default(), DType::F32));
                $body.into_data()
            };
            (0..D).map(along).collect()
        }
        fn line_results<B: Backend>(_: test_support::Layout, _: DType) -> Vec<TensorData> {
            [of_rank::<B, 1>, of_rank::<B, 2>, of_rank::<B, 3>, of_rank::<B, 4>, of_rank::<B, 5>, of_rank::<B, 6>]
                .into_iter()
                .flat_map(|of_rank| of_rank())
                .collect()
        }
        line!($all, [$name], [DType::F32], [test_support::Layout::Contiguous], $tolerance,
              AsRecorded, line_results::<burn_flex::Flex>, line_results::<burn_mpsgraph::MpsGraph>);
    })*};
}

macro_rules! gradients {
    ($all:ident; $dtypes:expr, $layouts:expr, $tolerance:expr; $($name:ident = |$x:ident| $body:expr;)*) => {$({
        fn line_results<B: burn::tensor::backend::AutodiffBackend>(
            layout: test_support::Layout,
            dtype: burn::tensor::DType,
        ) -> Vec<burn::tensor::TensorData> {
            let leaf = test_support::floats::<B>(layout, dtype, 0).require_grad();
            let $x = leaf.clone();
            $crate::compare::differentiate($body, |gradients| vec![$crate::compare::gradient(&leaf, gradients)])
        }
        line!($all, [$name], $dtypes, $layouts, $tolerance, AsExpected,
              line_results::<burn::backend::Autodiff<burn_flex::Flex>>,
              line_results::<burn::backend::Autodiff<burn_mpsgraph::MpsGraph>>);
    })*};
}

macro_rules! given {
    ($all:ident; $($rest:tt)*) => {
        made! { $all, AsRecorded, Backend, burn_flex::Flex, burn_mpsgraph::MpsGraph; $($rest)* }
    };
}

macro_rules! sums {
    ($all:ident; $($rest:tt)*) => {
        made! { $all, AsExpected, Backend, burn_flex::Flex, burn_mpsgraph::MpsGraph; $($rest)* }
    };
}

macro_rules! given_autodiff {
    ($all:ident; $($rest:tt)*) => {
        made! {
            $all, AsRecorded, AutodiffBackend, burn::backend::Autodiff<burn_flex::Flex>,
            burn::backend::Autodiff<burn_mpsgraph::MpsGraph>; $($rest)*
        }
    };
}

macro_rules! sums_autodiff {
    ($all:ident; $($rest:tt)*) => {
        made! {
            $all, AsExpected, AutodiffBackend, burn::backend::Autodiff<burn_flex::Flex>,
            burn::backend::Autodiff<burn_mpsgraph::MpsGraph>; $($rest)*
        }
    };
}

/// A function of layout and dtype that makes its inputs itself.
macro_rules! made {
    ($all:ident, $eager:ident, $backend:ident, $flex:ty, $ours:ty; $dtypes:expr, $layouts:expr, $tolerance:expr;
     $($name:ident = |$layout:ident, $dtype:ident| $body:expr;)*) => {$({
        fn line_results<B: burn::tensor::backend::$backend>(
            $layout: test_support::Layout,
            $dtype: burn::tensor::DType,
        ) -> Vec<burn::tensor::TensorData> {
            $crate::compare::Results::results($body)
        }
        line!($all, [$name], $dtypes, $layouts, $tolerance, $eager, line_results::<$flex>, line_results::<$ours>);
    })*};
}

/// burn-flex computes in f32, of the same numbers, what is compared with the results in any dtype.
macro_rules! trained {
    ($all:ident; $dtypes:expr, $tolerance:expr; $($name:ident = |$($part:ident = $value:tt),+| $body:expr;)*) => {$({
        fn line_results<B: burn::tensor::backend::AutodiffBackend>(
            _: test_support::Layout,
            dtype: burn::tensor::DType,
        ) -> Vec<burn::tensor::TensorData> {
            let mut parts = $crate::nn::Parts::<B>::new(dtype);
            $(let $part = part!(parts $value);)+
            parts.differentiate($body)
        }
        fn expected(layout: test_support::Layout, dtype: burn::tensor::DType) -> Vec<burn::tensor::TensorData> {
            let exact = line_results::<burn::backend::Autodiff<burn_flex::Flex>>(layout, burn::tensor::DType::F32);
            exact.into_iter().map(|data| data.convert_dtype(dtype)).collect()
        }
        line!($all, [$name], $dtypes, [test_support::Layout::Contiguous], $tolerance, AsExpected, expected,
              line_results::<burn::backend::Autodiff<burn_mpsgraph::MpsGraph>>);
    })*};
}

macro_rules! part {
    ($parts:ident ($config:expr)) => {
        $parts.layer($config.init::<B>(&Default::default()))
    };
    ($parts:ident $shape:expr) => {
        $parts.input($shape)
    };
}

macro_rules! by_hand {
    ($all:ident; ;
     $($name:ident = |$first:ident = $value:tt $(, $input:ident = $more:tt)*| $body:expr => $result:expr;)*) => {$({
        fn line_results<B: burn::tensor::backend::Backend>(
            _: test_support::Layout,
            dtype: burn::tensor::DType,
        ) -> Vec<burn::tensor::TensorData> {
            let $first = $crate::literal::Literal::tensor::<B>($value, dtype);
            $(let $input = $crate::literal::Literal::tensor::<B>($more, dtype);)*
            $crate::compare::Results::results($body)
        }
        written!($all, ["by_hand" $name], $value, $result, line_results::<burn_mpsgraph::MpsGraph>);
    })*};
}

macro_rules! gradients_by_hand {
    ($all:ident; ;
     $($name:ident = |$first:ident = $value:tt $(, $input:ident = $more:tt)*| $body:expr => $result:expr;)*) => {$({
        fn line_results<B: burn::tensor::backend::AutodiffBackend>(
            _: test_support::Layout,
            dtype: burn::tensor::DType,
        ) -> Vec<burn::tensor::TensorData> {
            let leaf = $crate::literal::Literal::tensor::<B>($value, dtype).require_grad();
            let $first = leaf.clone();
            $(let $input = $crate::literal::Literal::tensor::<B>($more, dtype);)*
            vec![$crate::compare::gradient(&leaf, &$body.sum().backward())]
        }
        written!($all, ["gradients_by_hand" $name], $value, $result,
                 line_results::<burn::backend::Autodiff<burn_mpsgraph::MpsGraph>>);
    })*};
}

/// A line with its result, of six digits, for the dtypes of its first input's kind.
macro_rules! written {
    ($all:ident, $path:tt, $value:tt, $result:expr, $found:expr) => {{
        fn expected(_: test_support::Layout, dtype: burn::tensor::DType) -> Vec<burn::tensor::TensorData> {
            vec![$crate::literal::Literal::data($result, dtype)]
        }
        line!(
            $all,
            $path,
            $crate::literal::dtypes(&$value),
            [test_support::Layout::Contiguous],
            test_support::Tolerance::Relative(1e-6),
            AsRecorded,
            expected,
            $found
        );
    }};
}
