//! Records: what one backend saves the other one loads.

use burn::module::Module;
use burn::record::{BinBytesRecorder, FullPrecisionSettings, HalfPrecisionSettings, PrecisionSettings, Recorder};
use burn::tensor::DType::F32;
use burn::tensor::TensorData;
use burn::tensor::backend::Backend;
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;

use super::training::Classifier;
use super::{LAYER, Numbers, of_numbers};
use crate::compare::compare;

fn classifier<B: Backend>() -> Classifier<B> {
    Classifier::new().map(&mut Numbers { dtype: F32, numbered: 0, names: Vec::new() })
}

fn saved<B: Backend, S: PrecisionSettings>() -> Vec<u8> {
    let recorder = BinBytesRecorder::<S>::default();
    recorder.record(classifier::<B>().into_record(), ()).expect("a record")
}

/// The results of a classifier that has the numbers of `bytes`.
fn loaded<B: Backend, S: PrecisionSettings>(bytes: Vec<u8>) -> Vec<TensorData> {
    let device = B::Device::default();
    let record = BinBytesRecorder::<S>::default().load(bytes, &device).expect("the record of a classifier");
    let numbers = (0..2 * 2 * 8 * 7).map(|i| (i * 37 % 65) as f32 / 16.0 - 2.0).collect();
    vec![Classifier::<B>::new().load_record(record).forward(of_numbers(numbers, [2, 2, 8, 7], F32)).into_data()]
}

#[track_caller]
fn of_precision<S: PrecisionSettings>(what: &str) {
    let (flex, ours) = (saved::<Flex, S>(), saved::<MpsGraph, S>());
    let expected = || loaded::<Flex, S>(flex.clone());
    compare(&format!("{what}, burn-flex's"), LAYER, expected, || loaded::<MpsGraph, S>(flex.clone()));
    compare(&format!("{what}, ours"), LAYER, expected, || loaded::<MpsGraph, S>(ours.clone()));
    compare(&format!("{what}, ours in burn-flex"), Exact, expected, || loaded::<Flex, S>(ours.clone()));
}

#[test]
fn full_precision() {
    of_precision::<FullPrecisionSettings>("full");
}

/// The numbers are of few bits, so nothing is lost.
#[test]
fn half_precision() {
    of_precision::<HalfPrecisionSettings>("half");
}
