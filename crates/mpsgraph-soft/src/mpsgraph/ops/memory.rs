//! `MPSGraphMemoryOps.h`: placeholders and constants. Variables are left out.

use crate::foundation::ns_data;
use crate::ir::{DType, Leaf, TensorType};
use crate::mpsgraph::builder::{Builder, refuse};
use crate::mpsgraph::dtype::{self, bytes_of};
use crate::mpsgraph::shape::{self, Shown};
use crate::objc::{Id, Method, Sel, Strong, This, method2, method3};

/// The selectors of the header that exist here.
pub const METHODS: &[Method] = &[
    method3("placeholderWithShape:dataType:name:", placeholder),
    method3("constantWithData:shape:dataType:", constant_with_data),
    method2("constantWithScalar:dataType:", scalar),
    method3("constantWithScalar:shape:dataType:", filled),
];

extern "C-unwind" fn placeholder(this: This<'_>, cmd: Sel, shape: Id, data_type: u32, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let dtype = builder.dtype_of_code(data_type);
    if shape.is_nil() {
        refuse!(builder, "placeholders of unknown rank are not supported here");
    }
    let shape = builder.fixed_shape(shape);
    builder.placeholder(TensorType { dtype, shape })
}

extern "C-unwind" fn constant_with_data(this: This<'_>, cmd: Sel, data: Id, shape: Id, data_type: u32) -> Id {
    let mut builder = Builder::open(this, cmd, Id::NIL);
    let ty = TensorType { dtype: builder.dtype_of_code(data_type), shape: builder.fixed_shape(shape) };
    if let Err(reason) = shape::limits(&ty) {
        refuse!(builder, "the constant {reason}");
    }
    if !data.is_kind_of("NSData") {
        refuse!(builder, "the data is {}, not an NSData", data.class_name());
    }
    let data = Strong::retain(data);
    let bytes = ns_data::bytes(&data);
    if bytes.len() != ty.bytes() {
        refuse!(builder, "{} bytes of data for a constant {}: MPSGraph aborts", bytes.len(), Shown(&ty));
    }
    if ty.dtype == DType::Bool && bytes.iter().any(|&byte| byte > 1) {
        refuse!(builder, "the data of a Bool constant holds bytes other than 0 and 1");
    }
    if ty.dtype.is_float() {
        let infinity = &bytes_of(f64::NEG_INFINITY, ty.dtype)[..ty.dtype.size()];
        if bytes.chunks_exact(infinity.len()).any(|element| element == infinity) {
            builder.not_negative_infinity(f64::NEG_INFINITY, ty.dtype);
        }
    }
    let value = builder.emit(Leaf::Constant(bytes.into()), [], ty);
    builder.tensor(value)
}

/// The bytes of a number that the type must be able to hold.
fn checked_bytes(builder: &Builder, value: f64, dtype: DType) -> [u8; 8] {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    builder.not_negative_infinity(value, dtype);
    let shown = dtype::name(dtype);
    if dtype == DType::Bool && value != 0.0 && value != 1.0 {
        refuse!(builder, "{value} as Bool; other numbers than 0 and 1 become 0");
    }
    if dtype.is_int() {
        if value.fract() != 0.0 || value.is_nan() {
            refuse!(builder, "{value} as {shown}; how it would be rounded is not known");
        }
        if value.abs() > EXACT {
            refuse!(builder, "{value} as {shown}: a double is not exact beyond 2^53, use constantWithData:");
        }
        let bits = 8 * dtype.size() as i32;
        let signed = (-2f64.powi(bits - 1), 2f64.powi(bits - 1));
        let (low, high) = if dtype.is_signed() { signed } else { (0.0, 2f64.powi(bits)) };
        if !(low..high).contains(&value) {
            refuse!(builder, "{value} is out of the range of {shown}");
        }
    }
    bytes_of(value, dtype)
}

extern "C-unwind" fn scalar(this: This<'_>, cmd: Sel, value: f64, data_type: u32) -> Id {
    let mut builder = Builder::open(this, cmd, Id::NIL);
    let dtype = builder.dtype_of_code(data_type);
    let bytes = checked_bytes(&builder, value, dtype);
    let value = builder.emit(Leaf::Splat(bytes), [], TensorType::new(dtype, []));
    builder.tensor(value)
}

extern "C-unwind" fn filled(this: This<'_>, cmd: Sel, value: f64, shape: Id, data_type: u32) -> Id {
    let mut builder = Builder::open(this, cmd, Id::NIL);
    let dtype = builder.dtype_of_code(data_type);
    let shape = builder.fixed_shape(shape);
    let bytes = checked_bytes(&builder, value, dtype);
    let value = builder.emit(Leaf::Splat(bytes), [], TensorType { dtype, shape });
    builder.tensor(value)
}
