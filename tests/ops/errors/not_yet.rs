//! Methods that are not implemented: each panics with its own name.

use burn::tensor::Tensor;
use burn::tensor::ops::ModuleOps;
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use test_support::panic_message;

use crate::source::methods;

#[test]
fn the_text_names_the_method() {
    let x = || Tensor::<MpsGraph, 3>::ones([1, 1, 1], &MpsGraphDevice).into_primitive().tensor();
    let text = panic_message("conv", || MpsGraph::<f32>::conv1d_bias_backward(x(), x(), x()));
    assert_eq!(text, "burn-mpsgraph: conv1d_bias_backward is not implemented yet");
}

#[test]
fn each_names_itself() {
    for method in methods() {
        let Some(said) = method.not_yet else { continue };
        let (name, file) = (method.name.as_str(), method.file);
        assert!(said == name, "{name} in src/backend/{file}.rs says that it is {said}");
    }
}
