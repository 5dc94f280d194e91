//! The device's runtime: flushing recordings, binding buffers, submitting, reading back.
//!
//! Compiling and encoding happen under one lock, so programs reach the queue in the order of their flushes, MPSGraph
//! never compiles twice at a time and one thread encodes. Recording goes on meanwhile; so does waiting for results.

use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use burn_backend::TensorData;
use burn_std::Bytes;
use smallvec::SmallVec;

use super::cache::Cache;
use super::compile::{Compiled, compile};
use super::pool::{Allocation, Pool, Serial};
use super::program::{Binding, Program, initial};
use super::recording::{Recording, Segment, current};
use super::stats::{Counters, Stats};
use super::submission::{Queue, Submitted};
use super::value::{Handle, State, Value};
use crate::dtype::data_type;
use crate::error::Error;
use crate::ffi::{self, GraphDevice, MpsCommandBuffer, TensorData as GraphTensorData};
use crate::tensor::{MpsGraphTensor, TensorType};

/// Why a recording is flushed; written to the log.
#[derive(Clone, Copy, Debug)]
pub(super) enum FlushReason {
    /// The recording thread reads a value.
    Read,
    /// Another thread reads or uses a value.
    OtherThread,
    /// `sync` was called.
    Sync,
    /// Too many ops or bytes are recorded.
    Bound,
    /// `BURN_MPSGRAPH_EAGER=1`.
    Eager,
}

/// Ops that a recording holds at most; also an upper limit of a program's compile time.
const MAX_OPS: usize = 2048;
/// Bytes that a recording's values may take, whatever the device's memory.
const MIN_BYTES: usize = 1 << 30;
/// Executables kept.
const MAX_PROGRAMS: usize = 256;

/// Bytes from which a read lends the buffer instead of copying it: below, a copy is cheaper than holding the buffer back
/// from reuse.
const LENT_FROM: usize = 64 * 1024;

/// What the environment asks for; read once.
struct Config {
    /// `BURN_MPSGRAPH_EAGER=1`: a program per op.
    eager: bool,
    /// `BURN_MPSGRAPH_LOG=1`: a line on stderr per flush; `=2`: the text of each program that is compiled, too.
    log: u8,
    /// `BURN_MPSGRAPH_MAX_OPS`: ops that a recording holds at most.
    max_ops: usize,
}

impl Config {
    fn from_env() -> Self {
        let number = |name: &str| {
            std::env::var(name)
                .ok()
                .and_then(|text| text.parse::<usize>().ok())
        };
        Self {
            eager: number("BURN_MPSGRAPH_EAGER") == Some(1),
            log: number("BURN_MPSGRAPH_LOG").map_or(0, |level| level.min(2) as u8),
            max_ops: number("BURN_MPSGRAPH_MAX_OPS").unwrap_or(MAX_OPS).max(1),
        }
    }
}

/// The one device with everything that belongs to it.
pub(crate) struct Runtime {
    device: ffi::Device,
    config: Config,
    max_bytes: usize,
    submitter: Mutex<Submitter>,
    queue: Queue,
    pool: Arc<Pool>,
    counters: Counters,
    generator: Mutex<Generator>,
    /// Recordings whose threads have ended, with values that tensors held then.
    adopted: Mutex<Vec<Arc<Recording>>>,
}

/// What only the flushing thread touches.
struct Submitter {
    graph_device: GraphDevice,
    cache: Cache,
    epoch: u32,
    serial: Serial,
    /// Reused between flushes.
    lane_bytes: Vec<u8>,
}

impl Submitter {
    /// A number for marking values that no earlier build used; the one before it is free for scratch marks.
    fn next_epoch(&mut self) -> u32 {
        self.epoch = self.epoch.wrapping_add(2);
        self.epoch
    }
}

/// The random generator: a key and how often it was asked.
struct Generator {
    seed: u64,
    draws: u64,
}

static RUNTIME: OnceLock<Result<Runtime, Error>> = OnceLock::new();

