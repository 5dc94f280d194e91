//! `MPSGraphExecutable`: a compiled graph.

use std::collections::HashMap;

use super::{Tensor, TensorData};
use crate::ffi::foundation::ns_array::NSArray;
use crate::ffi::metal::claim::Access;
use crate::ffi::mps::MpsCommandBuffer;
use crate::ffi::mps::mps_command_buffer::MPSCommandBuffer;
use crate::ffi::objc::{Retained, autoreleasepool, objc_class, objc_methods};

objc_class!(
    /// A compiled graph.
    MPSGraphExecutable
);

objc_class!(
    /// How an executable is run; always left out here.
    MPSGraphExecutableExecutionDescriptor
);

// SAFETY: a finished compilation has no ties to its thread, and encoding reads it only: Apple's Swift interface marks
// executables Sendable. Encoding is serialised per queue all the same (see `bridge`).
unsafe impl Send for MPSGraphExecutable {}
// SAFETY: as above.
unsafe impl Sync for MPSGraphExecutable {}

/// A compiled graph, retained.
#[derive(Clone, Debug)]
pub(crate) struct Executable(Retained<MPSGraphExecutable>);

impl From<Retained<MPSGraphExecutable>> for Executable {
    fn from(executable: Retained<MPSGraphExecutable>) -> Self {
        Self(executable)
    }
}

objc_methods! {
    "MPSGraphExecutable.h";
    impl MPSGraphExecutable {
        /// May be nil, Apple declares, and does not say when; a graph may have no feeds.
        instance fn feed_tensors() -> Option<Vec<Tensor>> = "feedTensors", since (12, 0);
        instance fn target_tensors() -> Vec<Tensor> = "targetTensors", since (12, 0);
        instance fn encode_to_command_buffer(
            command_buffer: &MPSCommandBuffer,
            inputs: &NSArray,
            results: Option<&NSArray>,
            descriptor: Option<&MPSGraphExecutableExecutionDescriptor>,
        ) -> Option<Retained<NSArray>>
            = "encodeToCommandBuffer:inputsArray:resultsArray:executionDescriptor:", since (12, 0);
    }
}

impl Executable {
    /// For each input of the executable, in its own order, the index of that placeholder in `feeds` (the tensors it
    /// was compiled with).
    pub(crate) fn feed_order(&self, feeds: &[&Tensor]) -> Vec<usize> {
        autoreleasepool(|| positions(&self.0.feed_tensors().unwrap_or_default(), feeds))
    }

    /// For each result of the executable, in its own order, the index of that tensor in `targets` (the tensors it was
    /// compiled with).
    pub(crate) fn target_order(&self, targets: &[&Tensor]) -> Vec<usize> {
        autoreleasepool(|| positions(&self.0.target_tensors(), targets))
    }

    /// Encodes one execution, `inputs` and `results` in the executable's order and with exactly the shapes and element
    /// types it was compiled for. No buffer may be both input and result. Nothing has run when this returns.
    ///
    /// # Panics
    /// If the host accesses one of the buffers in a way that excludes it.
    pub(crate) fn encode(
        &self,
        command_buffer: &mut MpsCommandBuffer,
        inputs: &[&TensorData],
        results: &[&TensorData],
    ) {
        command_buffer.claim(inputs.iter().map(|data| data.claims()), Access::GpuRead);
        command_buffer.claim(results.iter().map(|data| data.claims()), Access::GpuWrite);
        autoreleasepool(|| {
            let inputs: Vec<_> = inputs.iter().map(|data| data.object()).collect();
            let results: Vec<_> = results.iter().map(|data| data.object()).collect();
            self.0.encode_to_command_buffer(
                command_buffer.object(),
                &NSArray::of(&inputs),
                Some(&NSArray::of(&results)),
                None,
            );
        });
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
    use super::{DataType, Graph, GraphDevice, ShapedType};

    let device = crate::ffi::exercise::device();
    let queue = device.new_command_queue().expect("a queue");
    let (executable, feeds, targets) = autoreleasepool(|| {
        let graph = Graph::new();
        let (a, b) = (graph.placeholder(&[2, 3], DataType::F32), graph.placeholder(&[3], DataType::F32));
        let sum = graph.addition(&a, &b);
        let total = graph.reduction_sum(&sum, &[1]);
        let (ty, row) = (ShapedType::new(&[2, 3], DataType::F32), ShapedType::new(&[3], DataType::F32));
        let graph_device = GraphDevice::new(&device);
        let executable = graph.compile(&graph_device, &[(&a, &ty), (&b, &row)], &[&sum, &total]);
        let orders = (executable.feed_order(&[&a, &b]), executable.target_order(&[&sum, &total]));
        (executable, orders.0, orders.1)
    });
    let given: [&[f32]; 2] = [&[0., 1., 2., 3., 4., 5.], &[1., 10., 100.]];
    let expected: [&[f32]; 2] = [&[1., 11., 102., 4., 14., 105.], &[114., 123.]];
    let buffers = |lengths: [usize; 2]| lengths.map(|length| device.new_buffer(4 * length).expect("there is memory"));
    let (inputs, outputs) = (buffers([6, 3]), buffers([6, 2]));
    for (buffer, values) in inputs.iter().zip(given) {
        buffer.host_write().copy_from_slice(bytemuck::cast_slice(values));
    }
    let bind = |buffers: &[crate::ffi::Buffer; 2], shapes: [&[usize]; 2], order: &[usize]| -> Vec<TensorData> {
        order.iter().map(|&at| TensorData::new(&buffers[at], shapes[at], DataType::F32)).collect()
    };
    let (inputs, results) = (bind(&inputs, [&[2, 3], &[3]], &feeds), bind(&outputs, [&[2, 3], &[2, 1]], &targets));
    let mut commands = MpsCommandBuffer::from_queue(&queue);
    executable.encode(&mut commands, &inputs.iter().collect::<Vec<_>>(), &results.iter().collect::<Vec<_>>());
    drop(commands.commit());
    for (buffer, values) in outputs.iter().zip(expected) {
        assert_eq!(*buffer.host_read(), *bytemuck::cast_slice::<f32, u8>(values));
    }
}
