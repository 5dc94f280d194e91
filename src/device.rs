//! The device as Burn sees it.

use std::time::Duration;

use burn_backend::DeviceId;

use crate::bridge::{Runtime, Stats};
use crate::error::Error;
use crate::tables;

/// The system's default Metal device, or on systems without Metal its software counterpart. There is one device.
///
/// # Panics
/// Without a device that can be used, every method but [`new`](Self::new) and [`sync`](Self::sync), with the text of
/// `new`'s error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MpsGraphDevice;

impl MpsGraphDevice {
    /// The device, if there is one that can be used.
    ///
    /// `MpsGraphDevice::default()` names the device without looking for it; then the first operation panics with this
    /// error's text.
    ///
    /// # Errors
    /// [`Error::Device`] on an Apple system older than macOS 14, without a Metal device, whose GPU has memory of its
    /// own, as AMD's have in Macs with an Intel processor, or whose device gives no command queue.
    /// [`Error::Unsupported`] if an environment variable of this package has a value that makes no sense.
    pub fn new() -> Result<Self, Error> {
        Runtime::try_get().map(|_| Self)
    }

    /// Counters of all work since the process began.
    pub fn stats(&self) -> Stats {
        Runtime::get().stats()
    }

    /// Name of the device as the system gives it; `mpsgraph-soft` where the software runtime answers.
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

    /// Submits what the calling thread has recorded, without waiting for it, and leaves alone what others have.
    pub fn flush_thread(&self) {
        // The values that could not be made say so, and the next sync does.
        drop(Runtime::get().flush_thread());
    }

    /// Submits what every thread has recorded and waits until the device has nothing to do.
    ///
    /// # Errors
    /// The first failure since the last call: [`Error::Device`] for a device fault, [`Error::Hang`] for work that did
    /// not end, [`Error::OutOfMemory`] for work that found no memory. And those of [`new`](Self::new).
    pub fn sync(&self) -> Result<(), Error> {
        Runtime::try_get()?.sync()
    }

    /// Releases free buffers, what recorded ops hold back that no tensor can ask for any more, and tables that ops keep
    /// for the next op with the same attributes. Compiled programs stay: see
    /// [`clear_programs`](Self::clear_programs).
    pub fn memory_cleanup(&self) {
        // First, because their buffers become free ones.
        tables::release();
        Runtime::get().memory_cleanup();
    }

    /// Releases free buffers that are kept for reuse, and nothing else.
    pub fn clear_cache(&self) {
        Runtime::get().clear_cache();
    }

    /// Sets the most bytes that buffers with values may take; what would exceed it is
    /// [`Error::OutOfMemory`], and a panic with its text where a tensor is made of data. There is no limit at first
    /// (`u64::MAX`). Recorded ops hold about a quarter of it at most by themselves (see
    /// [`set_held_limit`](Self::set_held_limit)).
    pub fn set_memory_limit(&self, bytes: u64) {
        Runtime::get().set_memory_limit(bytes);
    }

    /// Sets the most bytes of free buffers that are kept for reuse; half of what the device recommends at first.
    pub fn set_cache_limit(&self, bytes: u64) {
        Runtime::get().pool().set_cache_limit(bytes);
    }

    /// Sets how many bytes the recorded ops of a thread, or of all threads that have ended, may hold although no tensor
    /// holds them any more, such as the batches of a sum over a data set; then they are submitted. They are counted
    /// when another quarter of that has been read, so up to a quarter more is held. At first 128 MiB, or a sixteenth of
    /// what the device recommends if that is less. At least four times the largest tensor among them may be held, so
    /// that an optimizer's update of a large weight stays one kernel.
    pub fn set_held_limit(&self, bytes: usize) {
        Runtime::get().set_held_limit(bytes);
    }

    /// Sets how long a read or `sync` waits while the device finishes no work, before everything that was submitted
    /// fails with [`Error::Hang`]; at least 10 milliseconds. 120 seconds at first, or `BURN_MPSGRAPH_WAIT_SECONDS`.
    pub fn set_wait_limit(&self, limit: Duration) {
        Runtime::get().set_wait_limit(limit);
    }

    /// Lets [`Stats::bytes_peak`] begin at the bytes that are live now.
    pub fn reset_peak(&self) {
        Runtime::get().pool().reset_peak();
    }

    /// The state of the random generator: a seed, and how often it was asked since. With
    /// [`set_random_state`](Self::set_random_state) a run that is resumed draws the same numbers.
    pub fn random_state(&self) -> [u64; 2] {
        Runtime::get().random_state()
    }

    /// Sets the state of the random generator to what [`random_state`](Self::random_state) gave.
    pub fn set_random_state(&self, state: [u64; 2]) {
        Runtime::get().set_random_state(state);
    }

    /// Drops all compiled programs. They are made again when they are needed: loaded, if they are kept on disk, or
    /// compiled.
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
