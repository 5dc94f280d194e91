//! `MPSGraphExecutable`: a compiled graph.
//!
//! Encoding binds buffers and gives the run to the command buffer; nothing is computed before that is committed. An
//! executable can be written to a [`package`] and made of one again.

#![expect(unsafe_code, reason = "buffers as spans")]

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use crate::compiler::Plan;
use crate::foundation::ns_array;
use crate::ir::{TensorType, ValueId};
use crate::metal::execution::Execution;
use crate::metal::mtl_buffer::{self, Buffer};
use crate::metal::work::{Buffers, Piece, Work};
use crate::mps::mps_command_buffer::Encoder;
use crate::objc::{
    ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, method2, method3, method4, new_object,
};
use crate::violation;

use super::builder::Core;
use super::compile::{Compiling, check_descriptor};
use super::device::Device;
use super::executable_execution_descriptor::ExecutionDescriptor;
use super::shape::Shown;
use super::shaped_type::ShapedType;
use super::tensor_data::TensorData;
use super::{counters, hold, package};

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphExecutable",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (12, 0),
    instance: &[
        method0("feedTensors", feed_tensors),
        method0("targetTensors", target_tensors),
        method0("options", options),
        method1("setOptions:", set_options),
        method4("encodeToCommandBuffer:inputsArray:resultsArray:executionDescriptor:", encode),
        method3("specializeWithDevice:inputTypes:compilationDescriptor:", specialize),
        method2("serializeToMPSGraphPackageAtURL:descriptor:", package::serialize).since(14, 0),
        method2("initWithMPSGraphPackageAtURL:compilationDescriptor:", package::init).since(14, 0),
    ],
    class: &[],
};

/// Payload of an executable.
pub(crate) struct Executable {
    feeds: Vec<Strong>,
    targets: Vec<Strong>,
    source: Source,
    plan: Arc<Plan>,
    options: AtomicUsize,
    /// Whether it has run: its first run compiles the rest, also if it is specialised.
    has_run: AtomicBool,
}

/// What an executable was compiled from.
pub(crate) struct Source {
    pub core: Arc<Core>,
    pub feeds: Vec<ValueId>,
    pub targets: Vec<ValueId>,
}

impl Executable {
    /// `plan` takes and yields values in the order of these tensors, and of the values in `source`.
    pub fn new(feeds: Vec<Strong>, targets: Vec<Strong>, source: Source, plan: Plan) -> Self {
        let (plan, options) = (Arc::new(plan), AtomicUsize::new(1));
        Self { feeds, targets, source, plan, options, has_run: AtomicBool::new(false) }
    }

    /// What it was compiled from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Steps of the plan.
    pub fn kernels(&self) -> usize {
        self.plan.steps()
    }
}

/// The object of an executable, autoreleased.
pub(crate) fn object(executable: Executable) -> Id {
    new_object(&CLASS, executable).autorelease()
}

/// Nil without feeds, and in an executable that was made of a package: Apple declares it nullable and does not say when
/// it is nil, so callers have to expect it there.
extern "C-unwind" fn feed_tensors(this: This<'_>, _: Sel) -> Id {
    listed(&this.state::<Executable>().feeds)
}

/// Nil in an executable that was made of a package.
extern "C-unwind" fn target_tensors(this: This<'_>, _: Sel) -> Id {
    listed(&this.state::<Executable>().targets)
}

fn listed(tensors: &[Strong]) -> Id {
    if tensors.is_empty() { Id::NIL } else { ns_array::array(tensors.iter().map(Strong::id)) }
}

extern "C-unwind" fn options(this: This<'_>, _: Sel) -> usize {
    this.state::<Executable>().options.load(Relaxed)
}

extern "C-unwind" fn set_options(this: This<'_>, _: Sel, options: usize) {
    this.state::<Executable>().options.store(options, Relaxed);
}

/// Everything is compiled already; this only checks.
extern "C-unwind" fn specialize(this: This<'_>, cmd: Sel, device: Id, types: Id, descriptor: Id) {
    let Some(executable) = this.try_state::<Executable>() else {
        violation!(this, cmd, "the executable was not made by compiling a graph");
    };
    let Some(_compiling) = Compiling::begin() else {
        violation!(this, cmd, "another thread is compiling: concurrent compiles crash, so hold one lock around them");
    };
    if !device.is_nil() && Strong::retain(device).try_state::<Device>().is_none() {
        violation!(this, cmd, "the device is {}, not an MPSGraphDevice", device.class_name());
    }
    let level = check_descriptor(descriptor).unwrap_or_else(|reason| violation!(this, cmd, "{reason}"));
    if let Some(objection) = level.objection(&executable.source.core.look().nodes) {
        violation!(this, cmd, "{objection}");
    }
    if !types.is_kind_of("NSArray") {
        violation!(this, cmd, "the types are {}, not an NSArray", types.class_name());
    }
    let types = Strong::retain(types);
    let (given, wanted) = (ns_array::items(&types), executable.plan.feeds());
    let is_type = |(given, wanted): (&Strong, &TensorType)| {
        given.try_state::<ShapedType>().is_some_and(|given| *given.get() == *wanted)
    };
    if given.len() != wanted.len() || !given.iter().zip(wanted).all(is_type) {
        violation!(this, cmd, "the types are not those of the feeds, in the executable's order: MPSGraph aborts");
    }
}

