//! `MPSGraphOperation`: the operation that makes a tensor, for callers that walk a graph.
//!
//! The objects are made when a sender asks for them. A composed operation is seen as one: its inputs are the nearest
//! values below it that the sender has seen as tensors.

use crate::foundation::{ns_array, ns_string};
use crate::ir::ValueId;
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, new_object};

use super::builder::State;
use super::tensor::Tensor;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphOperation",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[
        method0("inputTensors", input_tensors),
        method0("outputTensors", output_tensors),
        method0("controlDependencies", control_dependencies),
        method0("name", name),
    ],
    class: &[],
};

struct Operation {
    output: Strong,
}

/// The operation that makes a tensor, autoreleased.
pub(crate) fn of(tensor: &Strong) -> Id {
    new_object(&CLASS, Operation { output: Strong::clone(tensor) }).autorelease()
}

fn tensor_of(state: &State, value: ValueId) -> Option<Id> {
    state.tensors.iter().find(|tensor| tensor.state::<Tensor>().value() == value).map(Strong::id)
}

extern "C-unwind" fn input_tensors(this: This<'_>, _: Sel) -> Id {
    let output = this.state::<Operation>().output.state::<Tensor>();
    let state = output.core().look();
    let mut inputs: Vec<Id> = Vec::new();
    let mut pending: Vec<ValueId> = state.nodes.node(output.value()).inputs.iter().rev().copied().collect();
    while let Some(value) = pending.pop() {
        match tensor_of(&state, value) {
            Some(tensor) if inputs.contains(&tensor) => (),
            Some(tensor) => inputs.push(tensor),
            None => pending.extend(state.nodes.node(value).inputs.iter().rev()),
        }
    }
    ns_array::array(inputs)
}

extern "C-unwind" fn output_tensors(this: This<'_>, _: Sel) -> Id {
    ns_array::array([this.state::<Operation>().output.id()])
}

extern "C-unwind" fn control_dependencies(_: This<'_>, _: Sel) -> Id {
    ns_array::array([])
}

extern "C-unwind" fn name(this: This<'_>, _: Sel) -> Id {
    let output = this.state::<Operation>().output.state::<Tensor>();
    ns_string::string(&format!("operation_{}", output.value().0))
}
