//! `NSError`, and the Rust value that is made of one.

use std::fmt;

use super::ns_dictionary::NSDictionary;
use super::ns_string::NSString;
use crate::ffi::objc::{Retained, autoreleasepool, objc_class, objc_methods};

objc_class!(
    /// An error of Apple's frameworks.
    NSError
);

objc_methods! {
    "NSError.h";
    impl NSError {
        // Frameworks make the errors that this crate meets; this is how its tests make one.
        #[cfg(test)]
        class fn with_domain(domain: &NSString, code: isize, user_info: Option<&NSDictionary>) -> Retained<NSError>
            = "errorWithDomain:code:userInfo:", since (10, 2);

        instance fn domain() -> Retained<NSString> = "domain", since (10, 2);
        instance fn code() -> isize = "code", since (10, 2);
        instance fn localized_description() -> Retained<NSString> = "localizedDescription", since (10, 2);
    }
}

/// What an `NSError` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NsError {
    /// Which family of codes, as in `MTLCommandBufferErrorDomain`.
    pub domain: String,
    /// The number within the domain.
    pub code: isize,
    /// Apple's text.
    pub description: String,
}

impl fmt::Display for NsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} {})", self.description, self.domain, self.code)
    }
}

impl From<&NSError> for NsError {
    fn from(error: &NSError) -> Self {
        autoreleasepool(|| Self {
            domain: error.domain().to_text(),
            code: error.code(),
            description: error.localized_description().to_text(),
        })
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    autoreleasepool(|| {
        let domain = crate::ffi::exercise::device().name_object();
        let error = NsError::from(&*NSError::with_domain(&domain, -7, None));
        assert_eq!((error.domain, error.code), (domain.to_text(), -7));
        assert!(!error.description.is_empty());
    });
}
