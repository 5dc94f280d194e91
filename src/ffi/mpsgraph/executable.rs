//! `MPSGraphExecutable`: a compiled graph, and packages of executables on disk.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::compilation_descriptor::{MPSGraphCompilationDescriptor, Optimization};
use super::device::{GraphDevice, MPSGraphDevice};
use super::graph::COMPILING;
use super::shaped_type::MPSGraphShapedType;
use super::{ShapedType, Tensor, TensorData};
use crate::ffi::foundation::ns_array::NSArray;
use crate::ffi::foundation::ns_error::{NSError, NsError};
use crate::ffi::foundation::ns_url::NSURL;
use crate::ffi::metal::claim::Access;
use crate::ffi::mps::MpsCommandBuffer;
use crate::ffi::mps::mps_command_buffer::MPSCommandBuffer;
use crate::ffi::objc::{OnceBlock, Retained, Unused, autoreleasepool, objc_class, objc_methods};
use crate::lock::LockAnyway;

objc_class!(
    /// A compiled graph.
    MPSGraphExecutable
);

objc_class!(
    /// How an executable is run.
    MPSGraphExecutableExecutionDescriptor
);

/// `MPSGraphExecutableCompletionHandler`: it is given the results, and why the execution failed. Apple does not say
/// what the results are then.
type CompletionHandler = fn(Option<&NSArray>, Option<&NSError>);

objc_class!(
    /// How an executable is written; always left out here.
    MPSGraphExecutableSerializationDescriptor
);

// SAFETY: a finished compilation has no ties to its thread, and encoding reads it only: Apple's Swift interface marks
// executables Sendable. Encoding is serialised per queue all the same (see `bridge`).
unsafe impl Send for MPSGraphExecutable {}
// SAFETY: as above.
unsafe impl Sync for MPSGraphExecutable {}

/// A compiled graph, retained.
#[derive(Debug)]
pub(crate) struct Executable {
    object: Retained<MPSGraphExecutable>,
    /// Whether it has been encoded. Until then something is left to compile: it is specialised for the device at its
    /// first encoding at the latest, says `MPSGraphExecutable.h`, and on macOS 15 MPSGraph makes what runs one of a
    /// package only then, also if it is specialised (by the MPSGraph of iOS 18, decompiled in
    /// EthanArbuckle/iPhone17-1_18.2_22C152_Restore).
    is_encoded: AtomicBool,
}

impl From<Retained<MPSGraphExecutable>> for Executable {
    fn from(executable: Retained<MPSGraphExecutable>) -> Self {
        Self { object: executable, is_encoded: AtomicBool::new(false) }
    }
}

objc_methods! {
    "MPSGraphExecutable.h";
    impl MPSGraphExecutable {
        /// May be nil, Apple declares, and does not say when; a graph may have no feeds.
        instance fn feed_tensors() -> Option<Vec<Tensor>> = "feedTensors", since (12, 0);
        /// May be nil, Apple declares, and does not say when.
        instance fn target_tensors() -> Option<Vec<Tensor>> = "targetTensors", since (12, 0);
        instance fn encode_to_command_buffer(
            command_buffer: &MPSCommandBuffer,
            inputs: &NSArray,
            results: Option<&NSArray>,
            descriptor: Option<&MPSGraphExecutableExecutionDescriptor>,
        ) -> Unused
            = "encodeToCommandBuffer:inputsArray:resultsArray:executionDescriptor:", since (12, 0);

        instance fn specialize(
            device: Option<&MPSGraphDevice>,
            input_types: &NSArray,
            descriptor: Option<&MPSGraphCompilationDescriptor>,
        ) = "specializeWithDevice:inputTypes:compilationDescriptor:", since (12, 0);

        instance fn serialize(url: &NSURL, descriptor: Option<&MPSGraphExecutableSerializationDescriptor>)
            = "serializeToMPSGraphPackageAtURL:descriptor:", since (14, 0);

        /// Apple declares that it is never nil. Others meet nil and exceptions with packages that are not whole
        /// (getmirai/mpsgraph-rs tests for nil).
        init fn with_package(url: &NSURL, descriptor: Option<&MPSGraphCompilationDescriptor>)
            -> Option<Retained<MPSGraphExecutable>> = "initWithMPSGraphPackageAtURL:compilationDescriptor:",
            since (14, 0);
    }

    impl MPSGraphExecutableExecutionDescriptor {
        class fn new_object() -> Retained<MPSGraphExecutableExecutionDescriptor> = "new", since (12, 0);

        /// Apple declares the property without `copy`; our blocks are not on the stack.
        instance fn set_completion_handler(handler: &OnceBlock<CompletionHandler>) = "setCompletionHandler:",
            since (12, 0);
    }
}

