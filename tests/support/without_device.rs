//! Tests of a system that cannot run this backend: an Apple system that is too old, without a Metal device, or with one
//! that has memory of its own. They end in success, with the reason on stderr, instead of failing one by one.
//!
//! The test harness cannot skip a test while it runs, so the first operation's panic with that error ends the process.

use std::io::Write;
use std::panic;

/// The beginnings of those errors of `MpsGraphDevice::new` that the system causes.
const BLAME: &str = "device: this system ";

// SAFETY: before `main` there is one thread, and all this does is to store a hook.
#[ctor::ctor(unsafe)]
fn watch() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        match panic.payload_as_str() {
            Some(reason) if reason.starts_with(BLAME) => {
                // Not `eprintln!`, because the harness may capture its text.
                let _ = writeln!(std::io::stderr(), "\nskipped: {reason}");
                std::process::exit(0);
            }
            _ => usual(panic),
        }
    }));
}

/// Set in a process that [`assert_skipped`] started.
const STARTED_AGAIN: &str = "BURN_MPSGRAPH_TEST_STARTED_AGAIN";

/// Starts the running test binary again as on such a system, and fails unless its tests are skipped. `test` is the path
/// of the test that calls this, and `device` names the device.
///
/// Each test binary has a test that calls this: a binary links only what it names, so without the test the hook would
/// be missing. Only the software runtime can play such a system; with a real device (`playable` is false) nothing is
/// started.
pub fn assert_skipped(test: &str, playable: bool, device: impl FnOnce() -> String) {
    if !playable {
        return;
    }
    if std::env::var_os(STARTED_AGAIN).is_some() {
        panic!("there is a device: {}", device());
    }
    for (variable, value, reason) in [
        ("MPSGRAPH_SOFT_MACOS", "13.6", "older than macOS 14"),
        ("MPSGRAPH_SOFT_GPU_FAMILY", "none", "no Metal device"),
        ("MPSGRAPH_SOFT_GPU_FAMILY", "discrete", "memory of its own"),
    ] {
        let run = std::process::Command::new(std::env::current_exe().expect("a test is a file"))
            .args([test, "--exact", "--test-threads", "1"])
            .env(STARTED_AGAIN, "1")
            .env(variable, value)
            .output()
            .expect("tests start again");
        let text = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{variable}={value}: {text}");
        assert!(text.contains("skipped: device: this system"), "{text}");
        assert!(text.contains(reason), "{text}");
    }
}
