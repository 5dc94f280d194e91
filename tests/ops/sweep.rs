//! Tables of cases: a test per line, over dtypes and layouts; and checks against values that the test itself knows.

use burn::tensor::TensorData;
use burn_mpsgraph::eagerly;

use crate::agreement::{Tolerance, assert_agree};

/// A test per line: `name |inputs| expression;`, which must agree between burn-flex and this backend, recorded and
/// eagerly, for every given dtype and layout. The inputs come from the named function of `agreement`, each with other
/// numbers; the expression is a tensor over the backend `B`.
macro_rules! sweep {
    ($make:ident, $dtypes:expr, $layouts:expr, $tolerance:expr;
     $($name:ident |$($input:ident),+| $body:expr;)+) => {$(
        #[test]
        fn $name() {
            fn case<B: burn::tensor::backend::Backend>(
                layout: $crate::agreement::Layout,
                dtype: burn::tensor::DType,
            ) -> burn::tensor::TensorData {
                let mut salts = 0..;
                $(let $input = $crate::agreement::$make::<B>(layout, dtype, salts.next().unwrap_or(0));)+
                $body.into_data()
            }
            for dtype in $dtypes {
                for layout in $layouts {
                    let what = format!("{} of {dtype:?}, {layout:?}", stringify!($name));
                    let flex = case::<burn_flex::Flex>(layout, dtype);
                    $crate::sweep::assert_gives(
                        &what,
                        &flex,
                        || case::<burn_mpsgraph::MpsGraph>(layout, dtype),
                        $tolerance,
                    );
                }
            }
        }
    )+};
}

/// Fails unless `function`, which computes on this backend, gives `expected` recorded and eagerly.
#[track_caller]
pub fn assert_gives(what: &str, expected: &TensorData, function: impl Fn() -> TensorData, tolerance: Tolerance) {
    let recorded = function();
    let eager = eagerly(&function);
    assert_agree(what, expected, &recorded, &eager, tolerance);
}

/// Fails unless `mistake` panics with a message that has all of `parts`.
#[track_caller]
pub fn assert_refused<R>(parts: &[&str], mistake: impl FnOnce() -> R) {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(mistake));
    let payload = caught.err().unwrap_or_else(|| panic!("no panic that says {parts:?}"));
    let message = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("a payload that is no text");
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in: {message}");
    }
}
