//! `MPSGraphDevice`: the device that a graph is compiled for.

use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, new_object};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphDevice",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[method0("metalDevice", metal_device), method0("type", device_type)],
    class: &[method1("deviceWithMTLDevice:", device_with_mtl_device)],
};

/// Payload of a device.
pub(crate) struct Device {
    metal: Strong,
}

/// A graph device on a Metal device, autoreleased.
pub(crate) fn on(metal: Id) -> Id {
    new_object(&CLASS, Device { metal: Strong::retain(metal) }).autorelease()
}

extern "C-unwind" fn device_with_mtl_device(this: This<'_>, cmd: Sel, metal: Id) -> Id {
    if !metal.is_kind_of("MTLDevice") {
        violation!(this, cmd, "the argument is {}, not an MTLDevice", metal.class_name());
    }
    on(metal)
}

extern "C-unwind" fn metal_device(this: This<'_>, _: Sel) -> Id {
    this.state::<Device>().metal.id()
}

extern "C-unwind" fn device_type(_: This<'_>, _: Sel) -> u32 {
    const METAL: u32 = 0;
    METAL
}
