//! Indices of every integer dtype, and more of them than small kernels see.

use burn::tensor::backend::Backend;
use burn::tensor::{BasicOps, DType, IndexingUpdateOp::Add, Int, Tensor, TensorData};
use test_support::Tolerance::Exact;
use test_support::{FLOATS, INTEGERS, Layout, distinct};

use super::indices;

cases! {
    given(INTEGERS, [Layout::Contiguous], Exact) {
        indices_of_every_integer_dtype = |_layout, dtype| by::<B>(dtype);
    }

    given(INTEGERS, [Layout::Contiguous], Exact) {
        integers_beside_axes_of_one_element = |_layout, dtype| beside_ones(|shape| {
            Tensor::<B, 3, Int>::from_data(distinct(shape, dtype), (&Default::default(), dtype))
        }, |x, at| x.gather(1, at), |x, at, values| x.scatter(1, at, values, Add));
    }

    given(FLOATS, [Layout::Contiguous], Exact) {
        floats_beside_axes_of_one_element = |_layout, dtype| beside_ones(|shape| {
            Tensor::<B, 3>::from_data(distinct(shape, dtype), (&Default::default(), dtype))
        }, |x, at| x.gather(1, at), |x, at, values| x.scatter(1, at, values, Add));
    }

    given([DType::I32, DType::I64, DType::U32, DType::U64], [Layout::Contiguous], Exact) {
        many_rows_move_exactly = |_layout, dtype| many_rows::<B>(dtype);
    }
}

/// Reads by indices of `dtype`.
fn by<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let device = B::Device::default();
    let x = Tensor::<B, 2, Int>::from_data(distinct([5, 3], DType::I64), (&device, DType::I64));
    vec![
        x.clone().gather(0, indices([4, 3], 5, dtype)).into_data(),
        x.clone().select(0, indices([6], 5, dtype)).into_data(),
        x.clone().take::<2, 3>(1, indices([2, 2], 3, dtype)).into_data(),
        x.gather_nd::<2, 1>(indices([4, 2], 3, dtype)).into_data(),
    ]
}

/// Reads and sums along axes beside which there are axes of one element, or which have one themselves. MPSGraph's
/// kernels do not count all of these.
fn beside_ones<B: Backend, K: BasicOps<B>>(
    make: impl Fn([usize; 3]) -> Tensor<B, 3, K>,
    read: impl Fn(Tensor<B, 3, K>, Tensor<B, 3, Int>) -> Tensor<B, 3, K>,
    add: impl Fn(Tensor<B, 3, K>, Tensor<B, 3, Int>, Tensor<B, 3, K>) -> Tensor<B, 3, K>,
) -> Vec<TensorData> {
    let shapes = [[1, 3, 1], [2, 3, 1], [1, 3, 2], [2, 1, 2], [1, 1, 2], [2, 1, 1], [1, 1, 1]];
    let results = |[outer, extent, inner]: [usize; 3], count: usize| {
        let at = || indices([outer, count, inner], extent, DType::I32);
        let x = || make([outer, extent, inner]);
        // Updates of one place by two values at most, so that no order of sums matters.
        [read(x(), at()), add(x(), at(), make([outer, count, inner]))].map(Tensor::into_data)
    };
    shapes.into_iter().flat_map(|shape| [1, 2].map(|count| results(shape, count))).flatten().collect()
}

fn many_rows<B: Backend>(dtype: DType) -> Vec<TensorData> {
    let device = B::Device::default();
    let x = Tensor::<B, 2, Int>::from_data(distinct([1000, 17], dtype), (&device, dtype));
    vec![
        x.clone().select(0, indices([3000], 1000, DType::I32)).into_data(),
        x.clone().gather(0, indices([500, 17], 1000, DType::I32)).into_data(),
        x.swap_dims(0, 1).gather(1, indices([17, 400], 1000, DType::I32)).into_data(),
    ]
}
