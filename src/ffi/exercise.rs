//! Every declaration of `ffi`, sent at least once, to Apple's frameworks or to `mpsgraph-soft`.
//!
//! Each header's file ends with its own `exercise`, which `headers!` makes a test of. Those of operations put them into
//! a graph with the values that they should give ([`Cases`]). [`every_declaration_is_sent`] compares what the exercises
//! send with what is declared, in both directions.

mod cases;

use std::collections::BTreeMap;
use std::process::Command;

pub(super) use cases::{Cases, check};

use super::{Device, contract, foundation, metal, mps, mpsgraph, objc, os_version};

/// The GPU; without one, the panic that ends tests where nothing can run them.
pub(super) fn device() -> Device {
    let found = crate::MpsGraphDevice::new();
    found.unwrap_or_else(|error| panic!("{error}"));
    Device::system_default().expect("it was there just now")
}

/// What is newer than the minimum is sent where the system has it, so this plays several systems, and the GPU of a
/// virtual Mac, which has no heaps.
#[test]
fn every_declaration_is_sent() {
    for (version, family) in [("14.0", "9"), ("14.4", "9"), ("15.0", "9"), ("27.0", "9"), ("15.0", "virtual")] {
        let run = Command::new(std::env::current_exe().expect("this test is a file"))
            .args(["--exact", "ffi::exercise::alone_in_its_process", "--include-ignored"])
            // The software runtime plays this system and GPU; Apple's frameworks do not look at it.
            .env("MPSGRAPH_SOFT_MACOS", version)
            .env("MPSGRAPH_SOFT_GPU_FAMILY", family)
            .env("BURN_MPSGRAPH_VERIFY", "1")
            .output()
            .expect("this test starts again");
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "macOS {version}, GPU {family}: {text}");
        assert!(text.contains("1 passed"), "macOS {version}, GPU {family}: {text}");
    }
}

/// Sends everything and compares with the declarations. The messages of other tests in the process would hide what no
/// exercise sends.
#[test]
#[ignore = "`every_declaration_is_sent` runs it, alone in its process"]
fn alone_in_its_process() {
    foundation::exercises::all();
    metal::exercises::all();
    mps::exercises::all();
    mpsgraph::exercises::all();

    let declared: BTreeMap<String, objc::Declaration> =
        contract::declarations().into_iter().map(|declared| (declared.name(), declared)).collect();
    let sent = objc::sent();
    let has_heaps = device().has_shared_heaps();
    let here = |name: &str, declared: &objc::Declaration| {
        let (major, minor) = declared.min_macos;
        os_version::at_least(major.into(), minor.into()) && (has_heaps || !name.to_lowercase().contains("heap"))
    };
    let unsent = declared.iter().filter(|(name, declared)| here(name, declared) && !sent.contains(name));
    let mut problems: Vec<String> = unsent
        .map(|(name, declared)| format!("{name}: declared, but the exercise of {} does not send it", declared.header))
        .collect();
    let undeclared = sent.iter().filter(|name| !declared.contains_key(*name));
    problems.extend(undeclared.map(|name| format!("{name}: sent, but declared by no file that a `headers!` lists")));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
