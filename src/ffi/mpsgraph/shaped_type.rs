//! `MPSGraphShapedType`: shape and element type of a feed.

use super::DataType;
use crate::ffi::objc::{Retained, autoreleasepool, objc_class, objc_methods};

objc_class!(
    /// Shape and element type.
    MPSGraphShapedType
);

/// Shape and element type, retained.
pub(crate) type ShapedType = Retained<MPSGraphShapedType>;

objc_methods! {
    "MPSGraphCore.h";
    impl MPSGraphShapedType {
        init fn with_shape(shape: &[usize], data_type: DataType) = "initWithShape:dataType:", since (11, 0);
    }
}

impl ShapedType {
    /// `shape` has at least one extent, none of them 0.
    pub(crate) fn new(shape: &[usize], data_type: DataType) -> Self {
        autoreleasepool(|| MPSGraphShapedType::with_shape(shape, data_type))
    }
}

/// Every other exercise compiles with some.
#[cfg(test)]
pub(super) fn exercise() {
    drop(ShapedType::new(&[2, 3], DataType::F32));
}
