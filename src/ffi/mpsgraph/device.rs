//! `MPSGraphDevice`: a Metal device as MPSGraph wants it.

use crate::ffi::metal::Device;
use crate::ffi::metal::mtl_device::MTLDevice;
use crate::ffi::objc::{Retained, autoreleasepool, objc_class, objc_methods};

objc_class!(
    /// A device to compile for.
    MPSGraphDevice
);

// SAFETY: an immutable wrapper of a Metal device, which any thread may use.
unsafe impl Send for MPSGraphDevice {}
// SAFETY: as above.
unsafe impl Sync for MPSGraphDevice {}

/// A device to compile for, retained.
pub(crate) type GraphDevice = Retained<MPSGraphDevice>;

objc_methods! {
    "MPSGraphDevice.h";
    impl MPSGraphDevice {
        class fn with_metal_device(device: &MTLDevice) -> GraphDevice = "deviceWithMTLDevice:", since (11, 0);
    }
}

impl GraphDevice {
    /// The graph device of a GPU.
    pub(crate) fn new(device: &Device) -> Self {
        autoreleasepool(|| MPSGraphDevice::with_metal_device(device))
    }
}

/// Every other exercise compiles for one.
#[cfg(test)]
pub(super) fn exercise() {
    drop(GraphDevice::new(&crate::ffi::exercise::device()));
}
