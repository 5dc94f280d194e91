//! `MPSGraphCompilationDescriptor`: how graphs are compiled here.

use crate::ffi::objc::{Retained, objc_class, objc_enum, objc_methods};

objc_class!(
    /// How a graph is compiled.
    MPSGraphCompilationDescriptor
);

objc_enum! {
    /// How much the compiler may do.
    enum Optimization: u64 = "MPSGraphOptimization" {
        /// The graph passes, for the GPU.
        Level0 = "MPSGraphOptimizationLevel0" 0,
        /// Also placement on CPU and Neural Engine. Apple's default, used here for f32 alone and only if asked for:
        /// 16-bit graphs move to the Neural Engine and lose IEEE behaviour (NaN and infinities saturate), as Metal.jl
        /// and others found.
        Level1 = "MPSGraphOptimizationLevel1" 1,
    }
}

objc_methods! {
    "MPSGraph.h";
    impl MPSGraphCompilationDescriptor {
        class fn new_object() -> Retained<MPSGraphCompilationDescriptor> = "new", since (12, 0);
        instance fn set_optimization_level(level: Optimization) = "setOptimizationLevel:", since (12, 3);
        instance fn set_wait_for_compilation_completion(wait: bool) = "setWaitForCompilationCompletion:",
            since (13, 0);
    }
}

impl Retained<MPSGraphCompilationDescriptor> {
    /// Compilation is done when the call returns: without that it may go on in the background, so that neither its time
    /// nor its failure belongs to anybody.
    pub(crate) fn new(level: Optimization) -> Self {
        let descriptor = MPSGraphCompilationDescriptor::new_object();
        descriptor.set_optimization_level(level);
        descriptor.set_wait_for_compilation_completion(true);
        descriptor
    }
}

/// What it does is not visible; every other exercise compiles with one.
#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::autoreleasepool(|| drop(Retained::<MPSGraphCompilationDescriptor>::new(Optimization::Level1)));
}
