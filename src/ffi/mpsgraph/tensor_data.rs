//! `MPSGraphTensorData`: a buffer as the value of a feed or the place of a result.

use super::DataType;
use crate::ffi::metal::Buffer;
use crate::ffi::metal::claim::Claims;
use crate::ffi::metal::mtl_buffer::MTLBuffer;
use crate::ffi::objc::{Retained, autoreleasepool, objc_class, objc_methods};

objc_class!(
    /// A buffer with a shape and an element type.
    MPSGraphTensorData
);

// SAFETY: immutable after init as far as it is declared here, and it refers to nothing but its buffer, which any
// thread may use. MPSGraph reads the buffer on the GPU's time line, not through this object.
unsafe impl Send for MPSGraphTensorData {}
// SAFETY: as above.
unsafe impl Sync for MPSGraphTensorData {}

/// A buffer with a shape and an element type, retained. Keeps the buffer alive.
#[derive(Clone)]
pub(crate) struct TensorData {
    object: Retained<MPSGraphTensorData>,
    claims: Claims,
}

objc_methods! {
    "MPSGraphTensorData.h";
    impl MPSGraphTensorData {
        init fn with_buffer(buffer: &MTLBuffer, shape: &[usize], data_type: DataType)
            = "initWithMTLBuffer:shape:dataType:", since (11, 0);
    }
}

impl TensorData {
    /// The first bytes of `buffer` as packed elements in row-major order. The buffer must be long enough.
    pub(crate) fn new(buffer: &Buffer, shape: &[usize], data_type: DataType) -> Self {
        debug_assert!(
            shape.iter().product::<usize>() * data_type.size() <= buffer.length(),
            "a {data_type:?} tensor of shape {shape:?} does not fit into {} bytes",
            buffer.length()
        );
        let object = autoreleasepool(|| MPSGraphTensorData::with_buffer(buffer.object(), shape, data_type));
        Self { object, claims: buffer.claims().clone() }
    }

    pub(super) fn object(&self) -> &MPSGraphTensorData {
        &self.object
    }

    /// Who accesses the buffer.
    pub(super) fn claims(&self) -> &Claims {
        &self.claims
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    let buffer = crate::ffi::exercise::device().new_buffer(256).expect("there is memory");
    let data = TensorData::new(&buffer, &[4, 8], DataType::F32);
    drop(buffer);
    drop(data);
}
