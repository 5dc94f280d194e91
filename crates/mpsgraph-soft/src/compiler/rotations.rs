//! Finds products whose result is rotated: each pair of its rows stands for the real and the imaginary parts of complex
//! numbers, which a loop multiplies by constants. A folded product does that while its result is in the cache, which
//! saves two passes over memory.
//!
//! The kernel keeps numbers that are too small to be normal, as products of matrices do, where the loop would make them
//! zeros: the last bits of results may differ where such a number is added. All other bits are the loop's.

use super::Job;
use super::fusion::{self, Group};
use super::views::{LoopOp, View, packed_strides};
use crate::ir::{BinaryOp, DType, ElementwiseOp, Leaf, Op, ValueId};
use crate::kernels::matmul::ROTATION_LANES;
use std::collections::HashMap;

/// The loop behind a product: `sum` is the product times `own`, plus the product with the rows of each pair exchanged
/// times `other`. Both are constants, the same for all of the batch: as large as one matrix, or with one element for
/// several neighbours in a row.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    pub sum: ValueId,
    pub own: ValueId,
    pub other: ValueId,
}

/// The rotations, by their products; `readers` says how often each root is read.
pub fn find(job: &Job, views: &[View], groups: &[Group<'_>], readers: &[usize]) -> HashMap<ValueId, Rotation> {
    let found = groups.iter().filter_map(|group| {
        let Group::Loop(members) = group else { return None };
        let (product, rotation) = rotation(job, views, members)?;
        // The two multiplications read the product, and the sum reads each of them: nothing else is made without it.
        let counts = [product, members[0].0, members[1].0].map(|id| readers[id.0 as usize]);
        (counts == [2, 1, 1]).then_some((product, rotation))
    });
    found.collect()
}

fn rotation(job: &Job, views: &[View], members: &[(ValueId, LoopOp)]) -> Option<(ValueId, Rotation)> {
    let &[(first, LoopOp::Compute(MUL)), (second, LoopOp::Compute(MUL)), (sum, LoopOp::Compute(ADD))] = members else {
        return None;
    };
    let terms: Vec<ValueId> = fusion::operands(&job.nodes, views, sum).iter().map(|view| view.root).collect();
    if terms != [first, second] || job.nodes.ty(sum).dtype != DType::F32 {
        return None;
    }
    let factors = |term: ValueId| {
        let operands = fusion::operands(&job.nodes, views, term);
        let [a, b] = operands.try_into().expect("a multiplication has two operands");
        if job.nodes.node(a.root).op == Op::MatMul { (a, b) } else { (b, a) }
    };
    let ((product, own), (exchanged, other)) = (factors(first), factors(second));
    let node = job.nodes.node(product.root);
    if node.op != Op::MatMul || exchanged.root != product.root {
        return None;
    }
    let &[.., rows, columns] = &node.output.shape[..] else { return None };
    let repeats = [&own, &other].map(|table| table_repeats(job, table, rows * columns));
    let fits = product.is_consecutive()
        && product.elements() == node.output.elements()
        && exchanges_rows(&exchanged, columns)
        && repeats[0]
            .is_some_and(|times| times == 1 || times.is_multiple_of(ROTATION_LANES) && columns.is_multiple_of(times))
        && repeats[0] == repeats[1];
    fits.then_some((product.root, Rotation { sum, own: own.root, other: other.root }))
}

const MUL: ElementwiseOp = ElementwiseOp::Binary(BinaryOp::Mul);
const ADD: ElementwiseOp = ElementwiseOp::Binary(BinaryOp::Add);

/// Whether a view is a whole packed value with each two of its rows exchanged.
fn exchanges_rows(view: &View, columns: usize) -> bool {
    let packed = packed_strides(&view.shape);
    let mut exchanged = 0;
    let others = view.shape.iter().zip(&view.strides).zip(packed).all(|((&extent, &stride), packed)| {
        let here = extent == 2 && stride == -packed && packed == columns as isize;
        exchanged += usize::from(here);
        here || extent == 1 || stride == packed
    });
    others && exchanged == 1 && view.offset == columns
}

/// How many neighbours in a row have the same element of a constant, if the view shows it as a table of `elements`
/// elements: all of the constant, and the whole table again along the first axes.
fn table_repeats(job: &Job, view: &View, elements: usize) -> Option<usize> {
    let root = job.nodes.node(view.root);
    let constant = matches!(root.op, Op::Leaf(Leaf::Constant(_))) && root.output.dtype == DType::F32;
    // A part of a larger constant is no table.
    let times = elements.checked_div(root.output.elements()).filter(|&times| times > 0)?;
    let packed = packed_strides(&view.shape);
    let repeats = view.shape.iter().zip(&view.strides).zip(packed).all(|((&extent, &stride), packed)| {
        let packed = packed as usize;
        // The table again, its elements, or neighbours that share one.
        let again = packed >= elements && packed.is_multiple_of(elements);
        let inside = packed >= times && packed.is_multiple_of(times) && packed * extent <= elements;
        let same = packed * extent <= times;
        extent == 1 || stride == 0 && (again || same) || inside && stride == (packed / times) as isize
    });
    (constant && repeats && view.offset == 0 && root.output.elements() * times == elements).then_some(times)
}
