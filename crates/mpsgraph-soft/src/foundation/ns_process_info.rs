//! `NSProcessInfo`: tells the version that the system that the runtime pretends to be says it has.

use std::sync::LazyLock;

use super::ns_string;
use crate::impl_encode;
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, new_object, version};

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSProcessInfo",
    superclass: Some(&super::ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (10, 0),
    instance: &[
        method0("operatingSystemVersion", operating_system_version).since(10, 10),
        method1("isOperatingSystemAtLeastVersion:", is_operating_system_at_least).since(10, 10),
        method0("operatingSystemVersionString", operating_system_version_string),
    ],
    class: &[method0("processInfo", process_info)],
};

/// A version in three numbers, as Apple lays it out.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NSOperatingSystemVersion {
    /// 14 of 14.5.1.
    pub major_version: isize,
    /// 5 of 14.5.1.
    pub minor_version: isize,
    /// 1 of 14.5.1.
    pub patch_version: isize,
}

impl_encode!(unsafe NSOperatingSystemVersion, "{?=qqq}");

/// A hash of this crate's sources, in place of the build of Apple's system.
const SOURCES: &str = env!("MPSGRAPH_SOFT_SOURCES");

struct Process;

/// The one instance; it lives as long as the process.
static SHARED: LazyLock<Strong> = LazyLock::new(|| new_object(&CLASS, Process));

fn current() -> NSOperatingSystemVersion {
    let (major, minor) = version::reported();
    NSOperatingSystemVersion { major_version: major as isize, minor_version: minor as isize, patch_version: 0 }
}

extern "C-unwind" fn process_info(_this: This<'_>, _cmd: Sel) -> Id {
    SHARED.id()
}

extern "C-unwind" fn operating_system_version(_this: This<'_>, _cmd: Sel) -> NSOperatingSystemVersion {
    current()
}

extern "C-unwind" fn is_operating_system_at_least(
    _this: This<'_>,
    _cmd: Sel,
    version: NSOperatingSystemVersion,
) -> bool {
    current() >= version
}

extern "C-unwind" fn operating_system_version_string(_this: This<'_>, _cmd: Sel) -> Id {
    let (major, minor) = version::reported();
    ns_string::string(&format!("Version {major}.{minor} (Build mpsgraph-soft {SOURCES})"))
}
