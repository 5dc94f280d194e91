//! Pooling of one and two axes, and its gradients.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor, TensorData};
use test_support::Layout;

mod adaptive;
mod averages;
#[cfg(test)]
mod differences;
mod maxima;
#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod precision;
mod special;

modules! { adaptive averages maxima special }

/// Every layout of [`images`].
const LAYOUTS: [Layout; 6] =
    [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Empty, Layout::Extreme];

/// Images of 6 by 5 elements with many equal ones, multiples of 1/4 that every float dtype holds exactly. The extreme
/// ones have infinities and signed zeros; `special` has NaN, on which burn-flex depends on the order.
fn images<B: Backend>(layout: Layout, dtype: DType) -> Tensor<B, 4> {
    let special = [f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY, -0.0, 0.0];
    let of = |shape: [usize; 4]| {
        let number = |i: usize| ((i * 37 + i / 5) % 11) as f32 / 4.0 - 1.25;
        let extreme = |i: usize| if i.is_multiple_of(3) { number(i) } else { special[i % 5] };
        let number = |i: usize| if layout == Layout::Extreme { extreme(i) } else { number(i) };
        let values: Vec<f32> = (0..shape.iter().product()).map(number).collect();
        let data = TensorData::new(values, shape).convert_dtype(dtype);
        Tensor::<B, 4>::from_data(data, (&B::Device::default(), dtype))
    };
    match layout {
        Layout::Contiguous | Layout::Extreme => of([2, 3, 6, 5]),
        Layout::Transposed => of([3, 2, 5, 6]).swap_dims(0, 1).swap_dims(2, 3),
        Layout::Sliced => of([3, 3, 7, 8]).slice([1..3, 0..3, 1..7, 2..7]),
        Layout::Broadcast => of([1, 3, 1, 5]).expand([2, 3, 6, 5]),
        Layout::Empty => of([0, 3, 6, 5]),
        Layout::Single => of([1, 1, 1, 1]),
    }
}

/// Rows of 30 elements, which are the same images.
fn rows<B: Backend>(layout: Layout, dtype: DType) -> Tensor<B, 3> {
    images::<B>(layout, dtype).flatten(2, 3)
}
