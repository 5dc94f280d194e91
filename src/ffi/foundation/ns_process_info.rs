//! `NSProcessInfo`: the version of the system.

use super::ns_string::NSString;
use crate::ffi::objc::{CallSite, Retained, Return, impl_encode, objc_class, objc_methods};

objc_class!(
    /// The running process.
    NSProcessInfo
);

/// A macOS version.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NSOperatingSystemVersion {
    pub major: i64,
    pub minor: i64,
    pub patch: i64,
}

impl_encode! { NSOperatingSystemVersion = "{?=qqq}" }

impl Return for NSOperatingSystemVersion {
    type Raw = Self;

    unsafe fn receive(raw: Self, _: &'static CallSite) -> Self {
        raw
    }
}

objc_methods! {
    "NSProcessInfo.h";
    impl NSProcessInfo {
        /// This process.
        class fn process_info() -> Retained<NSProcessInfo> = "processInfo", since (10, 0);

        /// The system's version.
        instance fn operating_system_version() -> NSOperatingSystemVersion = "operatingSystemVersion", since (10, 10);

        /// Version and build for people, in their language.
        instance fn operating_system_version_string() -> Retained<NSString> = "operatingSystemVersionString",
            since (10, 0);
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    let version = crate::ffi::autoreleasepool(|| NSProcessInfo::process_info().operating_system_version());
    assert!(version.major >= 14, "{version:?}");
    let text = crate::ffi::os_version::text();
    assert!(text.contains(&version.major.to_string()), "{text}");
    let (major, minor) = crate::ffi::os_version::current();
    assert_eq!(version.minor as u64, minor);
    assert!(version.major as u64 == major || version.major as u64 + 10 == major, "{version:?} is taken for {major}");
}
