//! `MPSGraphTensor`: a value of a graph.

use std::sync::{Arc, OnceLock};

use crate::ir::{TensorType, ValueId};
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0};

use super::builder::Core;
use super::{dtype, operation, shape};

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphTensor",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[method0("shape", shape_array), method0("dataType", data_type), method0("operation", operation_of)],
    class: &[],
};

/// Payload of a tensor.
pub(crate) struct Tensor {
    core: Arc<Core>,
    value: ValueId,
    ty: TensorType,
    shape: OnceLock<Strong>,
}

impl Tensor {
    pub fn new(core: Arc<Core>, value: ValueId, ty: TensorType) -> Self {
        Self { core, value, ty, shape: OnceLock::new() }
    }

    /// The graph it belongs to.
    pub fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// The node that makes it.
    pub fn value(&self) -> ValueId {
        self.value
    }
}

extern "C-unwind" fn shape_array(this: This<'_>, _: Sel) -> Id {
    let tensor = this.state::<Tensor>();
    tensor.shape.get_or_init(|| Strong::retain(shape::array(&tensor.ty.shape))).id()
}

extern "C-unwind" fn data_type(this: This<'_>, _: Sel) -> u32 {
    dtype::code(this.state::<Tensor>().ty.dtype)
}

extern "C-unwind" fn operation_of(this: This<'_>, _: Sel) -> Id {
    operation::of(&this)
}