impl Runtime {
    /// The runtime, made on first use.
    ///
    /// # Errors
    /// [`Error::Device`] if the system has no Metal device or one that is too old; the answer stays the same.
    pub fn try_get() -> Result<&'static Runtime, Error> {
        RUNTIME
            .get_or_init(Runtime::new)
            .as_ref()
            .map_err(Clone::clone)
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
            let fault = |reason: &str| Error::Device {
                reason: reason.into(),
            };
            if !ffi::os_version::at_least(14, 0) {
                return Err(fault(
                    "this system is older than macOS 14, the first that MPSGraph is used on here",
                ));
            }
            let device = ffi::Device::system_default()
                .ok_or_else(|| fault("this system has no Metal device"))?;
            let queue = device
                .new_command_queue()
                .ok_or_else(|| fault("the Metal device gave no command queue"))?;
            let working_set = device.recommended_max_working_set_size() as usize;
            let seed = foldhash::quality::RandomState::default()
                .build_hasher()
                .finish();
            Ok(Self {
                config: Config::from_env(),
                max_bytes: (working_set / 4).max(MIN_BYTES),
                submitter: Mutex::new(Submitter {
                    graph_device: GraphDevice::new(&device),
                    cache: Cache::new(MAX_PROGRAMS, (working_set / 4).max(MIN_BYTES)),
                    epoch: 1,
                    serial: 0,
                    lane_bytes: Vec::new(),
                }),
                queue: Queue::new(queue),
                pool: Arc::new(Pool::new(device.clone())),
                counters: Counters::default(),
                generator: Mutex::new(Generator { seed, draws: 0 }),
                adopted: Mutex::default(),
                device,
            })
        })
    }

    fn submitter(&self) -> MutexGuard<'_, Submitter> {
        self.submitter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
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
            Err(Error::Unsupported {
                op,
                reason: format!("{what} (shape {:?}, {:?})", ty.shape, ty.dtype),
            })
        };
        data_type(op, ty.dtype)?;
        if ty.shape.num_dims() > 16 {
            return limit(format!(
                "rank {} where MPSNDArray has at most 16 dimensions",
                ty.shape.num_dims()
            ));
        }
        let elements = ty
            .shape
            .iter()
            .try_fold(1usize, |product, &extent| product.checked_mul(extent));
        let Some(elements) = elements.filter(|&elements| elements < 1 << 31) else {
            return limit("2^31 or more elements; split the tensor".into());
        };
        let bytes = elements as u64 * ty.dtype.size() as u64;
        let most = self.device.max_buffer_length().min(1 << 32);
        if bytes > most {
            return limit(format!(
                "{bytes} bytes where a buffer has at most {most}; split the tensor"
            ));
        }
        Ok(())
    }

    /// Keeps the recording of a thread that ends until its values are flushed, which happens as for a living thread: up to
    /// the value that is asked for. All of it as one program would be a new one each time, for how much a data loader's
    /// thread leaves behind depends on how fast it was.
    pub(super) fn adopt(&self, recording: Arc<Recording>) {
        self.adopted().push(recording);
    }

    fn adopted(&self) -> MutexGuard<'_, Vec<Arc<Recording>>> {
        self.adopted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submits what `recording` holds up to serial number `upto` (everything if `None`) without waiting for it.
    /// A failure to submit is kept in the values that the work should have made.
    pub(super) fn flush(&self, recording: &Recording, upto: Option<u64>, reason: FlushReason) {
        self.adopted()
            .retain(|recording| !recording.forget_unheld());
        let mut submitter = self.submitter();
        let Some(segment) = recording.cut(upto) else {
            return;
        };
        if self.config.log > 0 {
            eprintln!(
                "burn-mpsgraph: flush ({reason:?}): {} ops recorded",
                segment.nodes.len()
            );
        }
        let Segment { nodes, mut wanted } = segment;
        let (mut program, mut binding) = Program::build(&nodes, &wanted, submitter.next_epoch());
        // A program that was never asked for may begin with what initialises a model. That runs by itself, so that what
        // is left is what later steps run, and need not be compiled again for them.
        if submitter.cache.first_seen(&program) {
            let initial = initial(&nodes, &wanted, submitter.next_epoch());
            if initial.contains(&true) {
                let (first, first_binding) =
                    Program::build(&nodes, &initial, submitter.next_epoch());
                self.submit(&mut submitter, first, &first_binding);
                wanted
                    .iter_mut()
                    .zip(&initial)
                    .for_each(|(wanted, done)| *wanted &= !done);
                (program, binding) = Program::build(&nodes, &wanted, submitter.next_epoch());
            }
        }
        self.submit(&mut submitter, program, &binding);
    }

    /// Runs a program; if that fails, the values it should have made keep the reason.
    fn submit(&self, submitter: &mut Submitter, program: Program, binding: &Binding) {
        if program.nodes.is_empty() {
            return;
        }
        // Whatever stops the submission, nobody may wait for these values for ever.
        let unfinished = Unfinished(&binding.outputs);
        let result = ffi::autoreleasepool(|| self.run(submitter, program, binding));
        std::mem::forget(unfinished);
        if let Err(error) = result {
            binding
                .outputs
                .iter()
                .for_each(|value| value.set_state(State::Failed(error.clone())));
        }
    }

    fn run(
        &self,
        submitter: &mut Submitter,
        program: Program,
        binding: &Binding,
    ) -> Result<(), Error> {
        let feed_types: &[TensorType] = &program.feeds;
        self.queue.wait_for_room(&self.counters);
        let completed = self.queue.completed();

        let mut feeds: Vec<Arc<Allocation>> = Vec::with_capacity(binding.feeds.len() + 1);
        let mut inputs: Vec<GraphTensorData> = Vec::with_capacity(binding.feeds.len() + 1);
        let mut reads_of: SmallVec<[Serial; 4]> = SmallVec::new();
        let mut fault = None;
        for (value, ty) in binding.feeds.iter().zip(feed_types) {
            let allocation = match value.state() {
                State::Ready(allocation) => allocation,
                State::Failed(error) => return Err(error),
                State::Recorded { .. } | State::Empty => {
                    unreachable!("a fed value is flushed and has elements")
                }
            };
            match allocation.read_dependency(completed) {
                Ok(None) => {}
                Ok(Some(serial)) if reads_of.contains(&serial) => {}
                Ok(Some(serial)) => reads_of.push(serial),
                Err(error) => fault = Some(error),
            }
            inputs.push(allocation.tensor_data(ty)?);
            feeds.push(allocation);
        }
        if !binding.lanes.is_empty() {
            let lanes = self.feed_lanes(submitter, &binding.lanes, completed)?;
            let ty = TensorType::new(burn_backend::DType::F32, [binding.lanes.len()].into());
            inputs.push(lanes.tensor_data(&ty)?);
            feeds.push(lanes);
        }
        let mut outputs: Vec<Arc<Allocation>> = Vec::with_capacity(binding.outputs.len());
        let mut results: Vec<GraphTensorData> = Vec::with_capacity(binding.outputs.len());
        for value in &binding.outputs {
            let allocation = self.pool.for_device(value.ty.bytes())?;
            results.push(allocation.tensor_data(&value.ty)?);
            outputs.push(allocation);
        }

        let compiled = self.compiled(submitter, program);
        let command_buffer = MpsCommandBuffer::from_queue(&self.queue.queue);
        let first = command_buffer.root_command_buffer();
        let inputs: Vec<&GraphTensorData> =
            compiled.feed_order.iter().map(|&at| &inputs[at]).collect();
        let results: Vec<&GraphTensorData> = compiled
            .target_order
            .iter()
            .map(|&at| &results[at])
            .collect();
        compiled
            .executable
            .encode(&command_buffer, &inputs, &results);
        let last = command_buffer.root_command_buffer();
        command_buffer.commit();
        self.counters.executions.add(1);
        self.counters.commits.add(1);

        submitter.serial += 1;
        let serial = submitter.serial;
        for allocation in feeds.iter().chain(&outputs) {
            allocation.used_by(serial);
        }
        for allocation in &outputs {
            allocation.written_by.store(serial, Ordering::Release);
        }
        let roots = if first == last {
            [last].into_iter().collect()
        } else {
            SmallVec::from([first, last])
        };
        let writes = outputs.iter().map(Arc::downgrade).collect();
        self.queue.push(Submitted {
            serial,
            roots,
            reads_of,
            fault,
            writes,
        });
        for (value, allocation) in binding.outputs.iter().zip(outputs) {
            value.set_state(State::Ready(allocation));
        }
        Ok(())
    }

    fn feed_lanes(
        &self,
        submitter: &mut Submitter,
        lanes: &[f32],
        completed: Serial,
    ) -> Result<Arc<Allocation>, Error> {
        submitter.lane_bytes.clear();
        submitter
            .lane_bytes
            .extend_from_slice(bytemuck::cast_slice(lanes));
        self.host_buffer(&submitter.lane_bytes, completed)
    }

    /// A buffer that holds a copy of `bytes`.
    fn host_buffer(&self, bytes: &[u8], completed: Serial) -> Result<Arc<Allocation>, Error> {
        let allocation = self.pool.for_host(bytes.len(), completed)?;
        allocation
            .buffer()
            .with_bytes_mut(|to| to[..bytes.len()].copy_from_slice(bytes));
        self.counters.bytes_uploaded.add(bytes.len() as u64);
        Ok(allocation)
    }

    fn compiled(&self, submitter: &mut Submitter, program: Program) -> Arc<Compiled> {
        if let Some(compiled) = submitter.cache.get(&program) {
            self.counters.cache_hits.add(1);
            return compiled;
        }
        if self.config.log > 1 {
            eprintln!("burn-mpsgraph: compile\n{program}");
        }
        let start = Instant::now();
        let compiled = Arc::new(compile(&program, &submitter.graph_device));
        self.counters.programs_compiled.add(1);
        self.counters
            .compile_nanoseconds
            .add(start.elapsed().as_nanos() as u64);
        submitter.cache.insert(program, compiled.clone());
        compiled
    }

    /// Submits what the calling thread and ended threads have recorded and waits until the device has nothing to do.
    ///
    /// # Errors
    /// The first device fault since the last call.
    pub fn sync(&self) -> Result<(), Error> {
        let adopted = std::mem::take(&mut *self.adopted());
        adopted
            .iter()
            .for_each(|recording| self.flush(recording, None, FlushReason::Sync));
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

    /// The counters as they stand.
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

    /// Starts the random generator anew.
    pub fn seed(&self, seed: u64) {
        *self
            .generator
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Generator { seed, draws: 0 };
    }

    /// State for one random op, in the layout of MPSGraph's Philox state: 1, four counter words, two key words.
    ///
    /// The counter of each draw is scattered over the 2^128 positions, so draws do not overlap however MPSGraph counts
    /// within one; the key is the seed.
    pub fn next_random_state(&self) -> [i32; 7] {
        let mut generator = self
            .generator
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        generator.draws += 1;
        let Generator { seed, draws } = *generator;
        let low = split_mix(draws);
        let high = split_mix(low ^ seed);
        let words = |x: u64| [x as i32, (x >> 32) as i32];
        let ([a, b], [c, d], [e, f]) = (words(low), words(high), words(seed));
        [1, a, b, c, d, e, f]
    }
}

