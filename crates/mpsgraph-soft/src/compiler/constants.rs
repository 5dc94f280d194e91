//! What passes know of constants.

use crate::ir::{Leaf, Nodes, Op, ValueId};

/// The integer that every element of the value is, if it is one constant number.
pub fn integer(nodes: &Nodes, id: ValueId) -> Option<i64> {
    let dtype = nodes.ty(id).dtype;
    let size = dtype.size();
    let bytes = match &nodes.node(id).op {
        Op::Leaf(Leaf::Splat(bytes)) => &bytes[..size],
        Op::Leaf(Leaf::Constant(bytes)) if bytes.len() == size => &bytes[..],
        Op::Leaf(Leaf::Constant(_) | Leaf::Placeholder) => return None,
        Op::Elementwise(_) | Op::View(_) | Op::MatMul | Op::Kernel(_) => return None,
    };
    // All targets are little-endian.
    let fill = if dtype.is_signed() && bytes[size - 1] >= 0x80 { 0xff } else { 0 };
    let mut wide = [fill; 8];
    wide[..size].copy_from_slice(bytes);
    (!dtype.is_float()).then_some(i64::from_le_bytes(wide))
}

/// Whether every element of the value is the constant 0, without a sign.
pub fn is_zero(nodes: &Nodes, id: ValueId) -> bool {
    match &nodes.node(id).op {
        Op::Leaf(Leaf::Splat(bytes)) => *bytes == [0; 8],
        Op::Leaf(Leaf::Constant(bytes)) => bytes.iter().all(|&byte| byte == 0),
        Op::Leaf(Leaf::Placeholder) | Op::Elementwise(_) | Op::View(_) | Op::MatMul | Op::Kernel(_) => false,
    }
}
