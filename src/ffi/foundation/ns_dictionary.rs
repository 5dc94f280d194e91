//! `NSDictionary`: objects by object; MPSGraph takes its feeds as one.

use crate::ffi::objc::{Message, Object, Retained, objc_class, objc_methods};

objc_class!(
    /// An immutable mapping between objects.
    NSDictionary
);

objc_methods! {
    "NSDictionary.h";
    impl NSDictionary {
        unsafe_init fn with_entries(values: *const *mut Object, keys: *const *mut Object, count: usize)
            = "initWithObjects:forKeys:count:", since (10, 0);
    }
}

impl NSDictionary {
    /// A dictionary of the given (key, value) pairs. Foundation copies the keys (`NSCopying`): MPSGraph's tensors
    /// answer a copy with themselves.
    pub(crate) fn of<K: Message, V: Message>(entries: &[(&K, &V)]) -> Retained<Self> {
        let (keys, values): (Vec<*mut Object>, Vec<*mut Object>) =
            entries.iter().map(|(key, value)| (key.as_object(), value.as_object())).unzip();
        // SAFETY: both vectors have as many live, non-nil objects as their common length says.
        unsafe { Self::with_entries(values.as_ptr(), keys.as_ptr(), entries.len()) }
    }
}

/// Feeds are a dictionary: each placeholder has to get its own.
#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::exercise::check(|cases| {
        let (a, b) = (cases.floats(&[2], &[1.0, 2.0]), cases.floats(&[1], &[10.0]));
        let difference = cases.graph.subtraction(&a, &b);
        cases.gives(difference, &[2], &[-9.0, -8.0]);
    });
}
