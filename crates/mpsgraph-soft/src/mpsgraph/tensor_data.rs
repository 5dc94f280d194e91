//! `MPSGraphTensorData`: a buffer with the shape and element type to see in it.
//!
//! The bytes stay in the buffer and are read or written when an execution that was given this object runs. They are
//! packed and begin where the buffer begins.

use std::sync::OnceLock;

use crate::ir::TensorType;
use crate::metal::mtl_buffer::Buffer;
use crate::metal::mtl_device;
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method3};
use crate::violation;

use super::shape::Shown;
use super::{device, dtype, shape, shaped_type};

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphTensorData",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[
        method3("initWithMTLBuffer:shape:dataType:", init_with_mtl_buffer),
        method0("shape", shape_array),
        method0("dataType", data_type),
        method0("device", graph_device),
    ],
    class: &[],
};

/// Payload of a tensor data object.
pub(crate) struct TensorData {
    buffer: Strong,
    ty: TensorType,
    shape: OnceLock<Strong>,
}

impl TensorData {
    /// The `MTLBuffer`, which holds at least the type's bytes.
    pub fn buffer(&self) -> &Strong {
        &self.buffer
    }

    /// Type of what is in the buffer.
    pub fn ty(&self) -> &TensorType {
        &self.ty
    }
}

extern "C-unwind" fn init_with_mtl_buffer(this: This<'_>, cmd: Sel, buffer: Id, shape: Id, data_type: u32) -> Id {
    let buffer = Strong::retain(buffer);
    let Some(memory) = buffer.try_state::<Buffer>() else {
        let class = buffer.id().class_name();
        violation!(
            this,
            cmd,
            "the buffer is {class}, not an MTLBuffer: MPSGraph asserts that its device may not be nil"
        );
    };
    let ty = shaped_type::read(this, cmd, shape, data_type);
    if memory.length() < ty.bytes() {
        let (shown, bytes, length) = (Shown(&ty), ty.bytes(), memory.length());
        violation!(this, cmd, "{shown} needs {bytes} bytes, the buffer has {length}: MPSNDArray asserts");
    }
    this.set_state(TensorData { buffer, ty, shape: OnceLock::new() });
    this.id()
}

extern "C-unwind" fn shape_array(this: This<'_>, _: Sel) -> Id {
    let data = this.state::<TensorData>();
    data.shape.get_or_init(|| Strong::retain(shape::array(&data.ty.shape))).id()
}

extern "C-unwind" fn data_type(this: This<'_>, _: Sel) -> u32 {
    dtype::code(this.state::<TensorData>().ty.dtype)
}

extern "C-unwind" fn graph_device(_: This<'_>, _: Sel) -> Id {
    device::on(mtl_device::shared())
}
