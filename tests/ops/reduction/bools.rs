//! `any` and `all` of bools.

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Tensor};

use crate::agreement::Tolerance::Exact;
use crate::agreement::{Layout, bools};

/// Results of a function of bools are all of one kind, so one table has both.
macro_rules! of_bools {
    ($($name:ident: $rank:literal |$x:ident| $body:expr;)+) => {$(
        #[test]
        fn $name() {
            fn case<B: Backend>(layout: Layout) -> Tensor<B, $rank, Bool> {
                let $x = bools::<B>(layout, 0);
                $body
            }
            for layout in Layout::ALL {
                agree!(Exact, case, layout);
            }
        }
    )+};
}

of_bools! {
    all: 1 |x| x.all();
    all_dim_0: 3 |x| x.all_dim(0);
    all_dim_1: 3 |x| x.all_dim(1);
    all_dim_2: 3 |x| x.all_dim(2);
    all_true: 1 |x| x.clone().bool_or(x.bool_not()).all();
    any: 1 |x| x.any();
    any_dim_0: 3 |x| x.any_dim(0);
    any_dim_1: 3 |x| x.any_dim(1);
    any_dim_2: 3 |x| x.any_dim(2);
    any_of_false: 1 |x| x.clone().bool_and(x.bool_not()).any();
}
