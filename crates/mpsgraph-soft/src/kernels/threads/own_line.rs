//! What different threads write lies apart.

use std::ops::Deref;

/// A value that shares no cache line with another, so that writing it takes nothing else from another core. Some cores
/// fetch lines in pairs.
#[repr(align(128))]
pub struct OwnLine<T>(pub T);

impl<T> Deref for OwnLine<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
