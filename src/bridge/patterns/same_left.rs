//! Products with one left operand, `a · b` and `a · c`, are parts of one, `a · [b c]`, if the right operands are joined
//! for several left ones or are small: the gates of a recurrent layer read the same state, in each step with the same
//! weights. Biases that are added to all of them are added to the whole.
//!
//! Every element is a sum of the same products, so it stays, but for the order of summation in a wider product.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::add;
use super::joined::{Joined, Members, START, ToJoin, type_of};
use super::reading::{ADD, Readers, either_way, is_float};
use super::regions::PARTS;
use super::sums_of_products::{PRODUCT, is_plain};
use crate::bridge::program::{OperandRef, Program, Source};
use crate::ops::matrix_multiplication::INNER;
use crate::ops::tensor_shape::{AxisRange, TensorShapeOp};

pub(super) fn apply(program: &mut Program) {
    let given = given(program);
    let groups = groups(program, &given);
    let mut uses: HashMap<Members, usize, FixedState> = HashMap::default();
    groups.iter().for_each(|group| *uses.entry(group.right.members()).or_default() += 1);
    let readers = Readers::new(program);
    let mut joined = Joined::new(program);
    for group in groups.iter().filter(|group| group.pays(uses[&group.right.members()])) {
        group.rewrite(program, &readers, &given, &mut joined);
    }
}

/// Products with one left operand.
struct Group {
    left: OperandRef,
    /// In the order of what is joined.
    products: Vec<u32>,
    right: ToJoin,
    width: usize,
}

/// The products by their left operands, those whose right ones no product makes.
fn groups(program: &Program, given: &[bool]) -> Vec<Group> {
    let mut found: Vec<(OperandRef, Vec<u32>)> = Vec::new();
    let mut places: HashMap<OperandRef, usize, FixedState> = HashMap::default();
    for &at in &program.schedule {
        let node = &program.nodes[at as usize];
        if node.op != PRODUCT || !is_plain(program, at) || !is_given(given, &node.inputs[1]) {
            continue;
        }
        let left = OperandRef { barrier: false, ..node.inputs[0].clone() };
        let place = *places.entry(left.clone()).or_insert(found.len());
        if place == found.len() {
            found.push((left, Vec::new()));
        }
        found[place].1.push(at);
    }
    let group = |(left, mut products): (OperandRef, Vec<u32>)| {
        let right = |at: &u32| &program.nodes[*at as usize].inputs[1];
        products.sort_by_key(|at| right(at).source.code());
        let rights: Vec<&OperandRef> = products.iter().map(right).collect();
        let width = rights.iter().map(|right| right.shape[1]).sum();
        let right = ToJoin::new(&rights, 1);
        ((2..=PARTS).contains(&products.len()) && width <= INNER).then_some(Group { left, products, right, width })
    };
    found.into_iter().filter_map(group).collect()
}

/// Which nodes depend on no product, so that what they make can be joined before any.
fn given(program: &Program) -> Vec<bool> {
    let mut given = vec![false; program.nodes.len()];
    for &at in &program.schedule {
        let node = &program.nodes[at as usize];
        given[at as usize] = node.op != PRODUCT && node.inputs.iter().all(|input| is_given(&given, input));
    }
    given
}

fn is_given(given: &[bool], input: &OperandRef) -> bool {
    input.source.node().is_none_or(|at| given[at as usize])
}

impl Group {
    /// Whether the copies, of the right operands for this many groups and of the parts, take less than what is saved:
    /// the left operand is read once.
    fn pays(&self, uses: usize) -> bool {
        let [rows, inner] = [self.left.shape[0], self.left.shape[1]];
        let copied = (2 * self.right.elements() + START).div_ceil(uses) + rows * self.width;
        copied < (self.products.len() - 1) * (rows * inner + START)
    }

    fn rewrite(&self, program: &mut Program, readers: &Readers, given: &[bool], joined: &mut Joined) {
        let right = joined.as_it_is(program, self.right.clone());
        let mut output = type_of(program, &self.left);
        output.shape[1] = self.width;
        let inputs = SmallVec::from_iter([self.left.clone(), right]);
        let mut whole = add(program, PRODUCT, inputs, output.clone());
        let mut parts = self.products.clone();
        if let Some((sums, biases)) = self.biases(program, readers, given) {
            let biases: Vec<&OperandRef> = biases.iter().collect();
            let biases = ToJoin::new(&biases, 1);
            let biases = joined.as_it_is(program, biases);
            whole = add(program, ADD, SmallVec::from_iter([whole, biases]), output.clone());
            parts = sums;
        }
        let mut low = 0;
        for at in parts {
            let node = &mut program.nodes[at as usize];
            let end = low + node.output.shape[1];
            let region = vec![AxisRange::full(output.shape[0]), AxisRange::between(low, end)];
            node.op = TensorShapeOp::Slice { region }.into();
            node.inputs = SmallVec::from_iter([whole.clone()]);
            low = end;
        }
    }

    /// The nodes that add a row to each product and are their only readers, and the rows.
    fn biases(&self, program: &Program, readers: &Readers, given: &[bool]) -> Option<(Vec<u32>, Vec<OperandRef>)> {
        let sum = |&product: &u32| {
            let at = readers.only(product)?;
            let (node, own) = (&program.nodes[at as usize], &program.nodes[product as usize].output);
            if node.op != ADD || !is_float(program, at) || node.output != *own {
                return None;
            }
            let reads = |input: &OperandRef| input.source == Source::Node(product) && input.shape == own.shape;
            let [_, bias] = either_way(&node.inputs).into_iter().find(|[value, _]| reads(value))?;
            let fits = bias.shape[..] == [1, own.shape[1]] && own.shape[0] > 1 && is_given(given, bias);
            fits.then(|| (at, bias.clone()))
        };
        self.products.iter().map(sum).collect::<Option<Vec<_>>>().map(|sums| sums.into_iter().unzip())
    }
}
