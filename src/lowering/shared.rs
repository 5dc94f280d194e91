//! Parts of lowerings that several nodes of a program have in common, such as an activation and its gradient.

use std::cell::RefCell;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::ffi;

/// What was computed from which tensor so far.
#[derive(Default)]
pub(crate) struct Shared(RefCell<HashMap<(&'static str, ffi::Tensor), ffi::Tensor, FixedState>>);

impl Shared {
    /// `what` of `x`: what `make` gives the first time.
    pub fn once(&self, what: &'static str, x: &ffi::Tensor, make: impl FnOnce() -> ffi::Tensor) -> ffi::Tensor {
        let known = self.0.borrow().get(&(what, x.clone())).cloned();
        known.unwrap_or_else(|| {
            let made = make();
            self.0.borrow_mut().insert((what, x.clone()), made.clone());
            made
        })
    }
}
