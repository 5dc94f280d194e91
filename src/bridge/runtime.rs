//! The device's runtime: the one device, its queue, buffers, compiled programs and counters.
//!
//! The work is in other files: `record` records, `flush` submits, `transfer` moves host data.

use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use super::cache::Cache;
use super::config::Config;
use super::division::Divisions;
use super::flush::FlushReason;
use super::generator::Generator;
use super::kept::Kept;
use super::leftovers;
use super::log::{Log, say};
use super::pool::Pool;
use super::recording::{Bounds, Cut, Recording};
use super::stats::{Counters, Stats};
use super::submission::{Encoder, Progress, Submissions};
use super::thread;
use super::under_way::UnderWay;
use crate::dtype::data_type;
use crate::error::Error;
use crate::ffi::{self, GraphDevice};
use crate::lock::LockAnyway;
use crate::lowering::axis::MOST_AXES;
use crate::lowering::{MOST_BYTES, POSITIONS};
use crate::tensor_type::{TensorType, elements_of, extents};

/// What is said once of the GPU that Apple's virtual machines show. There the linear layers of other programs have been
/// wrong (pytorch/pytorch#192934, macOS 26), and MPS has ended the process (pytorch/executorch#6746, macOS 14).
const VIRTUAL: &str = "this is the GPU of a virtual machine, where MPS is not known to be right; with the feature \
                       `soft` the CPU computes";

/// Bytes that a recording's values may take on any device.
const MIN_BYTES: usize = 1 << 30;
/// Bytes of buffers that a recording may hold by itself: what an op by op backend would have freed.
const HELD_BYTES: usize = 128 << 20;
/// Bytes of scratch memory and of operands nobody else needs that submissions in flight may hold.
const HELD_IN_FLIGHT: usize = 256 << 20;

/// The one device with everything that belongs to it.
pub(crate) struct Runtime {
    pub(super) device: ffi::Device,
    pub(super) config: Config,
    max_bytes: usize,
    /// What recorded ops may hold by themselves.
    held_limit: AtomicUsize,
    /// The part of the memory limit that they may take: a flush has to find room beside what it reads.
    held_of_memory: AtomicUsize,
    max_buffer_length: u64,
    pub(super) log: Log,
    /// Locked while compiling.
    pub(super) graph_device: Mutex<GraphDevice>,
    pub(super) cache: Mutex<Cache>,
    /// Programs on disk, if they are kept there.
    pub(super) kept: Option<Kept>,
    /// Locked while encoding, so that buffers are taken and programs committed in the same order.
    pub(super) encoder: Mutex<Encoder>,
    pub(super) submissions: Submissions,
    pub(super) under_way: UnderWay,
    /// Lives as long as the process, because buffers in use know it.
    pub(super) pool: &'static Pool,
    pub(super) counters: Counters,
    pub(super) divisions: Mutex<Divisions>,
    generator: Mutex<Generator>,
}

static RUNTIME: OnceLock<Result<Runtime, Error>> = OnceLock::new();

