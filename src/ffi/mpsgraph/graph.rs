//! `MPSGraph`: making a graph and compiling it. The operations are in one file per header beside this one.

use std::sync::{Mutex, TryLockError};

use super::compilation_descriptor::{MPSGraphCompilationDescriptor, Optimization};
use super::device::{GraphDevice, MPSGraphDevice};
use super::executable::{Executable, MPSGraphExecutable};
use super::{MPSGraphTensor, ShapedType, Tensor};
use crate::ffi::foundation::ns_array::NSArray;
use crate::ffi::foundation::ns_dictionary::NSDictionary;
use crate::ffi::objc::{Retained, autoreleasepool, objc_class, objc_methods};
use crate::lock::LockAnyway;

objc_class!(
    /// A graph of tensor operations under construction. Stays on the thread that made it.
    ///
    /// Its operations return autoreleased objects: build inside of an `autoreleasepool`. After one wrong operation
    /// the whole graph is lost, so one graph serves one program and is then dropped.
    MPSGraph
);

/// A graph, retained.
pub(crate) type Graph = Retained<MPSGraph>;

objc_methods! {
    "MPSGraph.h";
    impl MPSGraph {
        class fn new_object() -> Graph = "new", since (11, 0);

        instance fn compile_with_descriptor(
            device: Option<&MPSGraphDevice>,
            feeds: &NSDictionary,
            targets: &NSArray,
            operations: Option<&NSArray>,
            descriptor: Option<&MPSGraphCompilationDescriptor>,
        ) -> Retained<MPSGraphExecutable>
            = "compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:", since (12, 0);
    }
}

/// Held while a graph is compiled, an executable is made of a package or written as one, or is encoded for the first
/// time.
pub(super) static COMPILING: Mutex<()> = Mutex::new(());

/// Whether a thread does any of that now.
pub(crate) fn is_compiling() -> bool {
    matches!(COMPILING.try_lock(), Err(TryLockError::WouldBlock))
}

impl Graph {
    /// An empty graph.
    pub(crate) fn new() -> Self {
        MPSGraph::new_object()
    }

    /// Compiles the part of the graph that `targets` need for fixed types of the placeholders in `feeds`. Waits for
    /// other threads that compile: concurrent compilations crash (MetalHLO's `MetalExecutor.swift`, signal 11).
    pub(crate) fn compile(
        &self,
        device: &GraphDevice,
        feeds: &[(&Tensor, &ShapedType)],
        targets: &[&Tensor],
        level: Optimization,
    ) -> Executable {
        let _alone = COMPILING.lock_anyway();
        autoreleasepool(|| {
            let feeds: Vec<_> = feeds.iter().map(|(tensor, ty)| (&***tensor, &***ty)).collect();
            let targets: Vec<&MPSGraphTensor> = targets.iter().map(|tensor| &***tensor).collect();
            Executable::from(self.compile_with_descriptor(
                Some(device),
                &NSDictionary::of(&feeds),
                &NSArray::of(&targets),
                None,
                Some(&Retained::<MPSGraphCompilationDescriptor>::new(level)),
            ))
        })
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    use super::DataType;

    let device = GraphDevice::new(&crate::ffi::exercise::device());
    autoreleasepool(|| {
        let graph = Graph::new();
        let x = graph.placeholder(&[2], DataType::F32);
        let ty = ShapedType::new(&[2], DataType::F32);
        let executable = graph.compile(&device, &[(&x, &ty)], &[&graph.negative(&x)], Optimization::Level1);
        drop(graph);
        assert_eq!(executable.feed_order(&[&x]), [0]);
    });
}
