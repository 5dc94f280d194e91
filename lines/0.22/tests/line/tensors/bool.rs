//! Bools.

use burn_backend::tensor::IndexingUpdateOp::Add;
use burn_tensor::{Bool, Device, Int, Tensor};

use super::{compare, methods, methods_of_pairs};

fn bools(device: &Device) -> Tensor<2, Bool> {
    Tensor::from_bool(
        burn_backend::TensorData::from([[true, false, true, true], [false; 4], [true; 4], [false, true, true, false]]),
        device,
    )
}

#[test]
fn each_element_and_rows() {
    methods!(bools; bool_not(), int(), float(), any(), all(), any_dim(0), any_dim(1), all_dim(0), all_dim(1));
    let turned = |device: &Device| bools(device).flip([0, 1]);
    methods_of_pairs!(bools, turned; bool_and, bool_or, bool_xor, equal, not_equal);
    methods!(bools; equal_scalar(true), not_equal_scalar(true));
}

#[test]
fn moves() {
    compare("moves", |device, results| {
        let [x, turned] = [bools(device), bools(device).flip([0, 1])];
        results.add(x.clone().repeat(&[2, 2]));
        results.add(Tensor::cat(vec![x.clone(), turned.clone()], 0));
        results.add(x.clone().slice(burn_tensor::s![..;-1, 0..4;2]));
        results.add(x.clone().slice_assign(burn_tensor::s![0..1, ..], turned.clone().slice([0..1, 0..4])));
        results.add(x.clone().select(1, Tensor::<1, Int>::from_ints([3, 0], device)));
        results.add(x.clone().gather(1, Tensor::<2, Int>::from_ints([[0, 1], [1, 1], [3, 2], [0, 0]], device)));
        results.add(x.clone().mask_where(turned.clone(), x.clone().bool_not()));
        results.add(x.clone().mask_fill(turned, true));
        results.add(x.clone().unfold::<3, _>(1, 2, 2));
        results.add(x.expand([2, 4, 4]));
    });
    compare("or", |device, results| {
        let at = Tensor::<2, Int>::from_ints([[1, 1], [0, 3], [2, 2], [0, 1]], device);
        let values = bools(device).slice([0..4, 1..3]);
        results.add(bools(device).scatter(1, at, values.clone(), Add));
        results.add(bools(device).select_assign(1, Tensor::<1, Int>::from_ints([1, 1], device), values, Add));
    });
    compare("masks", |device, results| {
        results.add(Tensor::<2, Bool>::triu_mask([3, 4], 1, device));
        results.add(Tensor::<2, Bool>::tril_mask([3, 4], -1, device));
        results.add(Tensor::<2, Bool>::diag_mask([3, 4], 0, device));
    });
}
