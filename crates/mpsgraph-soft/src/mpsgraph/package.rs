//! Packages: executables as folders, `-[MPSGraphExecutable serializeToMPSGraphPackageAtURL:descriptor:]` and
//! `initWithMPSGraphPackageAtURL:compilationDescriptor:`.
//!
//! A package has one file here, with the nodes that the targets need; an executable that is made of it is compiled
//! again. Writing returns nothing, so a failure shows only in what is there afterwards, as on a Mac.

use std::path::Path;
use std::sync::Arc;

use postcard::ser_flavors::Flavor;

use crate::compiler;
use crate::foundation::ns_url;
use crate::ir::{Node, Nodes, Op, TensorType, ValueId};
use crate::objc::{Id, Sel, Strong, This};
use crate::violation;

use super::builder::{Core, State};
use super::compilation_descriptor::Level;
use super::compile::{Compiling, check_descriptor, miscompiled};
use super::executable::{Executable, Source};
use super::hold;

/// The file in a package.
const FILE: &str = "model_0.mpsgraph";
/// What it begins with; behind it the check sum of the rest.
const MAGIC: &[u8; 16] = b"mpsgraph-soft 02";

/// A node as it is in the file. The message that asked for it is text there.
type Written<'a> = (&'a Op, &'a [ValueId], &'a TensorType, &'a str);
type Read = (Op, Vec<ValueId>, TensorType, String);

pub(crate) extern "C-unwind" fn serialize(this: This<'_>, cmd: Sel, url: Id, descriptor: Id) {
    let Some(executable) = this.try_state::<Executable>() else {
        violation!(this, cmd, "the executable was not made by compiling a graph");
    };
    if !descriptor.is_nil() {
        violation!(this, cmd, "a descriptor is not supported here: give nil, which is Apple's defaults");
    }
    let url = Strong::retain(url);
    let Some(folder) = ns_url::file_of(&url) else {
        violation!(this, cmd, "the URL is {}, not an NSURL", url.id().class_name());
    };
    if folder.exists() {
        violation!(this, cmd, "there is something at {folder:?} already: what becomes of it is not documented");
    }
    let Some(_compiling) = Compiling::begin() else {
        violation!(this, cmd, "another thread is compiling, and what is written goes through the compiler");
    };
    let source = executable.source();
    let bytes = encoded(source, &source.core.look().nodes);
    // Nobody hears of a failure.
    let _ = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(folder.join(FILE), bytes));
}

pub(crate) extern "C-unwind" fn init(this: This<'_>, cmd: Sel, url: Id, descriptor: Id) -> Id {
    let Some(_compiling) = Compiling::begin() else {
        violation!(this, cmd, "another thread is compiling: concurrent compiles crash, so hold one lock around them");
    };
    let level = check_descriptor(descriptor).unwrap_or_else(|reason| violation!(this, cmd, "{reason}"));
    let url = Strong::retain(url);
    let Some(folder) = ns_url::file_of(&url) else {
        violation!(this, cmd, "the URL is {}, not an NSURL", url.id().class_name());
    };
    if hold::refuses_package() {
        return Id::NIL;
    }
    match executable(folder, level) {
        Ok(executable) => this.set_state(executable),
        Err(reason) => violation!(this, cmd, "{folder:?} is no package of an executable: {reason}"),
    }
    this.id()
}

fn executable(folder: &Path, level: Level) -> Result<Executable, String> {
    let bytes = std::fs::read(folder.join(FILE)).map_err(|error| error.to_string())?;
    let (nodes, feeds, targets) = decoded(&bytes)?;
    if let Some(objection) = level.objection(&nodes) {
        return Err(objection.into());
    }
    if let Some(objection) = miscompiled::objection(&nodes, &targets) {
        return Err(objection);
    }
    let plan = compiler::compile(&nodes, &feeds, &targets);
    let core = Arc::new(Core::from(State { nodes, ..State::default() }));
    Ok(Executable::new(Vec::new(), Vec::new(), Source { core, feeds, targets }, plan))
}

/// The nodes that an executable needs, numbered anew, as bytes.
fn encoded(source: &Source, nodes: &Nodes) -> Vec<u8> {
    let mut needed = vec![false; nodes.len()];
    for id in source.feeds.iter().chain(&source.targets) {
        needed[id.0 as usize] = true;
    }
    for (id, node) in nodes.iter().rev() {
        if needed[id.0 as usize] {
            node.inputs.iter().for_each(|input| needed[input.0 as usize] = true);
        }
    }
    let mut numbers = vec![0; nodes.len()];
    for (own, (number, _)) in (0..).zip(numbers.iter_mut().zip(&needed).filter(|(_, needed)| **needed)) {
        *number = own;
    }
    let own = |ids: &[ValueId]| ids.iter().map(|id| ValueId(numbers[id.0 as usize])).collect::<Vec<_>>();
    let kept: Vec<(&Node, Vec<ValueId>)> =
        nodes.iter().filter(|(id, _)| needed[id.0 as usize]).map(|(_, node)| (node, own(&node.inputs))).collect();
    let written: Vec<Written<'_>> =
        kept.iter().map(|(node, inputs)| (&node.op, &inputs[..], &node.output, node.method)).collect();
    let all = (written, own(&source.feeds), own(&source.targets));
    let body = postcard::serialize_with_flavor(&all, Body(Vec::new()))
        .unwrap_or_else(|error| unreachable!("memory takes all of it: {error}"));
    [&MAGIC[..], &check_sum(&body).to_le_bytes(), &body].concat()
}

/// Nodes, feeds and targets.
fn decoded(bytes: &[u8]) -> Result<(Nodes, Vec<ValueId>, Vec<ValueId>), String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it begins with something else")?;
    let (sum, body) = rest.split_first_chunk().ok_or("it is cut off")?;
    if check_sum(body) != u64::from_le_bytes(*sum) {
        return Err("it is damaged".into());
    }
    let (read, feeds, targets): (Vec<Read>, _, _) = postcard::from_bytes(body).map_err(|error| error.to_string())?;
    let mut nodes = Nodes::default();
    for (op, inputs, output, method) in read {
        nodes.push(Node { op, inputs, output, method: Sel::named(&method).name() });
    }
    Ok((nodes, feeds, targets))
}

/// Bytes that grow.
struct Body(Vec<u8>);

impl Flavor for Body {
    type Output = Vec<u8>;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

/// FNV-1a, 64 bits.
fn check_sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
