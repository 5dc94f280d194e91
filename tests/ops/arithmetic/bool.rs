//! Logic of bools.

use burn::tensor::backend::Backend;
use burn::tensor::ops::BoolTensorOps;
use burn::tensor::{Bool, DType, Tensor, TensorData};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use test_support::Tolerance::Exact;
use test_support::{BOOL, Layout};

cases! {
    sweep(bools, [BOOL], Layout::ALL, Exact) {
        and = |x, y| x.bool_and(y);
        equal = |x, y| x.equal(y);
        equal_elem = |x, y| x.equal_elem(true).bool_or(y.equal_elem(false));
        mask_fill = |x, y| x.mask_fill(y, true);
        mask_where = |x, y| x.clone().mask_where(y, x.bool_not());
        not = |x, _y| x.bool_not();
        not_equal = |x, y| x.not_equal(y);
        not_equal_elem = |x, y| x.not_equal_elem(true).bool_and(y.not_equal_elem(false));
        or = |x, y| x.bool_or(y);
        xor = |x, y| x.bool_xor(y);
    }

    by_hand() {
        and = |x = [false, false, true, true], y = [false, true, false, true]| x.bool_and(y)
            => [false, false, false, true];
        equal = |x = [false, true], y = [false, false]| x.equal(y) => [true, false];
        not = |x = [false, true]| x.bool_not() => [true, false];
        or = |x = [false, false, true, true], y = [false, true, false, true]| x.bool_or(y)
            => [false, true, true, true];
        xor = |x = [false, false, true, true], y = [false, true, false, true]| x.bool_xor(y)
            => [false, true, true, false];
    }
}

#[test]
fn empties_zeros_ones_and_full() {
    fn case<B: Backend>(value: bool) -> Tensor<B, 2, Bool> {
        let device = B::Device::default();
        let made = Tensor::<B, 2, Bool>::full([2, 3], value, (&device, DType::Bool(burn::tensor::BoolStore::Native)));
        let zeros = Tensor::<B, 2, Bool>::zeros([2, 3], &device);
        Tensor::cat(vec![made, zeros, Tensor::ones([2, 3], &device)], 0)
    }
    agree!(Exact, case, false);
    agree!(Exact, case, true);
}

/// A router brings the data of a tensor of another backend with that one's store.
#[test]
fn data_of_other_stores() {
    use burn::tensor::BoolStore::{Native, U8, U32};
    let bools = [true, false, false, true];
    for store in [Native, U8, U32] {
        let data = TensorData::from(bools).convert_dtype(DType::Bool(store));
        let made = Tensor::<MpsGraph, 1, Bool>::from_primitive(<MpsGraph>::bool_from_data(data, &MpsGraphDevice));
        assert_eq!(made.bool_not().into_data(), TensorData::from(bools.map(|x| !x)), "{store:?}");
    }
}
