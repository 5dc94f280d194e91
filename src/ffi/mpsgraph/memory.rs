//! `MPSGraphMemoryOps.h`: where a graph's values come from. Left out: variables, which live in the graph's own memory.

use super::{DataType, MPSGraph, Tensor};
use crate::ffi::foundation::ns_string::NSString;
use crate::ffi::objc::objc_methods;

objc_methods! {
    "MPSGraphMemoryOps.h";
    impl MPSGraph {
        /// A tensor of the given bytes: packed elements of `data_type`, row-major.
        instance fn constant_with_data(data: &[u8], shape: &[usize], data_type: DataType) -> Tensor
            = "constantWithData:shape:dataType:", since (11, 0);

        /// A tensor of equal elements. 64-bit integers pass through f64, so only up to 2^53.
        instance fn constant_with_scalar(value: f64, shape: &[usize], data_type: DataType) -> Tensor
            = "constantWithScalar:shape:dataType:", since (11, 0);

        instance fn placeholder_with_name(shape: &[usize], data_type: DataType, name: Option<&NSString>) -> Tensor
            = "placeholderWithShape:dataType:name:", since (11, 0);
    }
}

impl MPSGraph {
    /// An input of the graph.
    pub(crate) fn placeholder(&self, shape: &[usize], data_type: DataType) -> Tensor {
        self.placeholder_with_name(shape, data_type, None)
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::exercise::check(|cases| {
        let graph = cases.graph.clone();
        let fed = cases.floats(&[2], &[1.0, 2.0]);
        let bytes: &[u8] = bytemuck::cast_slice(&[10.0_f32, 20.0]);
        let data = graph.constant_with_data(bytes, &[2], DataType::F32);
        let scalar = graph.constant_with_scalar(0.5, &[1], DataType::F32);
        let sum = graph.addition(&graph.addition(&fed, &data), &scalar);
        cases.gives(sum, &[2], &[11.5, 22.5]);
    });
}