impl Executable {
    /// For each input of the executable, in its own order, the index of that placeholder in `feeds` (the tensors it
    /// was compiled with).
    pub(crate) fn feed_order(&self, feeds: &[&Tensor]) -> Vec<usize> {
        autoreleasepool(|| positions(&self.object.feed_tensors().unwrap_or_default(), feeds))
    }

    /// For each result of the executable, in its own order, the index of that tensor in `targets` (the tensors it was
    /// compiled with).
    pub(crate) fn target_order(&self, targets: &[&Tensor]) -> Vec<usize> {
        autoreleasepool(|| {
            let own = self.object.target_tensors().unwrap_or_default();
            assert_eq!(own.len(), targets.len(), "the executable does not list the results that it was compiled for");
            positions(&own, targets)
        })
    }

    /// Encodes one execution, `inputs` and `results` in the executable's order and with exactly the shapes and element
    /// types it was compiled for. No buffer may be both input and result. Nothing has run when this returns.
    ///
    /// `on_ended` is called once, when the execution has ended, with what failed in it, also if that is in a command
    /// buffer that encoding has committed. Apple says neither on which thread nor in which order with the handlers of
    /// command buffers; if what is encoded is never committed, it is dropped.
    ///
    /// If it is the executable's first one, it waits for threads that compile, then calls `before_first`, and returns
    /// how long the rest took.
    ///
    /// # Panics
    /// If the host accesses one of the buffers in a way that excludes it.
    pub(crate) fn encode<'a>(
        &self,
        command_buffer: &mut MpsCommandBuffer,
        inputs: impl Iterator<Item = &'a TensorData> + Clone,
        results: impl Iterator<Item = &'a TensorData> + Clone,
        before_first: impl FnOnce(),
        on_ended: impl Fn(Option<NsError>) + Send + 'static,
    ) -> Option<Duration> {
        command_buffer.claim(inputs.clone().map(TensorData::claims), Access::GpuRead);
        command_buffer.claim(results.clone().map(TensorData::claims), Access::GpuWrite);
        let is_first = !self.is_encoded.load(Ordering::Acquire);
        let _alone = is_first.then(|| COMPILING.lock_anyway());
        let start = is_first.then(|| {
            before_first();
            Instant::now()
        });
        autoreleasepool(|| {
            let inputs = NSArray::of_each(inputs.map(TensorData::object));
            let results = NSArray::of_each(results.map(TensorData::object));
            let told = move |_: Option<&NSArray>, error: Option<&NSError>| on_ended(error.map(NsError::from));
            let handler = OnceBlock::<CompletionHandler>::new(told);
            let descriptor = MPSGraphExecutableExecutionDescriptor::new_object();
            descriptor.set_completion_handler(&handler);
            self.object.encode_to_command_buffer(command_buffer.object(), &inputs, Some(&results), Some(&descriptor));
        });
        self.is_encoded.store(true, Ordering::Release);
        start.map(|start| start.elapsed())
    }
}

impl Executable {
    /// Writes the executable to a folder, which must not exist. MPSGraph does not tell whether that worked: look for
    /// files. Waits for other threads that compile: what is written goes through the compiler.
    ///
    /// MPSGraph writes into an `NSItemReplacementDirectory` for the folder's volume and moves that. If the system gives
    /// none, as on some network and external volumes, or the move fails, it ends the process (macOS 15, by the MPSGraph
    /// of iOS 18, decompiled in EthanArbuckle/iPhone17-1_18.2_22C152_Restore). So the folder has to be on the volume of
    /// the user's folder for temporary files.
    pub(crate) fn write_package(&self, folder: &Path) {
        let _alone = COMPILING.lock_anyway();
        autoreleasepool(|| {
            if let Some(url) = NSURL::of_file(folder) {
                self.object.serialize(&url, None);
            }
        });
    }

