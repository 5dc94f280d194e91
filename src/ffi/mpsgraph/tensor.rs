//! `MPSGraphTensor`: a value inside a graph.

use super::DataType;
use crate::ffi::foundation::ns_array::NSArray;
use crate::ffi::objc::{CallSite, Object, Retained, Return, objc_class, objc_methods};

objc_class!(
    /// A value inside a graph; belongs to the graph whose method made it.
    MPSGraphTensor
);

/// A value inside a graph, retained.
pub(crate) type Tensor = Retained<MPSGraphTensor>;

objc_methods! {
    "MPSGraphTensor.h";
    impl MPSGraphTensor {
        /// Element type, as MPSGraph has inferred it.
        #[cfg(test)]
        instance fn data_type() -> DataType = "dataType", since (11, 0);
    }
}

/// The results of an operation that has several.
impl Return for Vec<Tensor> {
    type Raw = *mut Object;

    unsafe fn receive(raw: *mut Object, site: &'static CallSite) -> Self {
        // SAFETY: as our caller promises; Apple declares the result as an array.
        let array = unsafe { Retained::<NSArray>::receive(raw, site) };
        // SAFETY: the author of a row with this result type knows from Apple's header that the elements are tensors.
        unsafe { array.to_vec() }
    }
}

/// Tensors in an array that may be nil.
impl Return for Option<Vec<Tensor>> {
    type Raw = *mut Object;

    unsafe fn receive(raw: *mut Object, site: &'static CallSite) -> Self {
        // SAFETY: as our caller promises; Apple declares the result as an array.
        let array = unsafe { Option::<Retained<NSArray>>::receive(raw, site) };
        // SAFETY: as for a `Vec`.
        array.map(|array| unsafe { array.to_vec() })
    }
}

/// The results of an operation that has two.
impl Return for (Tensor, Tensor) {
    type Raw = *mut Object;

    unsafe fn receive(raw: *mut Object, site: &'static CallSite) -> Self {
        // SAFETY: as our caller promises.
        let mut tensors = unsafe { Vec::<Tensor>::receive(raw, site) }.into_iter();
        match (tensors.next(), tensors.next()) {
            (Some(first), Some(second)) => (first, second),
            _ => panic!("{site} returned fewer than two tensors"),
        }
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    let (graph, tensor) = crate::ffi::autoreleasepool(|| {
        let graph = super::Graph::new();
        let tensor = graph.placeholder(&[2, 3], DataType::F32);
        assert_eq!(tensor.clone(), tensor);
        // The graph owns the tensor too; both owners go in any order.
        (graph, tensor)
    });
    drop(graph);
    assert_eq!(tensor.data_type(), DataType::F32);
}
