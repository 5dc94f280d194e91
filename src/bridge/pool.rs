//! Shared-storage buffers, reused by size class.
//!
//! A freed buffer may become the output of the next program at once: the one queue orders the writes after every
//! earlier use. The host may write into it only when the submissions that use it are done. Free buffers beyond the cap
//! are released, largest first; [`Pool::purge`] releases them all.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use super::stats::Stats;
use crate::dtype::data_type;
use crate::error::Error;
use crate::ffi;
use crate::lock::LockAnyway;
use crate::tensor_type::TensorType;

/// Serial number of a submission; 0 means "before the first".
pub(super) type Serial = u64;

/// A buffer that is free.
struct FreeBuffer {
    buffer: ffi::Buffer,
    shown: Option<Shown>,
    last_use: Serial,
}

/// The tensor data object last made for a buffer; programs that repeat use it again.
struct Shown {
    ty: TensorType,
    data: ffi::TensorData,
}

/// The device's buffers.
pub(super) struct Pool {
    device: ffi::Device,
    /// The most free bytes that the pool keeps.
    cap: usize,
    free: Mutex<Free>,
}

#[derive(Default)]
struct Free {
    classes: BTreeMap<usize, Vec<FreeBuffer>>,
    buffers_live: u64,
    bytes_live: u64,
    buffers_cached: u64,
    bytes_cached: u64,
    bytes_peak: u64,
}

/// A buffer in use; it goes back to the pool when dropped.
pub(super) struct Allocation {
    buffer: ffi::Buffer,
    shown: Mutex<Option<Shown>>,
    class: usize,
    pool: Arc<Pool>,
    last_use: AtomicU64,
    /// The submission that writes the buffer; 0 if the host filled it.
    pub written_by: AtomicU64,
    /// Set when that submission, or one that it depends on, failed.
    pub fault: OnceLock<Error>,
}

