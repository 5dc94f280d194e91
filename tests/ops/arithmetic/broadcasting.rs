//! Operands of two shapes: extents of 1 broadcast, on either side and on both.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};

use crate::agreement::Tolerance::Exact;

const PAIRS: [([usize; 3], [usize; 3]); 7] = [
    ([2, 5, 3], [1, 5, 1]),
    ([1, 5, 1], [2, 5, 3]),
    ([2, 1, 3], [1, 5, 1]),
    ([1, 1, 1], [2, 5, 3]),
    ([2, 5, 3], [1, 1, 1]),
    ([2, 0, 3], [2, 1, 1]),
    ([1, 1, 1], [1, 0, 1]),
];

fn numbers<B: Backend>(shape: [usize; 3], from: i64) -> Tensor<B, 3, Int> {
    let count = shape.iter().product::<usize>() as i64;
    let data = TensorData::new((from..from + count).collect::<Vec<_>>(), shape);
    Tensor::from_data(data.convert_dtype(DType::I32), (&B::Device::default(), DType::I32))
}

fn floats_of<B: Backend>((a, b): ([usize; 3], [usize; 3])) -> Tensor<B, 3> {
    let (a, b) = (numbers::<B>(a, -4).float(), numbers::<B>(b, 2).float());
    a.clone() * b.clone() - b / (a + 100.0)
}

fn ints_of<B: Backend>((a, b): ([usize; 3], [usize; 3])) -> Tensor<B, 3, Int> {
    let (a, b) = (numbers::<B>(a, -4), numbers::<B>(b, 2));
    a.clone() * b.clone() - a.clone() / b.clone() + a.clone().bitwise_and(b.clone()) + a.remainder(b)
}

fn comparison_of<B: Backend>((a, b): ([usize; 3], [usize; 3])) -> Tensor<B, 3, burn::tensor::Bool> {
    let (a, b) = (numbers::<B>(a, 0), numbers::<B>(b, 2));
    a.clone().lower(b.clone()).bool_or(a.equal(b))
}

fn choice_of<B: Backend>((a, b): ([usize; 3], [usize; 3])) -> Tensor<B, 3> {
    let (a, b) = (numbers::<B>(a, -4).float(), numbers::<B>(b, 2).float());
    let shape = (a.clone() + b.clone()).shape();
    let mask = b.clone().greater_elem(4.0).expand(shape.clone());
    a.expand(shape.clone()).mask_where(mask, b.expand(shape))
}

#[test]
fn every_pair_of_shapes() {
    for pair in PAIRS {
        agree!(Exact, floats_of, pair);
        agree!(Exact, ints_of, pair);
        agree!(Exact, comparison_of, pair);
        agree!(Exact, choice_of, pair);
    }
}

#[test]
fn ranks_one_to_six() {
    fn sum<B: Backend, const D: usize>() -> TensorData {
        let device = B::Device::default();
        let (mut wide, mut thin) = ([2; D], [1; D]);
        wide[0] = 3;
        thin[D - 1] = 2;
        let count = wide.iter().product::<usize>() as i64;
        let a = Tensor::<B, 1, Int>::arange(0..count, &device).reshape(wide).float();
        let b = Tensor::<B, 1, Int>::arange(0..2, &device).float().reshape(thin);
        if D == 1 { (a.clone() + a).into_data() } else { (a + b).into_data() }
    }
    macro_rules! ranks {
        ($($rank:literal)+) => {$(
            let flex = sum::<burn_flex::Flex, $rank>();
            let ours = || sum::<burn_mpsgraph::MpsGraph, $rank>();
            crate::sweep::assert_gives(concat!("rank ", $rank), &flex, ours, Exact);
        )+};
    }
    ranks!(1 2 3 4 5 6);
}
