//! `MPSGraph`: a graph under construction.
//!
//! Apple declares its methods in several headers: this file has those of `MPSGraph.h`, [`ops`] has the others.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::foundation::ns_array;
use crate::objc::{ClassDef, ClassKind, Id, Method, Sel, Strong, This, method0, method1, method5};

use super::builder::Core;
use super::{compile, ops};

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraph",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &METHODS,
    class: &[],
};

const OWN: &[Method] = &[
    method0("init", init),
    method0("options", options),
    method1("setOptions:", set_options),
    method0("placeholderTensors", placeholder_tensors),
    method5(
        "compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:",
        compile::compile_with_device,
    )
    .since(12, 0),
];

static METHODS: [Method; count(OWN, ops::FAMILIES)] = joined(OWN, ops::FAMILIES);

const fn count(own: &[Method], families: &[&[Method]]) -> usize {
    let (mut sum, mut at) = (own.len(), 0);
    while at < families.len() {
        sum += families[at].len();
        at += 1;
    }
    sum
}

/// The methods of all lists, one after the other.
const fn joined<const N: usize>(own: &[Method], families: &[&[Method]]) -> [Method; N] {
    let mut methods = [own[0]; N];
    let (mut filled, mut family) = (0, 0);
    while filled < own.len() {
        methods[filled] = own[filled];
        filled += 1;
    }
    while family < families.len() {
        let mut at = 0;
        while at < families[family].len() {
            methods[filled] = families[family][at];
            filled += 1;
            at += 1;
        }
        family += 1;
    }
    methods
}

/// Payload of a graph.
pub(crate) struct Graph {
    core: Arc<Core>,
    options: AtomicUsize,
}

impl Graph {
    /// What it shares with its tensors.
    pub fn core(&self) -> &Arc<Core> {
        &self.core
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // The tensors refer to the core, so they are dropped first. Their destructors do not lock it.
        let mut state = self.core.look();
        let objects = (std::mem::take(&mut state.tensors), std::mem::take(&mut state.placeholders));
        drop(state);
        drop(objects);
    }
}

extern "C-unwind" fn init(this: This<'_>, _: Sel) -> Id {
    /// `MPSGraphOptionsDefault`.
    const SYNCHRONIZE_RESULTS: usize = 1;
    this.set_state(Graph { core: Arc::default(), options: AtomicUsize::new(SYNCHRONIZE_RESULTS) });
    this.id()
}

extern "C-unwind" fn options(this: This<'_>, _: Sel) -> usize {
    this.state::<Graph>().options.load(Relaxed)
}

extern "C-unwind" fn set_options(this: This<'_>, _: Sel, options: usize) {
    this.state::<Graph>().options.store(options, Relaxed);
}

extern "C-unwind" fn placeholder_tensors(this: This<'_>, cmd: Sel) -> Id {
    let state = this.state::<Graph>().core.lock(this, cmd);
    ns_array::array(state.placeholders.iter().map(Strong::id))
}