impl Pool {
    pub fn new(device: ffi::Device) -> Self {
        let cap = (device.recommended_max_working_set_size() / 2) as usize;
        Self { device, cap, free: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        self.free.lock_anyway()
    }

    /// A buffer of at least `bytes` for a program to write. Its contents are undefined.
    pub fn for_device(self: &Arc<Self>, bytes: usize) -> Result<Arc<Allocation>, Error> {
        self.take(bytes, |of_class| of_class.pop())
    }

    /// A buffer of at least `bytes` that no submission after `completed` uses, for the host to write.
    pub fn for_host(self: &Arc<Self>, bytes: usize, completed: Serial) -> Result<Arc<Allocation>, Error> {
        self.take(bytes, |of_class| {
            let at = of_class.iter().position(|free| free.last_use <= completed)?;
            Some(of_class.swap_remove(at))
        })
    }

    fn take(
        self: &Arc<Self>,
        bytes: usize,
        pick: impl FnOnce(&mut Vec<FreeBuffer>) -> Option<FreeBuffer>,
    ) -> Result<Arc<Allocation>, Error> {
        let class = size_class(bytes);
        let reused = {
            let mut free = self.lock();
            let reused = free.classes.get_mut(&class).and_then(pick);
            if reused.is_some() {
                free.buffers_cached -= 1;
                free.bytes_cached -= class as u64;
            }
            reused
        };
        let FreeBuffer { buffer, shown, last_use } = match reused {
            Some(reused) => reused,
            None => FreeBuffer { buffer: self.new_buffer(class)?, shown: None, last_use: 0 },
        };
        let mut free = self.lock();
        free.buffers_live += 1;
        free.bytes_live += class as u64;
        free.bytes_peak = free.bytes_peak.max(free.bytes_live);
        Ok(Arc::new(Allocation {
            buffer,
            shown: Mutex::new(shown),
            last_use: AtomicU64::new(last_use),
            class,
            pool: self.clone(),
            written_by: AtomicU64::new(0),
            fault: OnceLock::new(),
        }))
    }

    fn new_buffer(&self, class: usize) -> Result<ffi::Buffer, Error> {
        if let Some(buffer) = self.device.new_buffer(class) {
            return Ok(buffer);
        }
        self.purge();
        self.device.new_buffer(class).ok_or_else(|| {
            let free = self.lock();
            Error::Device {
                reason: format!(
                    "out of memory: a buffer of {class} bytes was refused with {} bytes in {} live buffers (the device \
                     recommends at most {}); drop tensors or use smaller batches",
                    free.bytes_live,
                    free.buffers_live,
                    self.device.recommended_max_working_set_size(),
                ),
            }
        })
    }

    /// Releases all free buffers.
    pub fn purge(&self) {
        let mut free = self.lock();
        free.buffers_cached = 0;
        free.bytes_cached = 0;
        let classes = std::mem::take(&mut free.classes);
        drop(free);
        drop(classes);
    }

    fn give_back(&self, class: usize, buffer: FreeBuffer) {
        let mut free = self.lock();
        free.buffers_live -= 1;
        free.bytes_live -= class as u64;
        free.buffers_cached += 1;
        free.bytes_cached += class as u64;
        free.classes.entry(class).or_default().push(buffer);
        while free.bytes_cached > self.cap as u64 {
            let Free { classes, buffers_cached, bytes_cached, .. } = &mut *free;
            let Some((&class, of_class)) = classes.iter_mut().rev().find(|(_, of_class)| !of_class.is_empty()) else {
                return;
            };
            of_class.pop();
            *buffers_cached -= 1;
            *bytes_cached -= class as u64;
        }
    }

    /// Writes the pool's counts of buffers and bytes into a reading.
    pub fn report(&self, stats: &mut Stats) {
        let free = self.lock();
        stats.buffers_live = free.buffers_live;
        stats.bytes_live = free.bytes_live;
        stats.buffers_cached = free.buffers_cached;
        stats.bytes_cached = free.bytes_cached;
        stats.bytes_peak = free.bytes_peak;
    }
}

impl Allocation {
    /// The buffer; its length is that of the size class.
    pub fn buffer(&self) -> &ffi::Buffer {
        &self.buffer
    }

    /// The buffer as packed tensor data of type `ty`.
    pub fn tensor_data(&self, ty: &TensorType) -> Result<ffi::TensorData, Error> {
        let mut shown = self.shown.lock_anyway();
        if let Some(Shown { ty: known, data }) = &*shown
            && known == ty
        {
            return Ok(data.clone());
        }
        let data = ffi::TensorData::new(&self.buffer, &ty.shape, data_type("bind", ty.dtype)?);
        *shown = Some(Shown { ty: ty.clone(), data: data.clone() });
        Ok(data)
    }

    /// Notes that submission `serial` reads or writes the buffer.
    pub fn used_by(&self, serial: Serial) {
        self.last_use.fetch_max(serial, Ordering::Relaxed);
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let shown = self.shown.lock_anyway().take();
        let last_use = *self.last_use.get_mut();
        self.pool.give_back(self.class, FreeBuffer { buffer: self.buffer.clone(), shown, last_use });
    }
}

/// `bytes` rounded up to 256, or to one of four steps between powers of two: at most a quarter is wasted.
fn size_class(bytes: usize) -> usize {
    let bytes = bytes.max(256);
    let step = (bytes.next_power_of_two() / 8).max(64);
    bytes.next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::size_class;

    #[test]
    fn a_size_class_holds_its_bytes_and_wastes_at_most_a_quarter() {
        for bytes in (1..5000).chain([1 << 20, (1 << 20) + 1, 401_408 * 4]) {
            let class = size_class(bytes);
            assert!(class >= bytes && (class <= 256 || class - bytes <= bytes / 4 + 64), "{bytes} -> {class}");
        }
        assert_eq!([1, 256, 257, 512, 1025].map(size_class), [256, 256, 320, 512, 1280]);
    }
}
