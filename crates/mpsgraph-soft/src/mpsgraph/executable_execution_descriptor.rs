//! `MPSGraphExecutableExecutionDescriptor`: how to run an executable.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::objc::{ClassDef, ClassKind, Id, Sel, This, method0, method1};

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphExecutableExecutionDescriptor",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (12, 0),
    instance: &[
        method0("init", init),
        method0("waitUntilCompleted", wait_until_completed),
        method1("setWaitUntilCompleted:", set_wait_until_completed),
    ],
    class: &[],
};

/// Payload of an execution descriptor.
pub(crate) struct ExecutionDescriptor {
    wait: AtomicBool,
}

impl ExecutionDescriptor {
    /// Whether the sender wants to block.
    pub fn waits(&self) -> bool {
        self.wait.load(Relaxed)
    }
}

extern "C-unwind" fn init(this: This<'_>, _: Sel) -> Id {
    this.set_state(ExecutionDescriptor { wait: AtomicBool::new(false) });
    this.id()
}

extern "C-unwind" fn wait_until_completed(this: This<'_>, _: Sel) -> bool {
    this.state::<ExecutionDescriptor>().waits()
}

extern "C-unwind" fn set_wait_until_completed(this: This<'_>, _: Sel, wait: bool) {
    this.state::<ExecutionDescriptor>().wait.store(wait, Relaxed);
}
