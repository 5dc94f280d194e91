//! Methods that are not implemented: each panics with its own name.

use burn::tensor::TensorData;
use burn::tensor::ops::QTensorOps;
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use test_support::panic_message;

use crate::source::methods;

#[test]
fn the_text_names_the_method() {
    let text = panic_message("q_from_data", || MpsGraph::<f32>::q_from_data(TensorData::from([1.0]), &MpsGraphDevice));
    assert_eq!(text, "burn-mpsgraph: q_from_data is not implemented yet");
}

/// A transaction with quantized tensors ends as reading one does.
const ON_BEHALF_OF_ANOTHER: [(&str, &str); 1] = [("tr_execute", "q_into_data")];

#[test]
fn each_names_itself() {
    for method in methods() {
        let Some(said) = method.not_yet else { continue };
        let (name, file) = (method.name.as_str(), method.file);
        let itself = said == name || ON_BEHALF_OF_ANOTHER.contains(&(name, said.as_str()));
        assert!(itself, "{name} in src/backend/{file}.rs says that it is {said}");
    }
}
