//! What `Method` points to in C: one registered method.

use std::ffi::{CString, c_void};
use std::sync::OnceLock;

use super::define::Method;

/// A method of a registered class; lives as long as the process.
pub(crate) struct MethodEntry {
    pub(crate) def: &'static Method,
    encoding: OnceLock<CString>,
}

impl MethodEntry {
    pub(crate) fn leak(def: &'static Method) -> &'static Self {
        Box::leak(Box::new(Self { def, encoding: OnceLock::new() }))
    }

    /// The whole type encoding, built on first use.
    pub(crate) fn encoding(&'static self) -> &'static std::ffi::CStr {
        self.encoding.get_or_init(|| CString::new(self.def.type_encoding()).expect("encodings hold no NUL"))
    }

    pub(crate) fn as_ptr(&'static self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}
