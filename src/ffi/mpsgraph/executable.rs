//! `MPSGraphExecutable`: a compiled graph.

use super::{MPSGraphTensor, Tensor, TensorData};
use crate::ffi::foundation::ns_array::NSArray;
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
        instance fn feed_tensors() -> Vec<Tensor> = "feedTensors", since (12, 0);
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
        autoreleasepool(|| positions(&self.0.feed_tensors(), feeds))
    }

    /// For each result of the executable, in its own order, the index of that tensor in `targets` (the tensors it was
    /// compiled with).
    pub(crate) fn target_order(&self, targets: &[&Tensor]) -> Vec<usize> {
        autoreleasepool(|| positions(&self.0.target_tensors(), targets))
    }

    /// Encodes one execution, `inputs` and `results` in the executable's order and with exactly the shapes and element
    /// types it was compiled for. No buffer may be both input and result. Nothing has run when this returns.
    pub(crate) fn encode(&self, command_buffer: &MpsCommandBuffer, inputs: &[&TensorData], results: &[&TensorData]) {
        autoreleasepool(|| {
            let inputs: Vec<_> = inputs.iter().map(|data| &***data).collect();
            let results: Vec<_> = results.iter().map(|data| &***data).collect();
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
    let position = |tensor: &MPSGraphTensor| {
        given.iter().position(|candidate| candidate.is(tensor)).unwrap_or_else(|| {
            unreachable!("the executable lists {tensor:p}, with which it was not compiled: {given:?}")
        })
    };
    own.iter().map(|tensor| position(tensor)).collect()
}