/// The output function of the SplitMix64 generator: a bijection that spreads consecutive numbers.
fn split_mix(x: u64) -> u64 {
    let x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Marks values as failed if a flush unwinds before it has submitted them.
struct Unfinished<'a>(&'a [Arc<Value>]);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let error = Error::Device {
            reason: "the flush that should have made this value panicked".into(),
        };
        self.0
            .iter()
            .for_each(|value| value.set_state(State::Failed(error.clone())));
    }
}

/// Copies host data into a buffer.
///
/// # Panics
/// If `data`'s dtype or size cannot be stored, or the device is out of memory.
pub(crate) fn upload(op: &'static str, data: TensorData) -> MpsGraphTensor {
    let runtime = Runtime::get();
    let ty = TensorType::new(data.dtype, data.shape.clone());
    if let Err(error) = runtime.check_size(op, &ty) {
        error.raise();
    }
    let bytes = data.as_bytes();
    if bytes.len() != ty.bytes() {
        let reason = format!(
            "{} bytes of data where shape {:?} of {:?} takes {}",
            bytes.len(),
            ty.shape,
            ty.dtype,
            ty.bytes()
        );
        crate::error::invalid(op, reason);
    }
    if ty.elements() == 0 {
        return MpsGraphTensor::new(Handle::new(Arc::new(Value::new(ty, State::Empty))));
    }
    let allocation = ffi::autoreleasepool(|| runtime.host_buffer(bytes, runtime.queue.completed()));
    let state = match allocation {
        Ok(allocation) => State::Ready(allocation),
        Err(error) => error.raise(),
    };
    MpsGraphTensor::new(Handle::new(Arc::new(Value::new(ty, state))))
}

