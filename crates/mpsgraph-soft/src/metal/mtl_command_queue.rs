//! `MTLCommandQueue`: makes command buffers; its [`Worker`] runs them in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::command_buffer_error::ACCESS_REVOKED;
use super::fault::{self, Fault};
use super::job::Job;
use super::label::Label;
use super::worker::{Stuck, Worker};
use super::{mtl_command_buffer, mtl_device};
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, new_object};
use crate::violation;

/// The class of the queues that `MTLDevice` makes.
pub static CLASS: ClassDef = ClassDef {
    name: "MTLCommandQueue",
    superclass: Some(&crate::foundation::ns_object::CLASS),
    kind: ClassKind::ProtocolInstance,
    min_macos: (10, 11),
    instance: &[
        method0("commandBuffer", command_buffer),
        method0("device", device),
        method0("label", label),
        method1("setLabel:", set_label),
    ],
    class: &[],
};

/// How many command buffers of a queue made by `-newCommandQueue` can be uncompleted at a time.
pub(super) const DEFAULT_PLACES: usize = 64;

/// Payload of a queue object.
pub(crate) struct CommandQueue {
    worker: Arc<Worker>,
    /// Whether the system takes no more work of it.
    refused: AtomicBool,
    label: Label,
}

impl Drop for CommandQueue {
    fn drop(&mut self) {
        // Every command buffer retains its queue, so none is left.
        self.worker.close();
    }
}

/// A queue, owned by the caller.
pub(super) fn new(places: usize) -> Strong {
    new_object(
        &CLASS,
        CommandQueue { worker: Worker::new(places), refused: AtomicBool::new(false), label: Label::default() },
    )
}

/// Who runs the jobs of a queue.
pub(super) fn worker(queue: &Strong) -> &Arc<Worker> {
    &queue.state::<CommandQueue>().worker
}

/// What happens to work that is committed to `queue` now. Whatever follows work whose access was revoked has the same
/// fault.
pub(super) fn fault_due(queue: &Strong) -> Option<Fault> {
    let refused = &queue.state::<CommandQueue>().refused;
    if refused.load(Ordering::Relaxed) {
        return Some(Fault::Error { code: ACCESS_REVOKED });
    }
    let fault = fault::commit_due();
    if matches!(fault, Some(Fault::Error { code: ACCESS_REVOKED })) {
        refused.store(true, Ordering::Relaxed);
    }
    fault
}

/// A job in `queue` for a new command buffer that message `cmd` to `this` asks for. Waits for a place while committed
/// work can free one.
pub(super) fn new_job(queue: &Strong, this: This<'_>, cmd: Sel) -> Arc<Job> {
    match worker(queue).new_job() {
        Ok(job) => job,
        Err(Stuck::NotCommitted | Stuck::InHandler) => violation!(
            this,
            cmd,
            "waits forever: all command buffers of the queue are taken and none of them is committed"
        ),
    }
}

extern "C-unwind" fn command_buffer(this: This<'_>, cmd: Sel) -> Id {
    mtl_command_buffer::new(Strong::clone(&this), this, cmd).autorelease()
}

extern "C-unwind" fn device(_: This<'_>, _: Sel) -> Id {
    mtl_device::shared()
}

extern "C-unwind" fn label(this: This<'_>, _: Sel) -> Id {
    this.state::<CommandQueue>().label.get()
}

extern "C-unwind" fn set_label(this: This<'_>, cmd: Sel, label: Id) {
    this.state::<CommandQueue>().label.set(this, cmd, label);
}
