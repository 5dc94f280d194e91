//! `any` and `all` of bools.

use burn::tensor::{Bool, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;
use test_support::{BOOL, Layout, bools};

use crate::compare::assert_gives;

cases! {
    sweep(bools, [BOOL], Layout::PLAIN, Exact) {
        all = |x| x.all();
        all_dim_0 = |x| x.all_dim(0);
        all_dim_1 = |x| x.all_dim(1);
        all_dim_2 = |x| x.all_dim(2);
        all_true = |x| x.clone().bool_or(x.bool_not()).all();
        any = |x| x.any();
        any_dim_0 = |x| x.any_dim(0);
        any_dim_1 = |x| x.any_dim(1);
        any_dim_2 = |x| x.any_dim(2);
        any_of_false = |x| x.clone().bool_and(x.bool_not()).any();
        extreme_as_float = |x| x.clone().float().min_dim(0).bool().bool_or(x.float().max_dim(0).bool().bool_not());
        extreme_as_float_any = |x| x.float().min_dim(0).any_dim(1);
    }

    by_hand() {
        all = |x = [true, false]| x.all() => [false];
        all_dim = |x = [[true, false], [true, true]]| x.all_dim(1) => [[false], [true]];
        any = |x = [true, false]| x.any() => [true];
        any_dim = |x = [[true, false], [false, false]]| x.any_dim(1) => [[true], [false]];
    }
}

#[test]
fn of_nothing() {
    // burn-flex panics where an axis other than the reduced one is empty.
    let x = || bools::<MpsGraph>(Layout::Empty, BOOL, 0);
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
