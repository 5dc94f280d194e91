//! `MPSDataType`: the element types that cross into MPSGraph.

use crate::ffi::objc::objc_enum;

objc_enum! {
    /// An element type. Complex, quantised and 64-bit floating types are not used here.
    enum DataType: u32 = "MPSDataType" {
        /// IEEE single.
        F32 = "MPSDataTypeFloat32" 0x1000_0020,
        /// IEEE half.
        F16 = "MPSDataTypeFloat16" 0x1000_0010,
        /// The upper half of an IEEE single.
        BF16 = "MPSDataTypeBFloat16" 0x9000_0010,
        I8 = "MPSDataTypeInt8" 0x2000_0008,
        I16 = "MPSDataTypeInt16" 0x2000_0010,
        I32 = "MPSDataTypeInt32" 0x2000_0020,
        I64 = "MPSDataTypeInt64" 0x2000_0040,
        U8 = "MPSDataTypeUInt8" 0x8,
        U16 = "MPSDataTypeUInt16" 0x10,
        U32 = "MPSDataTypeUInt32" 0x20,
        U64 = "MPSDataTypeUInt64" 0x40,
        /// One byte, 0 or 1.
        Bool = "MPSDataTypeBool" 0x8000_0008,
    }
}

impl DataType {
    /// Bytes per element.
    pub(crate) const fn size(self) -> usize {
        // The low byte of Apple's numbers is the width in bits.
        (self.code() & 0xff) as usize / 8
    }
}
