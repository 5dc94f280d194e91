//! `MPSGraphExecutableExecutionDescriptor`: how to run an executable, and who is told when it has ended.

#![expect(unsafe_code, reason = "a block that the caller gives")]

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::brief_lock::BriefLock;
use crate::metal::execution::Execution;
use crate::metal::fault;
use crate::objc::{Block, ClassDef, ClassKind, Id, RawBlock, Sel, Strong, This, method0, method1};
use crate::violation;

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
        method1("setCompletionHandler:", set_completion_handler),
    ],
    class: &[],
};

/// Payload of an execution descriptor.
pub(crate) struct ExecutionDescriptor {
    wait: AtomicBool,
    completion_handler: BriefLock<Option<Block<2>>>,
}

impl ExecutionDescriptor {
    /// Whether the sender wants to block.
    pub fn waits(&self) -> bool {
        self.wait.load(Relaxed)
    }

    /// What tells the completion handler that an execution with these results has ended.
    pub fn execution(&self, results: &Strong) -> Option<Execution> {
        let handler = self.completion_handler.lock().clone()?;
        Execution::new(handler, results, fault::telling())
    }
}

extern "C-unwind" fn init(this: This<'_>, _: Sel) -> Id {
    this.set_state(ExecutionDescriptor { wait: AtomicBool::new(false), completion_handler: BriefLock::default() });
    this.id()
}

extern "C-unwind" fn wait_until_completed(this: This<'_>, _: Sel) -> bool {
    this.state::<ExecutionDescriptor>().waits()
}

extern "C-unwind" fn set_wait_until_completed(this: This<'_>, _: Sel, wait: bool) {
    this.state::<ExecutionDescriptor>().wait.store(wait, Relaxed);
}

/// Nil takes the handler away.
extern "C-unwind" fn set_completion_handler(this: This<'_>, cmd: Sel, handler: RawBlock) {
    // SAFETY: the sender passes nil or a live block.
    if unsafe { handler.is_on_the_stack() } {
        violation!(this, cmd, "the block is on the stack; the property does not copy it, so copy it first");
    }
    // SAFETY: as above.
    let copy = || unsafe { Block::copy(handler) }.unwrap_or_else(|reason| violation!(this, cmd, "{reason}"));
    let handler = if handler.is_nil() { None } else { Some(copy()) };
    let before = std::mem::replace(&mut *this.state::<ExecutionDescriptor>().completion_handler.lock(), handler);
    // Without the lock: it may be the last reference to a closure.
    drop(before);
}