    /// The executable of a package, ready to run with inputs of these types, in the executable's order. It does not
    /// know the tensors any more with which it was compiled.
    ///
    /// The package must be whole: with damaged ones MPSGraph may raise an exception, which ends the process. Its code
    /// is read lazily, so the executable is specialised here: the types make it read everything. And MPSGraph must be
    /// able to make a folder in the user's folder for temporary files: if not, it reads the path that it has not got.
    pub(crate) fn of_package(
        folder: &Path,
        device: &GraphDevice,
        inputs: &[ShapedType],
        level: Optimization,
    ) -> Option<Self> {
        let _alone = COMPILING.lock_anyway();
        autoreleasepool(|| {
            let descriptor = Retained::<MPSGraphCompilationDescriptor>::new(level);
            let executable = MPSGraphExecutable::with_package(&*NSURL::of_file(folder)?, Some(&descriptor))?;
            let types: Vec<&MPSGraphShapedType> = inputs.iter().map(|ty| &**ty).collect();
            executable.specialize(Some(device), &NSArray::of(&types), Some(&descriptor));
            Some(Self::from(executable))
        })
    }
}

/// Where each of `own` is in `given`, by identity.
fn positions(own: &[Tensor], given: &[&Tensor]) -> Vec<usize> {
    let places: HashMap<&Tensor, usize> = given.iter().enumerate().map(|(at, &tensor)| (tensor, at)).collect();
    let place = |tensor: &Tensor| {
        *places.get(tensor).unwrap_or_else(|| {
            unreachable!("the executable lists {tensor:?}, with which it was not compiled: {given:?}")
        })
    };
    own.iter().map(place).collect()
}

#[cfg(test)]
pub(super) fn exercise() {
    use super::{DataType, Graph};

    let device = crate::ffi::exercise::device();
    let queue = device.new_command_queue().expect("a queue");
    let graph_device = GraphDevice::new(&device);
    let types = [ShapedType::new(&[2, 3], DataType::F32), ShapedType::new(&[3], DataType::F32)];
    let (executable, feeds, targets) = autoreleasepool(|| {
        let graph = Graph::new();
        let (a, b) = (graph.placeholder(&[2, 3], DataType::F32), graph.placeholder(&[3], DataType::F32));
        let sum = graph.addition(&a, &b);
        let total = graph.reduction_sum(&sum, &[1]);
        let executable =
            graph.compile(&graph_device, &[(&a, &types[0]), (&b, &types[1])], &[&sum, &total], Optimization::Level0);
        let orders = (executable.feed_order(&[&a, &b]), executable.target_order(&[&sum, &total]));
        (executable, orders.0, orders.1)
    });
    let folder = std::env::temp_dir().join(format!("burn-mpsgraph-exercise-{}", std::process::id()));
    let package = folder.join("sum.mpsgraphpackage");
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    executable.write_package(&package);
    let ordered: Vec<ShapedType> = feeds.iter().map(|&at| types[at].clone()).collect();
    let again = Executable::of_package(&package, &graph_device, &ordered, Optimization::Level0).expect("a package");
    let given: [&[f32]; 2] = [&[0., 1., 2., 3., 4., 5.], &[1., 10., 100.]];
    let expected: [&[f32]; 2] = [&[1., 11., 102., 4., 14., 105.], &[114., 123.]];
    for executable in [executable, again] {
        let buffers =
            |lengths: [usize; 2]| lengths.map(|length| device.new_buffer(4 * length).expect("there is memory"));
        let (inputs, outputs) = (buffers([6, 3]), buffers([6, 2]));
        for (buffer, values) in inputs.iter().zip(given) {
            buffer.host_write().copy_from_slice(bytemuck::cast_slice(values));
        }
        let bind = |buffers: &[crate::ffi::Buffer; 2], shapes: [&[usize]; 2], order: &[usize]| -> Vec<TensorData> {
            order.iter().map(|&at| TensorData::new(&buffers[at], shapes[at], DataType::F32)).collect()
        };
        let (inputs, results) = (bind(&inputs, [&[2, 3], &[3]], &feeds), bind(&outputs, [&[2, 3], &[2, 1]], &targets));
        let mut commands = MpsCommandBuffer::from_queue(&queue);
        let (ended, told) = std::sync::mpsc::channel();
        let told_by = move |error| ended.send(error).expect("the test listens");
        let first = executable.encode(&mut commands, inputs.iter(), results.iter(), || (), told_by);
        assert!(first.is_some(), "nobody has encoded it before");
        drop(commands.commit());
        assert_eq!(told.into_iter().collect::<Vec<_>>(), [None]);
        for (buffer, values) in outputs.iter().zip(expected) {
            assert_eq!(*buffer.host_read(), *bytemuck::cast_slice::<f32, u8>(values));
        }
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
}