/// Binds the buffers and hands the run to the command buffer.
extern "C-unwind" fn encode(
    this: This<'_>,
    cmd: Sel,
    command_buffer: Id,
    inputs: Id,
    results: Id,
    descriptor: Id,
) -> Id {
    let Some(executable) = this.try_state::<Executable>() else {
        violation!(this, cmd, "the executable was not made by compiling a graph");
    };
    // SAFETY: the sender keeps its arguments alive.
    let mut encoder = Encoder::new(unsafe { command_buffer.lent() }).unwrap_or_else(|reason| {
        if !command_buffer.is_kind_of("MPSCommandBuffer") {
            let class = command_buffer.class_name();
            violation!(this, cmd, "the command buffer is {class}; it must be an MPSCommandBuffer");
        }
        violation!(this, cmd, "{reason}")
    });
    if results.is_nil() {
        violation!(this, cmd, "results that MPSGraph allocates are not supported here: give a results array");
    }
    // SAFETY: as above.
    let (descriptor, given, taken) = unsafe { (descriptor.lent(), inputs.lent(), results.lent()) };
    let execution = execution(descriptor, taken).unwrap_or_else(|why| violation!(this, cmd, "{why}"));
    let is_first = !executable.has_run.swap(true, AcqRel);
    let compiling = is_first.then(Compiling::begin);
    if matches!(compiling, Some(None)) {
        violation!(this, cmd, "the first run of an executable compiles the rest, and another thread is compiling");
    }
    if is_first {
        hold::pass_first_encode();
    }
    let plan = &executable.plan;
    let reads = bind(plan.feeds(), given, "inputs").unwrap_or_else(|why| violation!(this, cmd, "{why}"));
    let writes = bind(plan.targets(), taken, "results").unwrap_or_else(|why| violation!(this, cmd, "{why}"));
    if mtl_buffer::aliased(reads.as_slice(), writes.as_slice()).is_some() {
        violation!(
            this,
            cmd,
            "a buffer is written twice, or read and written, by one execution, which corrupts the result; give each \
             result a buffer of its own"
        );
    }
    encoder.hold_scratch(plan.scratch_bytes());
    encoder.expect(plan.expected_time());
    encoder.encode(Piece::new(Work::Plan(Arc::clone(plan)), reads, writes), execution);
    counters::encoded();
    results
}

/// What tells the completion handler of a descriptor, which may be nil, that the run has ended.
fn execution(descriptor: &Strong, results: &Strong) -> Result<Option<Execution>, String> {
    match descriptor.try_state::<ExecutionDescriptor>() {
        Some(descriptor) if descriptor.waits() => {
            Err("waitUntilCompleted cannot be met for work that is not committed: commit, then wait".into())
        }
        Some(descriptor) => Ok(descriptor.execution(results)),
        None if !descriptor.id().is_nil() => {
            let class = descriptor.id().class_name();
            Err(format!("the descriptor is {class}, not an MPSGraphExecutableExecutionDescriptor"))
        }
        None => Ok(None),
    }
}

/// The buffers of an array of tensor data whose types must be these.
fn bind(types: &[TensorType], array: &Strong, role: &str) -> Result<Buffers, String> {
    let Some(given) = ns_array::try_items(array) else {
        return Err(format!("the {role} are {}, not an NSArray", array.id().class_name()));
    };
    if given.len() != types.len() {
        return Err(format!("{} {role} for an executable with {}: MPSGraph aborts", given.len(), types.len()));
    }
    let mut buffers = Buffers::default();
    for (at, (data, ty)) in given.iter().zip(types).enumerate() {
        let Some(data) = data.try_state::<TensorData>() else {
            return Err(format!(
                "{role}[{at}] is {}, not an MPSGraphTensorData that was initialised",
                data.id().class_name()
            ));
        };
        if data.ty() != ty {
            let (given, wanted) = (Shown(data.ty()), Shown(ty));
            return Err(format!(
                "{role}[{at}] is {given}, the executable has {wanted} there: MPSGraph reads other data, or writes past \
                  the end"
            ));
        }
        if !data.buffer().state::<Buffer>().is_tracked() {
            return Err(format!(
                "{role}[{at}] is in a buffer without hazard tracking: no program waits for the one before it"
            ));
        }
        buffers.push(data.buffer().clone());
    }
    Ok(buffers)
}
