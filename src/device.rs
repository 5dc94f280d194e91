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

    /// Submits what every thread has recorded, without waiting for it.
    ///
    /// A read does this for what it needs. Calling it earlier bounds the memory that recorded ops hold back, and lets
    /// the device begin.
    pub fn flush(&self) {
        Runtime::get().flush_all();
    }

    /// Submits what every thread has recorded and waits until the device has nothing to do.
    ///
    /// # Errors
    /// The first failure since the last call: a device fault, or work that could not be submitted.
    pub fn sync(&self) -> Result<(), Error> {
        Runtime::get().sync()
    }

    /// Releases free buffers, and what recorded ops hold back that no tensor can ask for any more. Compiled programs
    /// stay: see [`clear_programs`](Self::clear_programs).
    pub fn memory_cleanup(&self) {
        Runtime::get().memory_cleanup();
    }

    /// Drops all compiled programs. They are compiled again when they are needed.
    pub fn clear_programs(&self) {
        Runtime::get().clear_programs();
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
