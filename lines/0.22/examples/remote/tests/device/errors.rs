//! What a program sees of an operation that breaks its contract.

use std::process::Command;

use burn::tensor::{DType, Tensor, TensorData};

use crate::device;

/// Set for a process that runs one of the tests for another.
const CHILD: &str = "BURN_MPSGRAPH_TEST_CHILD";

#[test]
fn a_panic_says_why_ends_its_device_and_leaves_others() {
    if std::env::var_os(CHILD).is_none() {
        let program = std::env::current_exe().expect("its path");
        let name = "errors::a_panic_says_why_ends_its_device_and_leaves_others";
        let done =
            Command::new(program).args(["--exact", "--nocapture", name]).env(CHILD, "1").output().expect("it runs");
        let text = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{text}");
        assert!(text.contains("burn-remote-session") && text.contains("F64"), "{text}");
        return;
    }
    let (device, _turn) = device();
    let sound = Tensor::<1>::from_floats([1.0], &device);
    // Apple GPUs have no f64.
    let wrong = Tensor::<1>::from_data(TensorData::from([1.0f64]), (&device, DType::F64));
    let error = (wrong + 1.0).try_into_data().expect_err("f64 is refused");
    eprintln!("the read: {error}");
    let error = sound.try_into_data().expect_err("the device has ended");
    eprintln!("a later read: {error}");
    let other = burn_mpsgraph::session().expect("the server still runs");
    let sum = Tensor::<1>::from_floats([1.0, 2.0], &other).sum();
    assert_eq!(sum.into_scalar::<f32>(), 3.0);
}
