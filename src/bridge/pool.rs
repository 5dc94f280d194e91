//! Shared-storage buffers, reused by size class.
//!
//! A freed buffer may become the output of the next program at once: the one queue orders the writes after every
//! earlier use. The host may write into it only when the submissions that use it are done. After a hang the order says
//! nothing any more, and no buffer is taken or released that work claims which has not ended. Free buffers are kept up
//! to the cache limit, and as long as they and the live ones stay below what the device recommends; then larger ones
//! are taken for smaller values, and the least recently used are released, once the device is done with them. Small
//! buffers share heaps.

mod allocation;
mod free;
mod size_class;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};

use allocation::Left;
pub(super) use allocation::{Allocation, BufferData};
use free::{Free, FreeBuffer, ProgressNow};
use size_class::size_class;

use super::heaps::Heaps;
use super::submission::Progress;
use crate::error::Error;
use crate::ffi;
use crate::lock::LockAnyway;
use crate::tensor_type::TensorType;

/// Serial number of a submission; 0 means "before the first".
pub(super) type Serial = u64;

/// The device's buffers.
pub(crate) struct Pool {
    device: ffi::Device,
    /// Bytes of the longest buffer.
    longest: usize,
    progress: Arc<Progress>,
    free: Mutex<Free>,
    /// Where small buffers come from.
    heaps: Mutex<Heaps>,
}

/// The pool's part of [`Stats`](super::stats::Stats).
pub(super) struct Levels {
    pub buffers_live: u64,
    pub bytes_live: u64,
    pub buffers_cached: u64,
    pub bytes_cached: u64,
    pub bytes_peak: u64,
    pub bytes_of_driver: u64,
    pub bytes_recommended: u64,
}

impl Pool {
    pub(super) fn new(device: ffi::Device, progress: Arc<Progress>) -> Self {
        let free = Free::new(device.recommended_max_working_set_size());
        let longest = device.max_buffer_length() as usize;
        Self { heaps: Mutex::new(Heaps::of(&device)), longest, device, progress, free: Mutex::new(free) }
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        self.free.lock_anyway()
    }

    /// How far the device has come.
    fn progress_now(&self) -> ProgressNow {
        ProgressNow {
            completed: self.progress.completed.load(Ordering::Acquire),
            after_hang: self.progress.hangs.load(Ordering::Acquire),
        }
    }

    /// A buffer for a value that a program writes. Its contents are undefined.
    pub(super) fn for_device(&'static self, ty: &TensorType) -> Result<Arc<Allocation>, Error> {
        let after_hang = self.progress_now().after_hang;
        self.take(ty, |free| !after_hang || !free.buffer.is_used_by_gpu())
    }

    /// A buffer for a value that no submission after `completed` uses, for the host to write.
    pub(super) fn for_host(&'static self, ty: &TensorType, completed: Serial) -> Result<Arc<Allocation>, Error> {
        self.take(ty, |free| free.last_use <= completed && !free.buffer.is_used_by_gpu())
    }

    fn take(&'static self, ty: &TensorType, may_be: impl Fn(&FreeBuffer) -> bool) -> Result<Arc<Allocation>, Error> {
        let wanted = size_class(ty.bytes(), self.longest);
        let mut free = self.lock();
        let (class, buffer) = match free.reuse(wanted, ty, may_be) {
            Some((class, buffer)) => (class, Some(buffer)),
            None => (wanted, None),
        };
        if free.bytes_live.saturating_add(class as u64) > free.memory_limit {
            let reason = format!(
                "{class} bytes on top of {} live ones exceed the limit of {} that was set; drop tensors, use smaller \
                 batches, or raise it (MpsGraphDevice::set_memory_limit)",
                free.bytes_live, free.memory_limit
            );
            if let Some(buffer) = buffer {
                free.keep(class, buffer);
            }
            return Err(Error::OutOfMemory { reason });
        }
        free.begin(class);
        if buffer.is_some() {
            free.note_peak();
        }
        let released = if buffer.is_none() { free.make_room(self.progress_now()) } else { Vec::new() };
        drop(free);
        release(released);
        let buffer = match buffer {
            Some(buffer) => buffer,
            None => match self.new_buffer(class) {
                Ok(buffer) => {
                    self.lock().note_peak();
                    FreeBuffer { buffer, left: Left::default(), last_use: 0, freed: 0 }
                }
                Err(error) => {
                    self.lock().end(class);
                    return Err(error);
                }
            },
        };
        Ok(Arc::new(Allocation::new(self, class, buffer)))
    }

    fn new_buffer(&self, class: usize) -> Result<ffi::Buffer, Error> {
        let small = self.heaps.lock_anyway().buffer(&self.device, class);
        small.or_else(|| self.device.new_buffer(class)).ok_or_else(|| {
            let free = self.lock();
            Error::OutOfMemory {
                reason: format!(
                    "the device refused a buffer of {class} bytes beside {} bytes in {} live buffers (it recommends at \
                     most {}); drop tensors or use smaller batches",
                    free.bytes_live - class as u64,
                    free.buffers_live - 1,
                    self.device.recommended_max_working_set_size(),
                ),
            }
        })
    }

    /// Releases all free buffers that the device is done with.
    pub fn purge(&self) {
        let released = self.lock().release_while(self.progress_now(), |_| true);
        release(released);
        self.heaps.lock_anyway().release_unused();
    }

    fn give_back(&self, class: usize, buffer: FreeBuffer) {
        let mut free = self.lock();
        free.end(class);
        free.keep(class, buffer);
        let released = free.make_room(self.progress_now());
        drop(free);
        release(released);
    }

    /// Sets the most bytes of live buffers; what would exceed it fails. `u64::MAX` is no limit.
    pub(super) fn set_memory_limit(&self, bytes: u64) {
        self.lock().memory_limit = bytes;
    }

    /// Sets the most bytes of free buffers that are kept.
    pub fn set_cache_limit(&self, bytes: u64) {
        let mut free = self.lock();
        free.cache_limit = bytes;
        let released = free.make_room(self.progress_now());
        drop(free);
        release(released);
    }

    /// Lets the peak begin at the bytes that are live now.
    pub fn reset_peak(&self) {
        let mut free = self.lock();
        free.bytes_peak = free.bytes_live;
    }

    /// How many buffers and bytes there are now.
    pub(super) fn levels(&self) -> Levels {
        let bytes_of_driver = self.device.current_allocated_size();
        let bytes_recommended = self.device.recommended_max_working_set_size();
        let free = self.lock();
        Levels {
            buffers_live: free.buffers_live,
            bytes_live: free.bytes_live,
            buffers_cached: free.buffers_cached,
            bytes_cached: free.bytes_cached,
            bytes_peak: free.bytes_peak,
            bytes_of_driver,
            bytes_recommended,
        }
    }
}

/// Releases buffers, which may autorelease parts of themselves, without holding a lock.
fn release(buffers: Vec<FreeBuffer>) {
    if !buffers.is_empty() {
        ffi::autoreleasepool(|| drop(buffers));
    }
}

#[cfg(test)]
mod tests;
