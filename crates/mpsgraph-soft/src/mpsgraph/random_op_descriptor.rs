//! `MPSGraphRandomOpDescriptor`: what random numbers to draw.
//!
//! A descriptor only keeps its properties, which Apple's factory method fills with defaults that depend on the
//! distribution. Setters refuse codes that are none of Apple's; whether the properties fit each other is checked where
//! an operation reads them (`ops/random.rs`).

use std::sync::{Mutex, MutexGuard};

use crate::ignore_poison::IgnorePoison;
use crate::ir::DType;
use crate::objc::{ClassDef, ClassKind, Id, Sel, This, method0, method1, method2, new_object};
use crate::violation;

use super::dtype;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphRandomOpDescriptor",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (12, 1),
    instance: &[
        method0("distribution", distribution),
        method1("setDistribution:", set_distribution),
        method0("dataType", data_type),
        method1("setDataType:", set_data_type),
        method0("min", min),
        method1("setMin:", set_min),
        method0("max", max),
        method1("setMax:", set_max),
        method0("minInteger", min_integer),
        method1("setMinInteger:", set_min_integer),
        method0("maxInteger", max_integer),
        method1("setMaxInteger:", set_max_integer),
        method0("mean", mean),
        method1("setMean:", set_mean),
        method0("standardDeviation", standard_deviation),
        method1("setStandardDeviation:", set_standard_deviation),
        method0("samplingMethod", sampling_method),
        method1("setSamplingMethod:", set_sampling_method),
    ],
    class: &[method2("descriptorWithDistribution:dataType:", descriptor)],
};

pub(crate) const UNIFORM: usize = 0;
pub(crate) const NORMAL: usize = 1;
const TRUNCATED_NORMAL: usize = 2;
pub(crate) const BOX_MULLER: usize = 1;

/// The properties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Properties {
    pub distribution: usize,
    pub dtype: DType,
    pub min: f32,
    pub max: f32,
    pub min_integer: isize,
    pub max_integer: isize,
    pub mean: f32,
    pub standard_deviation: f32,
    pub sampling_method: usize,
}

/// Payload of a descriptor.
pub(crate) struct RandomOpDescriptor(Mutex<Properties>);

impl RandomOpDescriptor {
    /// The properties, to read or change.
    pub fn get(&self) -> MutexGuard<'_, Properties> {
        self.0.lock().ignore_poison()
    }
}

fn properties(this: This<'_>) -> MutexGuard<'_, Properties> {
    this.state::<RandomOpDescriptor>().get()
}

fn checked_distribution(this: This<'_>, cmd: Sel, distribution: usize) -> usize {
    if distribution > TRUNCATED_NORMAL {
        violation!(this, cmd, "{distribution} is not an MPSGraphRandomDistribution");
    }
    distribution
}

fn checked_dtype(this: This<'_>, cmd: Sel, code: u32) -> DType {
    dtype::available(code).unwrap_or_else(|reason| violation!(this, cmd, "{reason}"))
}

extern "C-unwind" fn descriptor(this: This<'_>, cmd: Sel, distribution: usize, data_type: u32) -> Id {
    let uniform = distribution == UNIFORM;
    let properties = Properties {
        distribution: checked_distribution(this, cmd, distribution),
        dtype: checked_dtype(this, cmd, data_type),
        min: if uniform { 0.0 } else { -2.0 },
        max: if uniform { 1.0 } else { 2.0 },
        min_integer: 0,
        max_integer: if uniform { i32::MAX as isize } else { 0 },
        mean: 0.0,
        standard_deviation: if uniform { 0.0 } else { 1.0 },
        sampling_method: 0,
    };
    new_object(&CLASS, RandomOpDescriptor(Mutex::new(properties))).autorelease()
}

extern "C-unwind" fn distribution(this: This<'_>, _: Sel) -> usize {
    properties(this).distribution
}

extern "C-unwind" fn set_distribution(this: This<'_>, cmd: Sel, distribution: usize) {
    properties(this).distribution = checked_distribution(this, cmd, distribution);
}

extern "C-unwind" fn data_type(this: This<'_>, _: Sel) -> u32 {
    dtype::code(properties(this).dtype)
}

extern "C-unwind" fn set_data_type(this: This<'_>, cmd: Sel, code: u32) {
    properties(this).dtype = checked_dtype(this, cmd, code);
}

extern "C-unwind" fn sampling_method(this: This<'_>, _: Sel) -> usize {
    properties(this).sampling_method
}

extern "C-unwind" fn set_sampling_method(this: This<'_>, cmd: Sel, method: usize) {
    if method > BOX_MULLER {
        violation!(this, cmd, "{method} is not an MPSGraphRandomNormalSamplingMethod");
    }
    properties(this).sampling_method = method;
}

macro_rules! numbers {
    ($($getter:ident $setter:ident: $type:ty;)*) => {$(
        extern "C-unwind" fn $getter(this: This<'_>, _: Sel) -> $type {
            properties(this).$getter
        }

        extern "C-unwind" fn $setter(this: This<'_>, _: Sel, value: $type) {
            properties(this).$getter = value;
        }
    )*};
}

numbers! {
    min set_min: f32;
    max set_max: f32;
    min_integer set_min_integer: isize;
    max_integer set_max_integer: isize;
    mean set_mean: f32;
    standard_deviation set_standard_deviation: f32;
}
