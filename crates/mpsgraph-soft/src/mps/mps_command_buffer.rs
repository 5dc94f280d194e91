//! `MPSCommandBuffer`: a command buffer that can commit what it has and continue with a new one.
//!
//! It conforms to `MTLCommandBuffer` by passing messages on to its root, the `MTLCommandBuffer` that is being
//! encoded. After `-commitAndContinue` that is another one: to wait for the work committed, hold on to
//! `-rootCommandBuffer` before; waiting on the wrapper then is waiting for work not committed, and refused.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::metal::job::Work;
use crate::metal::mtl_command_buffer::CommandBuffer;
use crate::metal::mtl_command_queue::CommandQueue;
use crate::metal::{fault, mtl_command_buffer};
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, method0, method1, new_object};
use crate::violation;

/// See the file's header.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSCommandBuffer",
    superclass: "NSObject",
    kind: ClassKind::Class,
    min_macos: (10, 15),
    instance: &[
        method1("initWithCommandBuffer:", init_with_command_buffer),
        method0("commandBuffer", command_buffer),
        method0("rootCommandBuffer", root_command_buffer),
        method0("commitAndContinue", commit_and_continue),
        method0("enqueue", enqueue),
        method0("commit", commit),
        method0("waitUntilScheduled", wait_until_scheduled),
        method0("waitUntilCompleted", wait_until_completed),
        method0("status", status),
        method0("error", error),
        method0("GPUStartTime", gpu_start_time),
        method0("GPUEndTime", gpu_end_time),
        method0("retainedReferences", retained_references),
        method0("commandQueue", command_queue),
        method0("device", device),
        method0("label", label),
        method1("setLabel:", set_label),
    ],
    class: &[
        method1(
            "commandBufferFromCommandQueue:",
            command_buffer_from_command_queue,
        ),
        method1(
            "commandBufferWithCommandBuffer:",
            command_buffer_with_command_buffer,
        ),
    ],
};

/// Payload of an `MPSCommandBuffer`.
struct MpsCommandBuffer {
    /// The one it was made with.
    first: Strong,
    root: Mutex<Strong>,
}

impl MpsCommandBuffer {
    fn new(first: Strong) -> Self {
        Self {
            root: Mutex::new(first.clone()),
            first,
        }
    }

    fn root(&self) -> MutexGuard<'_, Strong> {
        self.root.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to encode on an `MPSCommandBuffer`; hold it from the beginning of an encoding message to its end, so
/// that a second thread doing the same is noticed.
pub struct Encoder {
    wrapper: Strong,
    root: mtl_command_buffer::Encoder,
}

impl Encoder {
    /// Opens `this` for encoding; an error says why it cannot be.
    pub fn new(this: Id) -> Result<Self, &'static str> {
        let root = mtl_command_buffer::Encoder::new(root(this).id())?;
        Ok(Self {
            wrapper: Strong::retain(this),
            root,
        })
    }

    /// Appends work that reads and writes these `MTLBuffer`s, and closes.
    pub fn encode(self, work: Work, reads: Vec<Strong>, writes: Vec<Strong>) {
        self.root.encode(work, reads, writes);
        drop(self.root);
        if fault::splits_encodes() {
            commit_and_continue(self.wrapper.id(), Sel::named("commitAndContinue"));
        }
    }
}

/// Appends work to an `MPSCommandBuffer`; panics where a device would abort.
pub fn encode(this: Id, work: Work, reads: Vec<Strong>, writes: Vec<Strong>) {
    match Encoder::new(this) {
        Ok(encoder) => encoder.encode(work, reads, writes),
        Err(reason) => panic!("encoding on an MPSCommandBuffer: {reason}"),
    }
}

/// The command buffer that is encoded now.
fn root(this: Id) -> Strong {
    this.state::<MpsCommandBuffer>().root().clone()
}

/// Wraps `buffer` for `cmd`.
fn wrap(this: Id, cmd: Sel, buffer: Id) -> MpsCommandBuffer {
    match buffer.try_state::<CommandBuffer>() {
        Some(state) if state.is_committed() => {
            violation!(this, cmd, "the command buffer is committed already")
        }
        Some(_) => MpsCommandBuffer::new(Strong::retain(buffer)),
        None => violation!(this, cmd, "the argument is not an MTLCommandBuffer"),
    }
}

extern "C-unwind" fn command_buffer_from_command_queue(this: Id, cmd: Sel, queue: Id) -> Id {
    if queue.try_state::<CommandQueue>().is_none() {
        violation!(this, cmd, "the argument is not an MTLCommandQueue");
    }
    let first = Strong::from_owned(mtl_command_buffer::new(queue, cmd));
    new_object("MPSCommandBuffer", MpsCommandBuffer::new(first)).autorelease()
}

extern "C-unwind" fn command_buffer_with_command_buffer(this: Id, cmd: Sel, buffer: Id) -> Id {
    new_object("MPSCommandBuffer", wrap(this, cmd, buffer)).autorelease()
}

extern "C-unwind" fn init_with_command_buffer(this: Id, cmd: Sel, buffer: Id) -> Id {
    this.set_state(wrap(this, cmd, buffer));
    this
}

extern "C-unwind" fn command_buffer(this: Id, _: Sel) -> Id {
    this.state::<MpsCommandBuffer>().first.id()
}

extern "C-unwind" fn root_command_buffer(this: Id, _: Sel) -> Id {
    // The wrapper lets go of it at the next `commitAndContinue`, when the caller means to wait for it.
    root(this).autorelease()
}

extern "C-unwind" fn commit_and_continue(this: Id, cmd: Sel) {
    let old = root(this);
    let committed =
        mtl_command_buffer::Encoder::new(old.id()).and_then(mtl_command_buffer::Encoder::commit);
    if let Err(reason) = committed {
        violation!(this, cmd, "{reason}");
    }
    let queue = mtl_command_buffer::command_queue(old.id(), cmd);
    let next = Strong::from_owned(mtl_command_buffer::new(queue, cmd));
    *this.state::<MpsCommandBuffer>().root() = next;
}

macro_rules! passed_on {
    ($($name:ident($($arg:ident: $type:ty)?) $(-> $ret:ty)?;)*) => {$(
        extern "C-unwind" fn $name(this: Id, cmd: Sel $(, $arg: $type)?) $(-> $ret)? {
            mtl_command_buffer::$name(root(this).id(), cmd $(, $arg)?)
        }
    )*};
}

passed_on! {
    enqueue();
    commit();
    wait_until_scheduled();
    wait_until_completed();
    status() -> usize;
    error() -> Id;
    gpu_start_time() -> f64;
    gpu_end_time() -> f64;
    retained_references() -> bool;
    command_queue() -> Id;
    device() -> Id;
    label() -> Id;
    set_label(text: Id);
}
