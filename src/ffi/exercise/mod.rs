//! Every declaration of `ffi`, sent at least once, to Apple's frameworks or to `mpsgraph-soft`.
//!
//! One file per header, named as the file that declares it. Operations go into one graph per header with the values
//! that they should give ([`Sheet`]); `round_trip` goes the whole way through the classes.
//! [`every_declaration_is_sent`] finds what none of them sends.

mod activation;
mod arithmetic;
mod gather;
mod matrix_multiplication;
mod memory;
mod normalization;
mod one_hot;
mod random;
mod reduction;
mod round_trip;
mod scatter_nd;
mod sheet;
mod tensor_shape;

use std::process::Command;

use super::{Device, autoreleasepool, contract, objc, os_version};
use sheet::Sheet;

/// The GPU; without one, the panic that ends tests where nothing can run them.
pub(super) fn device() -> Device {
    let found = crate::MpsGraphDevice::new();
    found.unwrap_or_else(|error| panic!("{error}"));
    Device::system_default().expect("it was there just now")
}

/// Which macOS the software runtime plays; Apple's systems do not look at it.
const PLAYED: &str = "MPSGRAPH_SOFT_MACOS";

/// Everything that the other tests here do, in one process.
fn exercise() {
    const HEADERS: [fn(&mut Sheet); 12] = [
        activation::fill,
        arithmetic::fill,
        arithmetic::fill_integers,
        gather::fill,
        matrix_multiplication::fill,
        memory::fill,
        normalization::fill,
        one_hot::fill,
        random::fill,
        reduction::fill,
        scatter_nd::fill,
        tensor_shape::fill,
    ];
    HEADERS.into_iter().for_each(sheet::check);
    round_trip::all();
}

#[test]
fn every_declaration_is_sent() {
    exercise();
    let sent = objc::sent();
    let unsent: Vec<String> = contract::declarations()
        .iter()
        .filter(|declared| {
            let (major, minor) = declared.min_macos;
            os_version::at_least(major.into(), minor.into())
        })
        .map(|declared| format!("{}[{} {}]", declared.kind.sign(), declared.owner, declared.selector))
        .filter(|name| !sent.contains(name))
        .collect();
    assert!(unsent.is_empty(), "no test sends these:\n{}", unsent.join("\n"));
}

/// What is newer than the minimum is sent where the system has it.
#[test]
fn every_declaration_is_sent_on_newer_systems() {
    for version in ["14.4", "15.0", "27.0"] {
        let run = Command::new(std::env::current_exe().expect("this test is a file"))
            .args(["--exact", "ffi::exercise::every_declaration_is_sent"])
            .env(PLAYED, version)
            .output()
            .expect("this test starts again");
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "macOS {version}: {text}");
        assert!(text.contains("1 passed"), "macOS {version}: {text}");
    }
}
