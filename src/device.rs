//! The device as Burn sees it.

use burn_backend::{DeviceId, DeviceOps};

use crate::bridge::{Runtime, Stats};
use crate::error::Error;

/// The system's default Metal device, or on systems without Metal its software counterpart. There is one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MpsGraphDevice;

impl MpsGraphDevice {
    /// The device, if there is one that can be used.
    ///
    /// `MpsGraphDevice::default()` names the device without looking for it; then the first operation panics with this
    /// error's text.
    ///
    /// # Errors
    /// [`Error::Device`] on an Apple system without a Metal device or older than macOS 14.
    pub fn new() -> Result<Self, Error> {
        Runtime::try_get().map(|_| Self)
    }

    /// Counters of all work since the process began.
    pub fn stats(&self) -> Stats {
        Runtime::get().stats()
    }

    /// Name of the device as the system gives it.
    pub fn name(&self) -> String {
        Runtime::get().device_name()
    }

    /// Submits what the calling thread and ended threads have recorded and waits until the device has nothing to do.
    ///
    /// # Errors
    /// The first device fault since the last call.
    pub fn sync(&self) -> Result<(), Error> {
        Runtime::get().sync()
    }

    /// Releases free buffers and compiled programs.
    pub fn memory_cleanup(&self) {
        Runtime::get().memory_cleanup();
    }
}

impl burn_std::device::Device for MpsGraphDevice {
    fn from_id(_id: DeviceId) -> Self {
        Self
    }

    fn to_id(&self) -> DeviceId {
        DeviceId::new(0, 0)
    }
}

impl DeviceOps for MpsGraphDevice {}
