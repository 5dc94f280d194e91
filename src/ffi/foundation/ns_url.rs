//! `NSURL`: where packages of executables are.

use std::path::Path;

use super::ns_string::NSString;
use crate::ffi::objc::{Retained, objc_class, objc_methods};

objc_class!(
    /// A location; here always that of a file or folder.
    #[allow(clippy::upper_case_acronyms, reason = "Apple's name")]
    NSURL
);

objc_methods! {
    "NSURL.h";
    impl NSURL {
        class fn file_url_with_path(path: &NSString) -> Retained<NSURL> = "fileURLWithPath:", since (10, 0);
    }
}

impl NSURL {
    /// The URL of a file; `None` if its path is not text.
    pub(crate) fn of_file(path: &Path) -> Option<Retained<Self>> {
        Some(Self::file_url_with_path(&*NSString::of(path.to_str()?)?))
    }
}

/// Where it points to is checked by the packages of `MPSGraphExecutable`.
#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::autoreleasepool(|| assert!(NSURL::of_file(Path::new("/tmp")).is_some()));
}
