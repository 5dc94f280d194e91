//! The macOS version this process runs on (that the software runtime pretends to be, elsewhere).

use std::sync::OnceLock;

use super::foundation::ns_process_info::NSProcessInfo;
use super::objc::autoreleasepool;

/// Whether the system is macOS `major.minor` or newer: ask before sending a message that is newer than macOS 14.0.
pub(crate) fn at_least(major: u64, minor: u64) -> bool {
    current() >= (major, minor)
}

/// Major and minor version of the system.
pub(crate) fn current() -> (u64, u64) {
    let (major, minor) = reported();
    (true_major(major), minor)
}

/// The version that the system reports to this program.
pub(crate) fn reported() -> (u64, u64) {
    static REPORTED: OnceLock<(u64, u64)> = OnceLock::new();
    *REPORTED.get_or_init(|| {
        let version = autoreleasepool(|| NSProcessInfo::process_info().operating_system_version());
        // NSInteger by Apple's declaration; no version is negative.
        (version.major.unsigned_abs(), version.minor.unsigned_abs())
    })
}

/// The major version of the system that reports `major`.
///
/// macOS 26 reports 16 to programs that were linked with an older SDK, and would go on counting from there
/// (dotnet/runtime#116503, openjdk/jdk#25865, python/cpython#135675). There was never a macOS 16 to 19.
fn true_major(major: u64) -> u64 {
    match major {
        16..=19 => major + 10,
        _ => major,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_is_twenty_six() {
        assert_eq!([14, 15, 16, 17, 26, 27].map(true_major), [14, 15, 26, 27, 26, 27]);
    }
}
