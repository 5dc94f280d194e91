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
    static CURRENT: OnceLock<(u64, u64)> = OnceLock::new();
    *CURRENT.get_or_init(|| {
        let version = autoreleasepool(|| NSProcessInfo::process_info().operating_system_version());
        // NSInteger by Apple's declaration; no version is negative.
        (version.major.unsigned_abs(), version.minor.unsigned_abs())
    })
}
