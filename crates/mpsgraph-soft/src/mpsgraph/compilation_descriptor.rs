//! `MPSGraphCompilationDescriptor`: how to compile. The defaults are Apple's; compiling with them is refused, because
//! one of them is to compile in the background.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use crate::ir::{DType, Node, Nodes};
use crate::objc::{ClassDef, ClassKind, Id, Sel, This, method0, method1};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphCompilationDescriptor",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (12, 0),
    instance: &[
        method0("init", init),
        method0("optimizationLevel", optimization_level).since(12, 3),
        method1("setOptimizationLevel:", set_optimization_level).since(12, 3),
        method0("waitForCompilationCompletion", wait_for_compilation_completion).since(13, 0),
        method1("setWaitForCompilationCompletion:", set_wait_for_compilation_completion).since(13, 0),
        method0("disableTypeInference", disable_type_inference),
    ],
    class: &[],
};

/// Payload of a compilation descriptor.
pub(crate) struct CompilationDescriptor {
    optimization_level: AtomicUsize,
    wait: AtomicBool,
    types_inferred_later: AtomicBool,
}

impl CompilationDescriptor {
    /// How much the compiler may do.
    pub fn level(&self) -> Level {
        Level(self.optimization_level.load(Relaxed))
    }

    /// Why nothing must be compiled with these settings.
    pub fn objection(&self) -> Option<&'static str> {
        if !self.wait.load(Relaxed) {
            return Some(
                "waitForCompilationCompletion is NO (the default): compiling would go on in the background, next \
                 to other compiles, which crashes, and its failures would surface later",
            );
        }
        let late = self.types_inferred_later.load(Relaxed);
        late.then_some("type inference is disabled, which leaves shapes unknown until an execution")
    }
}

/// An optimization level.
#[derive(Clone, Copy)]
pub(crate) struct Level(usize);

impl Level {
    /// Why these nodes must not be compiled at this level.
    pub fn objection(self, nodes: &Nodes) -> Option<&'static str> {
        let is_small = |node: &Node| node.output.dtype.size() <= 2 && node.output.dtype != DType::Bool;
        (self.0 != 0 && nodes.iter().any(|(_, node)| is_small(node))).then_some(
            "optimizationLevel is 1 (the default), which moves operations of 16 bits and fewer to the Neural Engine, \
             where they lose IEEE behaviour; set MPSGraphOptimizationLevel0",
        )
    }
}

extern "C-unwind" fn init(this: This<'_>, _: Sel) -> Id {
    this.set_state(CompilationDescriptor {
        optimization_level: AtomicUsize::new(1),
        wait: AtomicBool::new(false),
        types_inferred_later: AtomicBool::new(false),
    });
    this.id()
}

extern "C-unwind" fn optimization_level(this: This<'_>, _: Sel) -> usize {
    this.state::<CompilationDescriptor>().optimization_level.load(Relaxed)
}

extern "C-unwind" fn set_optimization_level(this: This<'_>, cmd: Sel, level: usize) {
    if level > 1 {
        violation!(this, cmd, "{level} is not an MPSGraphOptimization");
    }
    this.state::<CompilationDescriptor>().optimization_level.store(level, Relaxed);
}

extern "C-unwind" fn wait_for_compilation_completion(this: This<'_>, _: Sel) -> bool {
    this.state::<CompilationDescriptor>().wait.load(Relaxed)
}

extern "C-unwind" fn set_wait_for_compilation_completion(this: This<'_>, _: Sel, wait: bool) {
    this.state::<CompilationDescriptor>().wait.store(wait, Relaxed);
}

extern "C-unwind" fn disable_type_inference(this: This<'_>, _: Sel) {
    this.state::<CompilationDescriptor>().types_inferred_later.store(true, Relaxed);
}
