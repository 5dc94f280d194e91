//! Parts of lowerings that several nodes of a program have in common, such as what an activation and its gradient
//! compute, or the tables of equal transforms.

use std::cell::RefCell;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::ffi;

#[derive(Default)]
pub(crate) struct Shared {
    /// What was computed from which tensor so far.
    computed: RefCell<HashMap<(&'static str, ffi::Tensor), ffi::Tensor, FixedState>>,
    /// Constants by what they are and their shape.
    constants: RefCell<HashMap<(String, Vec<usize>), ffi::Tensor, FixedState>>,
}

impl Shared {
    /// `what` of `x`: what `make` gives the first time.
    pub fn once(&self, what: &'static str, x: &ffi::Tensor, make: impl FnOnce() -> ffi::Tensor) -> ffi::Tensor {
        let known = self.computed.borrow().get(&(what, x.clone())).cloned();
        known.unwrap_or_else(|| {
            let made = make();
            self.computed.borrow_mut().insert((what, x.clone()), made.clone());
            made
        })
    }

    /// The constant of this shape that `what` describes wholly: what `make` gives the first time.
    pub fn constant(&self, what: String, shape: &[usize], make: impl FnOnce() -> ffi::Tensor) -> ffi::Tensor {
        self.constants.borrow_mut().entry((what, shape.to_vec())).or_insert_with(make).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::Shared;
    use crate::ffi::{DataType, Graph, autoreleasepool};

    #[test]
    fn equal_constants_are_one() {
        autoreleasepool(check_constants);
    }

    fn check_constants() {
        let (graph, shared, mut made) = (Graph::new(), Shared::default(), 0);
        let mut constant = |what: &str, shape: &[usize]| {
            shared.constant(what.to_string(), shape, || {
                made += 1;
                graph.constant_with_scalar(1.0, shape, DataType::F32)
            })
        };
        let first = constant("ones", &[2, 3]);
        assert!(constant("ones", &[2, 3]) == first);
        assert!(constant("ones", &[3, 2]) != first && constant("others", &[2, 3]) != first);
        assert_eq!(made, 3);
    }
}
