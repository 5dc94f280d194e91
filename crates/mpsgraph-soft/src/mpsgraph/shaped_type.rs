//! `MPSGraphShapedType`: shape and element type of something to be fed.

use std::sync::{Mutex, MutexGuard};

use crate::ignore_poison::IgnorePoison;
use crate::ir::TensorType;
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, method2};
use crate::violation;

use super::{dtype, shape};

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphShapedType",
    superclass: Some(&super::graph_type::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[
        method2("initWithShape:dataType:", init_with_shape),
        method0("shape", shape_array),
        method1("setShape:", set_shape),
        method0("dataType", data_type),
        method1("setDataType:", set_data_type),
        method1("isEqualTo:", is_equal_to),
    ],
    class: &[],
};

/// Payload of a shaped type.
pub(crate) struct ShapedType(Mutex<TensorType>);

impl ShapedType {
    /// The shape and element type that it has now.
    pub fn get(&self) -> MutexGuard<'_, TensorType> {
        self.0.lock().ignore_poison()
    }
}

/// The type that a shape array and a code name; a violation of the message if there is none.
pub(crate) fn read(this: This<'_>, cmd: Sel, shape: Id, code: u32) -> TensorType {
    let shape = shape::fixed(shape).unwrap_or_else(|reason| violation!(this, cmd, "the shape {reason}"));
    let dtype = dtype::available(code).unwrap_or_else(|reason| violation!(this, cmd, "{reason}"));
    let ty = TensorType { dtype, shape };
    if let Err(reason) = shape::limits(&ty) {
        violation!(this, cmd, "{reason}");
    }
    ty
}

extern "C-unwind" fn init_with_shape(this: This<'_>, cmd: Sel, shape: Id, data_type: u32) -> Id {
    this.set_state(ShapedType(Mutex::new(read(this, cmd, shape, data_type))));
    this.id()
}

extern "C-unwind" fn shape_array(this: This<'_>, _: Sel) -> Id {
    shape::array(&this.state::<ShapedType>().get().shape)
}

extern "C-unwind" fn set_shape(this: This<'_>, cmd: Sel, shape: Id) {
    let mut ty = this.state::<ShapedType>().get();
    *ty = read(this, cmd, shape, dtype::code(ty.dtype));
}

extern "C-unwind" fn data_type(this: This<'_>, _: Sel) -> u32 {
    dtype::code(this.state::<ShapedType>().get().dtype)
}

extern "C-unwind" fn set_data_type(this: This<'_>, cmd: Sel, code: u32) {
    let dtype = dtype::available(code).unwrap_or_else(|reason| violation!(this, cmd, "{reason}"));
    this.state::<ShapedType>().get().dtype = dtype;
}

extern "C-unwind" fn is_equal_to(this: This<'_>, _: Sel, other: Id) -> bool {
    let other = Strong::retain(other);
    let Some(other) = other.try_state::<ShapedType>() else {
        return false;
    };
    let own = this.state::<ShapedType>().get().clone();
    own == *other.get()
}
