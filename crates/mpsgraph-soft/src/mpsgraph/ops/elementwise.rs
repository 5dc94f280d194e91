//! The rule of elementwise operations: operands of one element type, broadcast as in NumPy.

use crate::ir::{BinaryOp, UnaryOp};
use crate::objc::{Id, Sel, This};

use super::super::builder::{Accepts, Builder};

/// Answers a message for a function of one tensor.
pub(crate) fn unary(this: This<'_>, cmd: Sel, tensor: Id, name: Id, op: UnaryOp, accepts: Accepts) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.operand(tensor, "input", accepts);
    let value = builder.unary(op, x);
    builder.tensor(value)
}

/// Answers a message for a function of two tensors.
pub(crate) fn binary(this: This<'_>, cmd: Sel, operands: [Id; 2], name: Id, op: BinaryOp, accepts: Accepts) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let a = builder.operand(operands[0], "primary", accepts);
    let b = builder.operand(operands[1], "secondary", accepts);
    let value = builder.binary(op, a, b);
    builder.tensor(value)
}

/// A method `…Tensor:name:`: the selector, the function, the types it accepts.
macro_rules! unary_method {
    ($selector:literal, $op:ident, $accepts:ident) => {{
        extern "C-unwind" fn body(this: This<'_>, cmd: Sel, tensor: Id, name: Id) -> Id {
            elementwise::unary(this, cmd, tensor, name, UnaryOp::$op, Accepts::$accepts)
        }
        method2($selector, body)
    }};
}

/// A method `…PrimaryTensor:secondaryTensor:name:`: the selector, the function, the types it accepts.
macro_rules! binary_method {
    ($selector:literal, $op:ident, $accepts:ident) => {{
        extern "C-unwind" fn body(this: This<'_>, cmd: Sel, primary: Id, secondary: Id, name: Id) -> Id {
            elementwise::binary(this, cmd, [primary, secondary], name, BinaryOp::$op, Accepts::$accepts)
        }
        method3($selector, body)
    }};
}

pub(crate) use {binary_method, unary_method};