impl Runtime {
    /// The runtime, made on first use.
    ///
    /// # Errors
    /// [`Error::Device`] if the system is too old, has no Metal device, or one with memory of its own; the answer stays
    /// the same.
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
                return Err(fault(
                    "this system is older than macOS 14, the first that MPSGraph is used on here; with the feature \
                     `soft` the CPU computes",
                ));
            }
            let device = ffi::Device::system_default()
                .ok_or_else(|| fault("this system has no Metal device; with the feature `soft` the CPU computes"))?;
            // MPS is silently wrong on AMD's: a matrix by a vector (pytorch/pytorch#178697, and lllyasviel/Fooocus#4219
            // from macOS 15.7.8 on). The family would not tell: a virtual machine may show Apple's GPU as of none of
            // Apple's families.
            if !device.has_unified_memory() {
                return Err(fault(&format!(
                    "this system has a GPU with memory of its own ({}), where MPSGraph is not known to be right; with \
                     the feature `soft` the CPU computes",
                    device.name()
                )));
            }
            if device.name().contains("Paravirtual") {
                say!("burn-mpsgraph: {VIRTUAL}");
            }
            let queue = device.new_command_queue().ok_or_else(|| fault("the Metal device gave no command queue"))?;
            let working_set = match device.recommended_max_working_set_size() as usize {
                // No system has been seen to give 0, but others look out for it, and no op could be recorded.
                0 => MIN_BYTES,
                bytes => bytes,
            };
            let seed = foldhash::quality::RandomState::default().build_hasher().finish();
            let config = Config::from_env()?;
            let progress = Arc::<Progress>::default();
            let held_in_flight = HELD_IN_FLIGHT.min(working_set / 8);
            leftovers::remove_at_exit();
            Ok(Self {
                max_bytes: working_set.max(MIN_BYTES),
                held_limit: AtomicUsize::new(HELD_BYTES.min(working_set / 16)),
                held_of_memory: AtomicUsize::new(usize::MAX),
                max_buffer_length: device.max_buffer_length(),
                log: Log::new(config.log),
                graph_device: Mutex::new(GraphDevice::new(&device)),
                cache: Mutex::new(Cache::new(config.max_programs)),
                kept: Kept::new(&config, &device),
                encoder: Mutex::new(Encoder::new(queue)),
                submissions: Submissions::new(
                    progress.clone(),
                    held_in_flight,
                    Duration::from_secs(config.wait_seconds),
                ),
                under_way: UnderWay::default(),
                config,
                pool: Box::leak(Box::new(Pool::new(device.clone(), progress))),
                counters: Counters::default(),
                divisions: Mutex::default(),
                generator: Mutex::new(Generator::new(seed)),
                device,
            })
        })
    }

    pub(super) fn eager(&self) -> bool {
        self.config.eager
    }

    /// When a recording is flushed although nobody asks for a value.
    pub(super) fn bounds(&self) -> Bounds {
        let held_bytes = self.held_limit.load(Ordering::Relaxed).min(self.held_of_memory.load(Ordering::Relaxed));
        Bounds { ops: self.config.max_ops, bytes: self.max_bytes, held_bytes }
    }

    /// Sets how many bytes recorded ops may hold that no tensor holds any more.
    pub fn set_held_limit(&self, bytes: usize) {
        self.held_limit.store(bytes.max(1), Ordering::Relaxed);
    }

    /// Sets the most bytes of live buffers; what would exceed it fails. `u64::MAX` is no limit.
    pub fn set_memory_limit(&self, bytes: u64) {
        let part = usize::try_from(bytes / 4).unwrap_or(usize::MAX).max(1);
        self.held_of_memory.store(part, Ordering::Relaxed);
        self.pool.set_memory_limit(bytes);
    }

    /// Sets how long the device may end nothing while somebody waits.
    pub fn set_wait_limit(&self, limit: Duration) {
        self.submissions.waiting.set_limit(limit);
    }

    pub fn pool(&self) -> &Pool {
        self.pool
    }

    /// The bytes of a tensor of type `ty`, if it can exist on the device.
    pub(crate) fn check_size(&self, op: &'static str, ty: &TensorType) -> Result<usize, Error> {
        let limit = |what: String| {
            Err(Error::Unsupported { op, reason: format!("{what} (shape {:?}, {:?})", &ty.shape[..], ty.dtype) })
        };
        data_type(op, ty.dtype)?;
        let extents = extents(&ty.shape);
        if extents.len() > MOST_AXES {
            return limit(format!(
                "rank {} where MPSNDArray has at most {MOST_AXES} dimensions; reshape it",
                extents.len()
            ));
        }
        let Some(elements) = elements_of(extents).filter(|&elements| elements < POSITIONS) else {
            return limit("2^31 or more elements; split the tensor".into());
        };
        let bytes = elements as u64 * ty.dtype.size() as u64;
        let most = self.max_buffer_length.min(MOST_BYTES as u64);
        if bytes > most {
            return limit(format!("{bytes} bytes where a buffer has at most {most}; split the tensor"));
        }
        Ok(bytes as usize)
    }

    /// Submits what every thread has recorded and waits until the device has nothing to do.
    ///
    /// # Errors
    /// The first failure since the last call: a device fault, or work that could not be submitted.
    pub fn sync(&self) -> Result<(), Error> {
        self.flush_all();
        // What other threads have cut is not recorded any more, but may be the caller's.
        self.under_way.wait();
        self.submissions.sync(&self.counters)
    }

    /// Submits what every thread has recorded, without waiting for it.
    pub fn flush_all(&self) {
        for recording in Recording::all_in_use() {
            self.flush(recording, Cut::Everything, FlushReason::Sync);
        }
    }

    /// Submits what the calling thread has recorded, without waiting for it.
    ///
    /// # Errors
    /// Of what could not be submitted meanwhile, here or by another thread.
    pub fn flush_thread(&self) -> Result<(), Error> {
        let before = self.submissions.refusals();
        if let Some(recording) = thread::current() {
            self.flush(recording, Cut::Everything, FlushReason::Sync);
        }
        self.submissions.refusal_since(before).map_or(Ok(()), Err)
    }

    /// Releases what recorded ops keep that nobody can ask for, and free buffers.
    pub fn memory_cleanup(&self) {
        ffi::autoreleasepool(|| Recording::all_in_use().iter().for_each(|recording| recording.prune()));
        self.clear_cache();
    }

    /// Releases free buffers.
    pub fn clear_cache(&self) {
        ffi::autoreleasepool(|| {
            self.submissions.completed();
            self.pool.purge();
        });
    }

    /// Drops all compiled programs, and forgets which ones were asked for.
    pub fn clear_programs(&self) {
        ffi::autoreleasepool(|| self.cache.lock_anyway().clear());
        *self.divisions.lock_anyway() = Divisions::default();
        Recording::all().iter().for_each(|recording| *recording.novelty.lock_anyway() = Default::default());
    }

    /// The counters as they are now. Each field stands here, so the compiler names one that has no source.
    pub fn stats(&self) -> Stats {
        let c = &self.counters;
        let (programs_cached, cache_evictions) = {
            let cache = self.cache.lock_anyway();
            (cache.len() as u64, cache.evictions)
        };
        let pool = self.pool.levels();
        let (mut ops_recorded, mut recordings, mut ops_waiting, mut bytes_held) = (0, 0, 0, 0);
        for recording in Recording::all() {
            let (ops, bytes) = recording.waiting();
            ops_recorded += recording.recorded();
            recordings += u64::from(recording.is_in_use());
            ops_waiting += ops as u64;
            bytes_held += bytes as u64;
        }
        Stats {
            ops_recorded,
            programs_compiled: c.programs_compiled.get(),
            programs_loaded: c.programs_loaded.get(),
            programs_kept: c.programs_kept.get(),
            nodes_compiled: c.nodes_compiled.get(),
            cache_hits: c.cache_hits.get(),
            cache_evictions,
            programs_cached,
            executions: c.executions.get(),
            commits: c.commits.get(),
            host_reads: c.host_reads.get(),
            waits: c.waits.get(),
            bytes_uploaded: c.bytes_uploaded.get(),
            bytes_read: c.bytes_read.get(),
            buffers_live: pool.buffers_live,
            bytes_live: pool.bytes_live,
            buffers_cached: pool.buffers_cached,
            bytes_cached: pool.bytes_cached,
            bytes_peak: pool.bytes_peak,
            compile_time: Duration::from_nanos(c.compile_nanoseconds.get()),
            longest_compile: Duration::from_nanos(c.longest_compile_nanoseconds.get()),
            flushes_for_reads: c.flushes_for_reads.get(),
            flushes_for_other_threads: c.flushes_for_other_threads.get(),
            flushes_for_sync: c.flushes_for_sync.get(),
            flushes_at_bounds: c.flushes_at_bounds.get(),
            flushes_of_one_op: c.flushes_of_one_op.get(),
            in_flight: self.submissions.in_flight() as u64,
            recordings,
            ops_waiting,
            bytes_held,
            bytes_of_driver: pool.bytes_of_driver,
            bytes_recommended: pool.bytes_recommended,
        }
    }

    /// Name of the device as the system gives it.
    pub fn device_name(&self) -> String {
        ffi::autoreleasepool(|| self.device.name())
    }

    /// Restarts the random generator with this seed.
    pub fn seed(&self, seed: u64) {
        *self.generator() = Generator::new(seed);
    }

    /// The random generator's state.
    pub fn random_state(&self) -> [u64; 2] {
        self.generator().state()
    }

    /// Sets the random generator's state.
    pub fn set_random_state(&self, state: [u64; 2]) {
        *self.generator() = Generator::with_state(state);
    }

    /// State for one random op; see [`Generator::next_state`].
    pub fn next_random_state(&self) -> [i32; 7] {
        self.generator().next_state()
    }

    fn generator(&self) -> MutexGuard<'_, Generator> {
        self.generator.lock_anyway()
    }
}