/// Submits what the tensors need and waits once for all of them. Small tensors are copied; of large ones the buffer is
/// lent until the data is dropped or changed.
///
/// # Errors
/// The device fault that hit the work which makes one of them.
pub(crate) fn read(tensors: &[MpsGraphTensor]) -> Result<Vec<TensorData>, Error> {
    let runtime = Runtime::get();
    flush_for_read(runtime, tensors);
    let mut allocations: Vec<Option<Arc<Allocation>>> = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        allocations.push(match tensor.value.0.state() {
            State::Ready(allocation) => Some(allocation),
            State::Empty => None,
            State::Failed(error) => return Err(error),
            State::Recorded { .. } => unreachable!("a flush leaves no value recorded"),
        });
    }
    let newest = allocations
        .iter()
        .flatten()
        .map(|a| a.written_by.load(Ordering::Acquire))
        .max();
    if let Some(serial) = newest {
        ffi::autoreleasepool(|| runtime.queue.wait(serial, &runtime.counters));
        runtime.counters.host_reads.add(1);
    }
    if let Some(fault) = allocations
        .iter()
        .flatten()
        .find_map(|allocation| allocation.fault.get())
    {
        return Err(fault.clone());
    }
    let read_one = |(tensor, allocation): (&MpsGraphTensor, &Option<Arc<Allocation>>)| {
        let ty = tensor.ty();
        let length = ty.bytes();
        let bytes = match allocation {
            None => Bytes::from_bytes_vec(Vec::new()),
            Some(allocation) if length < LENT_FROM => Bytes::from_bytes_vec(
                allocation
                    .buffer()
                    .with_bytes(|from| from[..length].to_vec()),
            ),
            Some(allocation) => {
                ffi::host_bytes(allocation.buffer().clone(), length, allocation.clone())
            }
        };
        runtime.counters.bytes_read.add(length as u64);
        TensorData::from_bytes(bytes, ty.shape, ty.dtype)
    };
    Ok(tensors.iter().zip(&allocations).map(read_one).collect())
}

/// Flushes all of this thread's recording if it makes one of the tensors, and other threads' up to the last of them.
fn flush_for_read(runtime: &Runtime, tensors: &[MpsGraphTensor]) {
    let own = current();
    let mut others: SmallVec<[(Arc<Recording>, u64); 2]> = SmallVec::new();
    for (recording, serial) in tensors
        .iter()
        .filter_map(|tensor| tensor.value.0.recorded_in())
    {
        match others
            .iter_mut()
            .find(|(known, _)| Arc::ptr_eq(known, &recording))
        {
            Some((_, last)) => *last = serial.max(*last),
            None => others.push((recording, serial)),
        }
    }
    for (recording, serial) in others {
        if Arc::ptr_eq(&recording, &own) {
            runtime.flush(&recording, None, FlushReason::Read);
        } else {
            runtime.flush(&recording, Some(serial), FlushReason::OtherThread);
        }
    }
}
