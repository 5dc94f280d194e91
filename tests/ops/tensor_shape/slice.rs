//! Parts of a tensor: any bounds and steps.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Slice, Tensor, TensorData, s};
use test_support::Tolerance::Exact;
use test_support::{FULL, Layout, distinct};

cases! {
    moves(FULL) {
        slice_ranges = |x| vec![
            x.clone().slice([0..2, 1..4, 1..3]),
            x.clone().slice(1..2),
            x.clone().slice(s![.., 2..]),
            x.clone().slice(s![-1.., ..-1, -2..-1]),
            x.slice(s![0, 3, 1]),
        ];
        slice_steps = |x| vec![
            x.clone().slice(s![.., ..;2, ..]),
            x.clone().slice(s![..;2, 1..;3, ..;2]),
            x.clone().slice(s![.., ..;-1, ..]),
            x.clone().slice(s![..;-1, 1..5;-2, ..;-3]),
            x.clone().slice(s![.., ..;9, ..;-9]),
            x.slice(s![.., 0..4;-3, 1..;-1]),
        ];
        slice_of_slice = |x| x.slice(s![.., 1.., ..;2]).slice(s![.., ..;-2, 1..]).slice(s![1..]);
        slice_to_nothing = |x| vec![
            x.clone().slice([0..0, 0..5, 0..3]),
            x.clone().slice([0..2, 3..3, 0..3]),
            x.clone().slice(s![.., 4..2, ..]),
            x.slice(s![.., .., 2..1;-1]),
        ];
        narrow = |x| vec![x.clone().narrow(0, 1, 1), x.clone().narrow(1, 1, 3), x.narrow(2, 0, 3)];
        slice_dim = |x| vec![x.clone().slice_dim(0, 1..2), x.clone().slice_dim(1, s![..;-2]), x.slice_dim(2, 1)];
        split = |x| vec![x.clone().split(2, 1), x.clone().split(5, 1), x.split(1, 0)];
        split_with_sizes = |x| vec![x.clone().split_with_sizes(vec![1, 3, 1], 1), x.split_with_sizes(vec![0, 2, 1], 2)];
        chunk = |x| vec![x.clone().chunk(2, 1), x.clone().chunk(3, 2), x.chunk(9, 0)];
        iter_dim = |x| x.iter_dim(1).collect::<Vec<_>>();
    }

    moves([Layout::Empty, Layout::Single]) {
        slice_of_little = |x| vec![
            x.clone().slice(s![0..1]),
            x.clone().slice(s![.., 0..0, ..]),
            x.slice(s![..;-1, .., ..;2]),
        ];
    }

    given([DType::I32], [Layout::Contiguous], Exact) {
        every_slice_of_an_axis = |_layout, _dtype| {
            let steps = [1, 2, 3, 4, 5, 9, -1, -2, -3, -4, -5, -9];
            steps.into_iter().flat_map(of_an_axis::<B>).collect::<Vec<TensorData>>()
        };
    }

    by_hand() {
        slice = |x = [[1, 2, 3, 4], [5, 6, 7, 8]]| x.slice(s![1.., ..;-2]) => [[8, 6]];
    }
}

/// Every start and end, the other axes taken whole.
fn of_an_axis<B: Backend>(step: isize) -> Vec<TensorData> {
    let x = Tensor::<B, 3, Int>::from_data(distinct([2, 5, 3], DType::I32), (&B::Device::default(), DType::I32));
    let ends = std::iter::once(None).chain((-6..=7).map(Some));
    let bounds = ends.flat_map(|end| (-6..=7).map(move |start| (start, end)));
    // One flat tensor: a read for each would be slow.
    let slices = bounds.map(|(start, end)| [Slice::full(), Slice::new(start, end, step)]);
    let parts: Vec<_> = slices.map(|slices| x.clone().slice(slices)).collect();
    let extents: Vec<i32> = parts.iter().map(|part| part.dims()[1] as i32).collect();
    let flat = parts.into_iter().filter(|part| part.dims()[1] > 0).map(|part| {
        let count = part.shape().num_elements();
        part.reshape([count])
    });
    vec![Tensor::cat(flat.collect(), 0).into_data(), TensorData::from(extents.as_slice())]
}
