//! A tensor of any kind, dtype and rank on any backend, and the way between it and data.

use burn::tensor::backend::Backend;
use burn::tensor::{BasicOps, Bool, DType, Float, Int, TensorData, TensorPrimitive};
use burn_backend::tensor::{BoolTensor, FloatTensor, IntTensor};

#[derive(Clone)]
pub enum Value<B: Backend> {
    Float(FloatTensor<B>),
    Int(IntTensor<B>),
    Bool(BoolTensor<B>),
}

/// Burn's three kinds, each with the value that holds it.
pub trait Kind<B: Backend>: BasicOps<B> {
    fn value(tensor: Self::Primitive) -> Value<B>;
    /// Panics if the value is of another kind.
    fn tensor(value: Value<B>) -> Self::Primitive;
}

impl<B: Backend> Kind<B> for Float {
    fn value(tensor: TensorPrimitive<B>) -> Value<B> {
        Value::Float(tensor.tensor())
    }

    fn tensor(value: Value<B>) -> TensorPrimitive<B> {
        TensorPrimitive::Float(value.float())
    }
}

impl<B: Backend> Kind<B> for Int {
    fn value(tensor: IntTensor<B>) -> Value<B> {
        Value::Int(tensor)
    }

    fn tensor(value: Value<B>) -> IntTensor<B> {
        value.int()
    }
}

impl<B: Backend> Kind<B> for Bool {
    fn value(tensor: BoolTensor<B>) -> Value<B> {
        Value::Bool(tensor)
    }

    fn tensor(value: Value<B>) -> BoolTensor<B> {
        value.bool()
    }
}

impl<B: Backend> Value<B> {
    pub fn float(self) -> FloatTensor<B> {
        match self {
            Value::Float(tensor) => tensor,
            Value::Int(_) | Value::Bool(_) => panic!("a program has a float tensor here"),
        }
    }

    pub fn int(self) -> IntTensor<B> {
        match self {
            Value::Int(tensor) => tensor,
            Value::Float(_) | Value::Bool(_) => panic!("a program has an integer tensor here"),
        }
    }

    pub fn bool(self) -> BoolTensor<B> {
        match self {
            Value::Bool(tensor) => tensor,
            Value::Float(_) | Value::Int(_) => panic!("a program has a bool tensor here"),
        }
    }

    pub fn from_data(data: TensorData) -> Self {
        fn of<B: Backend, K: Kind<B>>(data: TensorData) -> Value<B> {
            let dtype = data.dtype;
            K::value(K::from_data(data, &Default::default(), dtype))
        }
        match kind(data.dtype) {
            ValueKind::Float => of::<B, Float>(data),
            ValueKind::Int => of::<B, Int>(data),
            ValueKind::Bool => of::<B, Bool>(data),
        }
    }

    pub fn into_data(self) -> TensorData {
        fn of<B: Backend, K: Kind<B>>(value: Value<B>) -> TensorData {
            let data = burn_backend::read_sync(K::into_data_async(K::tensor(value)));
            data.expect("the device works")
        }
        match self {
            Value::Float(_) => of::<B, Float>(self),
            Value::Int(_) => of::<B, Int>(self),
            Value::Bool(_) => of::<B, Bool>(self),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Float,
    Int,
    Bool,
}

/// The kind of the tensors of a dtype.
pub fn kind(dtype: DType) -> ValueKind {
    if dtype.is_float() {
        ValueKind::Float
    } else if dtype.is_bool() {
        ValueKind::Bool
    } else {
        ValueKind::Int
    }
}
