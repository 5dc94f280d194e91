//! `any` and `all` of bools.

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;

use crate::agreement::Tolerance::Exact;
use crate::agreement::{Layout, bools};
use crate::sweep::assert_gives;

/// Results of a function of bools are all of one kind, so one table has both.
macro_rules! of_bools {
    ($($name:ident: $rank:literal |$x:ident| $body:expr;)+) => {$(
        #[test]
        fn $name() {
            fn case<B: Backend>(layout: Layout) -> Tensor<B, $rank, Bool> {
                let $x = bools::<B>(layout, 0);
                $body
            }
            for layout in Layout::PLAIN {
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

#[test]
fn of_nothing() {
    // burn-flex panics where an axis other than the reduced one is empty.
    let x = || bools::<MpsGraph>(Layout::Empty, 0);
    let gives = |what, expected: TensorData, found: fn(Tensor<MpsGraph, 3, Bool>) -> TensorData| {
        assert_gives(what, &expected, || found(x()), Exact);
    };
    gives("any", TensorData::from([false]), |x| x.any().into_data());
    gives("all", TensorData::from([true]), |x| x.all().into_data());
    gives("any_dim", TensorData::from([[[false; 3]]; 2]), |x| x.any_dim(1).into_data());
    gives("all_dim", TensorData::from([[[true; 3]]; 2]), |x| x.all_dim(1).into_data());
    let empty = |shape: [usize; 3]| TensorData::new(Vec::<bool>::new(), shape);
    gives("any_dim of another", empty([1, 0, 3]), |x| x.any_dim(0).into_data());
    gives("all_dim of another", empty([2, 0, 1]), |x| x.all_dim(2).into_data());
}
