//! Makes one operation of a power of integers by squaring.
//!
//! MPSGraph's power is one of floats. Who wants an exact one of integers multiplies, for each bit of the exponent, with
//! the base squared so often, or with 1 if the bit is not set: five nodes for each bit, also of small exponents. The
//! operation ends at the highest bit that an exponent has. Products wrap, so the low bits of a wider power are the
//! power.

use super::reading::binary;
use super::{Job, constants};
use crate::ir::{BinaryOp, DType, ElementwiseOp, Leaf, Node, Nodes, Op, TensorType, ValueId};

/// Fewer bits are not worth the conversions.
const FEWEST: u32 = 5;

/// The same job with such operations; the nodes that made the powers are left over.
pub fn join(job: Job) -> Job {
    job.rebuilt(|nodes, node, id, renumbered| match Power::of(&job.nodes, id).filter(|power| power.bits >= FEWEST) {
        Some(Power { base, exponent, bits, .. }) => {
            let [base, exponent] = [base, exponent].map(|id| renumbered[id.0 as usize]);
            push(nodes, &node, base, exponent, bits)
        }
        None => nodes.push(node),
    })
}

/// A power of `base` by the lowest `bits` of `exponent`.
///
/// For exponents of three bits the graph is
///
/// ```text
/// square1, square2 = base * base, square1 * square1
/// factor0          = select(exponent & 1 != 0, base, 1)           factor
/// factor1          = select(exponent & 2 != 0, square1, 1)
/// factor2          = select(exponent & 4 != 0, square2, 1)
/// power            = (factor0 * factor1) * factor2                Power::of, from the last factor to the first
/// ```
#[derive(Clone, Copy)]
struct Power {
    base: ValueId,
    exponent: ValueId,
    bits: u32,
    /// The base squared for the highest bit.
    square: ValueId,
}

impl Power {
    /// What `id` is, if it is a product of factors for each bit from the lowest on.
    fn of(nodes: &Nodes, id: ValueId) -> Option<Self> {
        let mut factors = Vec::new();
        let mut rest = id;
        let first = loop {
            if let Some(first) = factor(nodes, rest) {
                break first;
            }
            let (product, last) = product(nodes, rest)?;
            factors.push(factor(nodes, last)?);
            rest = product;
        };
        let (exponent, 0, base) = first else { return None };
        let lowest = Self { base, exponent, bits: 1, square: base };
        let power = factors.into_iter().rev().try_fold(lowest, |power, (exponent, bit, square)| {
            let follows = bit == power.bits
                && exponent == power.exponent
                && product(nodes, square) == Some((power.square, power.square));
            follows.then_some(Self { bits: bit + 1, square, ..power })
        })?;
        let is_whole = nodes.ty(base).dtype.is_int() && nodes.ty(exponent).dtype == DType::I32;
        is_whole.then_some(power)
    }
}

fn product(nodes: &Nodes, id: ValueId) -> Option<(ValueId, ValueId)> {
    binary(nodes, id, BinaryOp::Mul)
}

/// Exponent, bit and square of a factor: the square if the bit is set, else 1.
fn factor(nodes: &Nodes, id: ValueId) -> Option<(ValueId, u32, ValueId)> {
    let Node { op, inputs, output, .. } = nodes.node(id);
    if *op != ElementwiseOp::Select.into() || !output.dtype.is_int() {
        return None;
    }
    let &[set, square, one] = &inputs[..] else { return None };
    let 1 = constants::integer(nodes, one)? else { return None };
    let test = nodes.node(set);
    let masked = *test.inputs.first().filter(|_| test.op == BinaryOp::NotEqual.into())?;
    let (0, mask) = (constants::integer(nodes, test.inputs[1])?, nodes.node(masked)) else { return None };
    let exponent = *mask.inputs.first().filter(|_| mask.op == BinaryOp::BitAnd.into())?;
    let bit = constants::integer(nodes, mask.inputs[1])? as u32;
    bit.is_power_of_two().then(|| (exponent, bit.trailing_zeros(), square))
}

/// Adds the power, of the type of `node`.
fn push(nodes: &mut Nodes, node: &Node, base: ValueId, exponent: ValueId, bits: u32) -> ValueId {
    let shapes = [base, exponent].map(|id| nodes.ty(id).shape.clone());
    let mut add = |op: Op, inputs: &[ValueId], dtype: DType, shape: &[usize]| {
        let output = TensorType::new(dtype, shape);
        nodes.push(Node { op, inputs: inputs.to_vec(), output, method: node.method })
    };
    let cast = || Op::from(ElementwiseOp::Cast);
    let wide = if node.output.dtype.size() == 8 { DType::U64 } else { DType::U32 };
    let base = add(cast(), &[base], wide, &shapes[0]);
    // Unsigned before it is widened.
    let mut number = add(cast(), &[exponent], DType::U32, &shapes[1]);
    if bits < u32::BITS {
        let mut mask = [0; 8];
        mask[..4].copy_from_slice(&((1u32 << bits) - 1).to_ne_bytes());
        let mask = add(Leaf::Splat(mask).into(), &[], DType::U32, &[]);
        number = add(BinaryOp::BitAnd.into(), &[number, mask], DType::U32, &shapes[1]);
    }
    let number = add(cast(), &[number], wide, &shapes[1]);
    let power = add(BinaryOp::Pow.into(), &[base, number], wide, &node.output.shape);
    add(cast(), &[power], node.output.dtype, &node.output.shape)
}
