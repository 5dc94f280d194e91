//! Methods that no graph holds: both backends are asked directly.

use burn_backend::ops::{FloatTensorOps, InterpolateMode, InterpolateOptions, ModuleOps};
use burn_backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn_backend::{Backend, FloatDType, Shape, TensorData, read_sync};
use burn_flex::{Flex, FlexDevice};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};

use super::program::same;

/// Data from a backend's methods, the same for both.
#[track_caller]
fn agree(ours: Vec<TensorData>, flex: Vec<TensorData>) {
    assert_eq!(ours.len(), flex.len());
    ours.iter().zip(&flex).for_each(|(ours, flex)| same(ours, flex));
}

fn numbers(shape: impl Into<Shape>) -> TensorData {
    let shape = shape.into();
    let values = (0..shape.num_elements()).map(|at| (at as f32 * 0.7).sin()).collect();
    TensorData::new::<f32, _>(values, shape)
}

fn float<B: Backend>(tensor: FloatTensor<B>) -> TensorData {
    read_sync(B::float_into_data(tensor)).expect("a value")
}

fn selected<B: Backend>(device: &B::Device) -> Vec<TensorData> {
    let mask = || B::bool_from_data(TensorData::from([[true, false, true], [false, false, true]]), device);
    let floats = B::float_from_data(TensorData::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]), device);
    let ints: IntTensor<B> = B::int_from_data(TensorData::from([[1, 2, 3], [4, 5, 6]]), device);
    let bools: BoolTensor<B> = B::bool_from_data(TensorData::from([[true, true, false], [true, true, true]]), device);
    vec![
        float::<B>(read_sync(B::float_mask_select(floats, mask()))),
        read_sync(B::int_into_data(read_sync(B::int_mask_select(ints, mask())))).expect("a value"),
        read_sync(B::bool_into_data(read_sync(B::bool_mask_select(bools, mask())))).expect("a value"),
    ]
}

#[test]
fn elements_under_a_mask() {
    let ours = selected::<MpsGraph>(&MpsGraphDevice);
    same(&ours[0], &TensorData::from([1.0f32, 3.0, 6.0]));
    same(&ours[2], &TensorData::from([true, false, true]));
    // Bools of burn-flex come back as bytes of another dtype.
    agree(ours[..2].to_vec(), selected::<Flex>(&FlexDevice)[..2].to_vec());
}

fn gradients<B: Backend>(device: &B::Device, dtype: FloatDType) -> Vec<TensorData> {
    let from = |data: TensorData| B::float_cast(B::float_from_data(data, device), dtype);
    let x = || from(numbers([2, 3, 4, 5, 6]));
    let mut results: Vec<TensorData> = [[1, 1, 1], [2, 3, 2], [4, 5, 6], [3, 2, 4], [5, 7, 3]]
        .into_iter()
        .map(|outputs| [&[2, 3][..], &outputs].concat())
        .map(|shape| float::<B>(B::adaptive_avg_pool3d_backward(x(), from(numbers(shape)))))
        .collect();
    let x = || from(numbers([4, 3, 5]));
    let of_channels = |shift: f32| B::float_add_scalar(from(numbers([3])), shift.into());
    let grads = B::batch_norm_train_backward(x(), of_channels(1.0), of_channels(0.0), of_channels(2.0), 1e-5, x());
    results.extend([grads.x_grad, grads.gamma_grad, grads.beta_grad].map(float::<B>));
    results
}

#[test]
fn gradients_of_volumes_and_batch_norms() {
    let ours = gradients::<MpsGraph>(&MpsGraphDevice, FloatDType::F32);
    agree(ours, gradients::<Flex>(&FlexDevice, FloatDType::F32));
}

/// burn-flex has no such mode: the pixel in which the middle of the new one lies, where the other takes its start.
#[test]
fn the_nearest_pixel_by_its_middle() {
    let row = || MpsGraph::float_from_data(TensorData::from([[[[0.0f32, 1.0, 2.0, 3.0, 4.0]]]]), &MpsGraphDevice);
    for (mode, expected) in
        [(InterpolateMode::Nearest, [0.0f32, 1.0, 3.0]), (InterpolateMode::NearestExact, [0.0, 2.0, 4.0])]
    {
        let resized = MpsGraph::interpolate(row(), [1, 3], InterpolateOptions::new(mode));
        same(&float::<MpsGraph>(resized), &TensorData::from([[[expected]]]));
    }
}

/// What the package to patch in gives burn-signal.
#[test]
fn spectra() {
    let signal = || numbers([3, 16]);
    let (re, im) = burn_mpsgraph::rfft(MpsGraph::float_from_data(signal(), &MpsGraphDevice), 1, None);
    let back = burn_mpsgraph::irfft(re.clone(), im.clone(), 1, None);
    let ours = [re, im, back].map(float::<MpsGraph>).to_vec();
    let (re, im) = burn_flex::ops::fft::rfft_f32(Flex::float_from_data(signal(), &FlexDevice), 1, None);
    let back = burn_flex::ops::fft::irfft_f32(re.clone(), im.clone(), 1, None);
    agree(ours, [re, im, back].map(float::<Flex>).to_vec());
}
