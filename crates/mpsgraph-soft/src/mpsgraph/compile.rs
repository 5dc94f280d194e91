//! `-[MPSGraph compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:]`.
//!
//! MPSGraph compiles only what the targets need, but aborts on any bad node of the graph, and two compiles at the same
//! time crash. So a process must compile one graph at a time; here a flag makes the second compile a violation. Graphs
//! that MPSGraph is known to compile wrongly are refused: see [`miscompiled`].

mod in_place;
pub(super) mod miscompiled;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Release};

use crate::compiler;
use crate::foundation::{ns_array, ns_dictionary};
use crate::ir::{Leaf, Nodes, Op, ValueId};
use crate::objc::{Id, Sel, Strong, This};
use crate::violation;

use super::builder::{Core, State};
use super::compilation_descriptor::{CompilationDescriptor, Level};
use super::counters;
use super::device::Device;
use super::executable::{self, Executable, Source};
use super::graph::Graph;
use super::hold;
use super::shape::Shown;
use super::shaped_type::ShapedType;
use super::tensor::Tensor;

static COMPILING: AtomicBool = AtomicBool::new(false);

/// Holds the process-wide right to compile.
pub(super) struct Compiling;

impl Compiling {
    pub fn begin() -> Option<Self> {
        (!COMPILING.swap(true, AcqRel)).then_some(Self)
    }
}

impl Drop for Compiling {
    fn drop(&mut self) {
        COMPILING.store(false, Release);
    }
}

/// A tensor and the value it stands for.
type Bound = (Strong, ValueId);

pub(crate) extern "C-unwind" fn compile_with_device(
    this: This<'_>,
    cmd: Sel,
    device: Id,
    feeds: Id,
    targets: Id,
    operations: Id,
    descriptor: Id,
) -> Id {
    let Some(_compiling) = Compiling::begin() else {
        violation!(this, cmd, "another thread is compiling: concurrent compiles crash, so hold one lock around them");
    };
    hold::pass();
    if !device.is_nil() && Strong::retain(device).try_state::<Device>().is_none() {
        violation!(this, cmd, "the device is {}, not an MPSGraphDevice", device.class_name());
    }
    if !operations.is_nil() && !ns_array::items(&Strong::retain(operations)).is_empty() {
        violation!(this, cmd, "target operations are not supported here: name their tensors as targets");
    }
    let level = check_descriptor(descriptor).unwrap_or_else(|reason| violation!(this, cmd, "{reason}"));
    let core = this.state::<Graph>().core();
    let state = core.lock(this, cmd);
    let made = compiled(core, &state, level, feeds, targets);
    let is_leaf = |tensor: &&Strong| matches!(state.nodes.node(tensor.state::<Tensor>().value()).op, Op::Leaf(_));
    let leaves = state.tensors.iter().filter(is_leaf).count();
    let (nodes, operations) = (state.nodes.len(), state.tensors.len() - leaves);
    drop(state);
    match made {
        Ok(executable) => {
            counters::compiled(nodes, operations, executable.kernels());
            executable::object(executable)
        }
        Err(reason) => violation!(this, cmd, "{reason}"),
    }
}

/// Refuses descriptors that compile in ways that are known to go wrong, whatever the graph is.
pub(super) fn check_descriptor(descriptor: Id) -> Result<Level, String> {
    match Strong::retain(descriptor).try_state::<CompilationDescriptor>() {
        Some(descriptor) => descriptor.objection().map_or(Ok(descriptor.level()), |objection| Err(objection.into())),
        None if descriptor.is_nil() => {
            Err("no descriptor means optimizationLevel 1 and compiling in the background".into())
        }
        None => Err(format!("the descriptor is {}", descriptor.class_name())),
    }
}

