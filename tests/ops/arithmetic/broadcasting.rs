//! Operands of two shapes: extents of 1 broadcast, on either side and on both.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use test_support::Layout;
use test_support::Tolerance::Exact;

use crate::compare::Results;

cases! {
    given([DType::F32], [Layout::Contiguous], Exact) {
        of_floats = |_layout, _dtype| of_pairs(floats_of::<B>);
        comparisons = |_layout, _dtype| of_pairs(comparison_of::<B>);
        choices = |_layout, _dtype| of_pairs(choice_of::<B>);
        ranks_one_to_six = |_layout, _dtype| ranks::<B>();
    }

    given([DType::I32], [Layout::Contiguous], Exact) {
        of_ints = |_layout, _dtype| of_pairs(ints_of::<B>);
    }
}

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

/// What `of` makes of each pair of shapes.
fn of_pairs<T: Results>(of: fn(([usize; 3], [usize; 3])) -> T) -> Vec<TensorData> {
    PAIRS.into_iter().flat_map(|pair| of(pair).results()).collect()
}

fn ranks<B: Backend>() -> Vec<TensorData> {
    vec![sum::<B, 1>(), sum::<B, 2>(), sum::<B, 3>(), sum::<B, 4>(), sum::<B, 5>(), sum::<B, 6>()]
}

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
