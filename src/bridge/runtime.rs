//! The device's runtime: the one device, its queue, buffers, compiled programs and counters.
//!
//! The work is in other files: `flush` submits, `transfer` moves host data.

use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use super::cache::Cache;
use super::config::Config;
use super::flush::{FlushReason, Submitter};
use super::generator::Generator;
use super::pool::Pool;
use super::recording::{Recording, current};
use super::stats::{Counters, Stats};
use super::submission::Queue;
use crate::dtype::data_type;
use crate::error::Error;
use crate::ffi::{self, GraphDevice};
use crate::lock::LockAnyway;
use crate::tensor_type::TensorType;

/// Bytes that a recording's values may take on any device.
const MIN_BYTES: usize = 1 << 30;
/// The most executables that are kept.
const MAX_PROGRAMS: usize = 256;

/// The one device with everything that belongs to it.
pub(crate) struct Runtime {
    device: ffi::Device,
    pub(super) config: Config,
    max_bytes: usize,
    submitter: Mutex<Submitter>,
    pub(super) queue: Queue,
    pub(super) pool: Arc<Pool>,
    pub(super) counters: Counters,
    generator: Mutex<Generator>,
    /// Recordings whose threads have ended, with values that tensors held then.
    adopted: Mutex<Vec<Arc<Recording>>>,
}

static RUNTIME: OnceLock<Result<Runtime, Error>> = OnceLock::new();

impl Runtime {
    /// The runtime, made on first use.
    ///
    /// # Errors
    /// [`Error::Device`] if the system has no Metal device or one that is too old; the answer stays the same.
    pub fn try_get() -> Result<&'static Runtime, Error> {
        RUNTIME.get_or_init(Runtime::new).as_ref().map_err(Clone::clone)
    }

    /// The runtime.
    ///
    /// # Panics
    /// With the error of [`Runtime::try_get`].
    #[track_caller]
    pub fn get() -> &'static Runtime {
        Runtime::try_get().unwrap_or_else(|error| error.raise())
    }

    fn new() -> Result<Self, Error> {
        ffi::autoreleasepool(|| {
            let fault = |reason: &str| Error::Device { reason: reason.into() };
            if !ffi::os_version::at_least(14, 0) {
                return Err(fault("this system is older than macOS 14, the first that MPSGraph is used on here"));
            }
            let device = ffi::Device::system_default().ok_or_else(|| fault("this system has no Metal device"))?;
            let queue = device.new_command_queue().ok_or_else(|| fault("the Metal device gave no command queue"))?;
            let working_set = device.recommended_max_working_set_size() as usize;
            let seed = foldhash::quality::RandomState::default().build_hasher().finish();
            Ok(Self {
                config: Config::from_env(),
                max_bytes: (working_set / 4).max(MIN_BYTES),
                submitter: Mutex::new(Submitter::new(
                    GraphDevice::new(&device),
                    Cache::new(MAX_PROGRAMS, (working_set / 4).max(MIN_BYTES)),
                )),
                queue: Queue::new(queue),
                pool: Arc::new(Pool::new(device.clone())),
                counters: Counters::default(),
                generator: Mutex::new(Generator::new(seed)),
                adopted: Mutex::default(),
                device,
            })
        })
    }

    pub(super) fn submitter(&self) -> MutexGuard<'_, Submitter> {
        self.submitter.lock_anyway()
    }

    pub(super) fn eager(&self) -> bool {
        self.config.eager
    }

    pub(super) fn count_recorded(&self) {
        self.counters.ops_recorded.add(1);
    }

    pub(super) fn over_bound(&self, ops: usize, bytes: usize) -> bool {
        ops >= self.config.max_ops || bytes >= self.max_bytes
    }

    /// Whether a tensor of type `ty` can exist on the device.
    pub(crate) fn check_size(&self, op: &'static str, ty: &TensorType) -> Result<(), Error> {
        let limit = |what: String| {
            Err(Error::Unsupported { op, reason: format!("{what} (shape {:?}, {:?})", ty.shape, ty.dtype) })
        };
        data_type(op, ty.dtype)?;
        if ty.shape.num_dims() > 16 {
            return limit(format!("rank {} where MPSNDArray has at most 16 dimensions", ty.shape.num_dims()));
        }
        let elements = ty.shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
        let Some(elements) = elements.filter(|&elements| elements < 1 << 31) else {
            return limit("2^31 or more elements; split the tensor".into());
        };
        let bytes = elements as u64 * ty.dtype.size() as u64;
        let most = self.device.max_buffer_length().min(1 << 32);
        if bytes > most {
            return limit(format!("{bytes} bytes where a buffer has at most {most}; split the tensor"));
        }
        Ok(())
    }

    /// Keeps the recording of a thread that ends until its values are flushed. As for a living thread, a flush goes up
    /// to the value that is asked for. The whole recording would be a new program each time, because how much a data
    /// loader's thread leaves behind depends on how fast it was.
    pub(super) fn adopt(&self, recording: Arc<Recording>) {
        self.adopted().push(recording);
    }

    pub(super) fn adopted(&self) -> MutexGuard<'_, Vec<Arc<Recording>>> {
        self.adopted.lock_anyway()
    }

    /// Submits what the calling thread and ended threads have recorded and waits until the device has nothing to do.
    ///
    /// # Errors
    /// The first device fault since the last call.
    pub fn sync(&self) -> Result<(), Error> {
        let adopted = std::mem::take(&mut *self.adopted());
        adopted.iter().for_each(|recording| self.flush(recording, None, FlushReason::Sync));
        self.flush(&current(), None, FlushReason::Sync);
        self.queue.sync(&self.counters)
    }

    /// Releases free buffers and compiled programs; values and recordings stay.
    pub fn memory_cleanup(&self) {
        ffi::autoreleasepool(|| {
            self.submitter().cache.clear();
            self.pool.purge();
        });
    }

    /// The counters as they are now.
    pub fn stats(&self) -> Stats {
        let c = &self.counters;
        let mut stats = Stats {
            ops_recorded: c.ops_recorded.get(),
            programs_compiled: c.programs_compiled.get(),
            cache_hits: c.cache_hits.get(),
            executions: c.executions.get(),
            commits: c.commits.get(),
            host_reads: c.host_reads.get(),
            waits: c.waits.get(),
            bytes_uploaded: c.bytes_uploaded.get(),
            bytes_read: c.bytes_read.get(),
            compile_time: Duration::from_nanos(c.compile_nanoseconds.get()),
            ..Stats::default()
        };
        {
            let submitter = self.submitter();
            stats.programs_cached = submitter.cache.len() as u64;
            stats.cache_evictions = submitter.cache.evictions;
        }
        self.pool.report(&mut stats);
        stats
    }

    /// Name of the device as the system gives it.
    pub fn device_name(&self) -> String {
        ffi::autoreleasepool(|| self.device.name())
    }

    /// Restarts the random generator with this seed.
    pub fn seed(&self, seed: u64) {
        *self.generator() = Generator::new(seed);
    }

    /// State for one random op; see [`Generator::next_state`].
    pub fn next_random_state(&self) -> [i32; 7] {
        self.generator().next_state()
    }

    fn generator(&self) -> MutexGuard<'_, Generator> {
        self.generator.lock_anyway()
    }
}