fn compiled(core: &Arc<Core>, state: &State, level: Level, feeds: Id, targets: Id) -> Result<Executable, String> {
    let nodes = &state.nodes;
    if let Some(objection) = level.objection(nodes) {
        return Err(objection.into());
    }
    let feeds = in_own_order(fed(core, state, feeds)?);
    let targets = in_own_order(targeted(core, targets)?);
    let ids = |bound: &[Bound]| bound.iter().map(|(_, value)| *value).collect::<Vec<_>>();
    let (feed_ids, target_ids) = (ids(&feeds), ids(&targets));
    every_placeholder_fed(nodes, &feed_ids, &target_ids)?;
    if let Some(objection) = miscompiled::objection(nodes, &target_ids) {
        return Err(objection);
    }
    let plan = compiler::compile(nodes, &feed_ids, &target_ids);
    let kept = |bound: Vec<Bound>| bound.into_iter().map(|(tensor, _)| tensor).collect();
    let source = Source { core: core.clone(), feeds: feed_ids, targets: target_ids };
    Ok(Executable::new(kept(feeds), kept(targets), source, plan))
}

/// An order that is the same for the same request, but not the sender's. On a Mac MPSGraph chooses it, so a sender that
/// does not ask the executable for it must fail here too.
fn in_own_order(given: Vec<Bound>) -> Vec<Bound> {
    let mut own = given.clone();
    own.sort_by_key(|(_, value)| std::cmp::Reverse(*value));
    if own == given {
        let second = own.len().min(1);
        own.rotate_left(second);
    }
    own
}

fn own_value(core: &Arc<Core>, tensor: &Strong, role: &str) -> Result<ValueId, String> {
    match tensor.try_state::<Tensor>() {
        Some(state) if Arc::ptr_eq(state.core(), core) => Ok(state.value()),
        Some(_) => Err(format!("a {role} tensor belongs to another graph: MPSGraph aborts")),
        None => Err(format!("a {role} is {}, not an MPSGraphTensor", tensor.id().class_name())),
    }
}

fn fed(core: &Arc<Core>, state: &State, feeds: Id) -> Result<Vec<Bound>, String> {
    if !feeds.is_kind_of("NSDictionary") {
        return Err(format!("the feeds are {}, not an NSDictionary", feeds.class_name()));
    }
    let placeholders: HashSet<Id> = state.placeholders.iter().map(Strong::id).collect();
    let bind = |(tensor, ty): (&Strong, &Strong)| {
        let value = own_value(core, tensor, "fed")?;
        let declared = state.nodes.ty(value);
        let shown = Shown(declared);
        if !placeholders.contains(&tensor.id()) {
            return Err(format!("the fed tensor {shown} is not a placeholder: MPSGraph aborts"));
        }
        let Some(given) = ty.try_state::<ShapedType>() else {
            return Err(format!("the type of a feed is {}, not an MPSGraphShapedType", ty.id().class_name()));
        };
        let given = given.get();
        if *given != *declared {
            return Err(format!(
                "placeholder {shown} is fed as {}: MPSGraph aborts on incompatible feeds",
                Shown(&given)
            ));
        }
        Ok((tensor.clone(), value))
    };
    ns_dictionary::entries(&Strong::retain(feeds)).map(bind).collect()
}

fn targeted(core: &Arc<Core>, targets: Id) -> Result<Vec<Bound>, String> {
    if !targets.is_kind_of("NSArray") {
        return Err(format!("the targets are {}, not an NSArray", targets.class_name()));
    }
    let bind = |tensor: &Strong| Ok((tensor.clone(), own_value(core, tensor, "target")?));
    let bound: Vec<Bound> =
        ns_array::items(&Strong::retain(targets)).iter().map(bind).collect::<Result<_, String>>()?;
    if bound.is_empty() {
        return Err("there are no targets".into());
    }
    let mut seen = HashSet::with_capacity(bound.len());
    if !bound.iter().all(|(tensor, _)| seen.insert(tensor.id())) {
        return Err("a target is listed twice: its results could not be told apart".into());
    }
    Ok(bound)
}

fn every_placeholder_fed(nodes: &Nodes, feeds: &[ValueId], targets: &[ValueId]) -> Result<(), String> {
    let mut known = vec![false; nodes.len()];
    for feed in feeds {
        known[feed.0 as usize] = true;
    }
    let mut pending = targets.to_vec();
    while let Some(value) = pending.pop() {
        if std::mem::replace(&mut known[value.0 as usize], true) {
            continue;
        }
        let node = nodes.node(value);
        if node.op == Op::Leaf(Leaf::Placeholder) {
            return Err(format!(
                "a target needs placeholder {}, which is not fed: MPSGraph aborts",
                Shown(&node.output)
            ));
        }
        pending.extend_from_slice(&node.inputs);
    }
    Ok(())
}
