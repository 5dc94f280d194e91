//! Methods that are not implemented: each panics with its own name.

use burn::tensor::Tensor;
use burn::tensor::ops::{DeformConvOptions, ModuleOps};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use test_support::panic_message;

use crate::source::methods;

#[test]
fn the_text_names_the_method() {
    let x = || Tensor::<MpsGraph, 4>::ones([1, 1, 1, 1], &MpsGraphDevice).into_primitive().tensor();
    let options = DeformConvOptions::new([1, 1], [0, 0], [1, 1], 1, 1);
    let text = panic_message("conv", || MpsGraph::<f32>::deform_conv2d(x(), x(), x(), None, None, options.clone()));
    assert_eq!(text, "burn-mpsgraph: deform_conv2d is not implemented yet");
}

#[test]
fn each_names_itself() {
    for method in methods() {
        let Some(said) = method.not_yet else { continue };
        let (name, file) = (method.name.as_str(), method.file);
        assert!(said == name, "{name} in src/backend/{file}.rs says that it is {said}");
    }
}
