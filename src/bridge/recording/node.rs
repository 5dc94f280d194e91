//! A recorded op, and what records one.

use std::hash::BuildHasher;
use std::sync::Arc;

use burn_backend::Shape;
use foldhash::fast::FixedState;
use smallvec::SmallVec;

use crate::bridge::value::{Maker, State, Value};
use crate::lowering::scalar::ScalarInput;
use crate::ops::Op;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::{TensorType, same_extents, shape};

use super::Recording;

/// An operand as the node sees it.
pub(in crate::bridge) struct Input {
    /// The value, if no node of the same recording or segment makes it; one that does keeps it.
    given: Option<Arc<Value>>,
    /// The serial number of the node that makes or has made it.
    made_by: u64,
    /// The shape in which the node reads the value, if that is not the value's own shape.
    other_shape: Option<Box<Shape>>,
}

/// A recorded op.
pub(in crate::bridge) struct Node {
    pub op: Op,
    pub inputs: SmallVec<[Input; 3]>,
    pub scalars: SmallVec<[ScalarInput; 1]>,
    pub value: Arc<Value>,
    /// Of op, output and kinds of scalars.
    pub hash: u64,
    /// Ascending within a recording, and different in all recordings.
    pub serial: u64,
}

/// An op that is to be recorded.
pub(in crate::bridge) struct NewNode<'a> {
    /// Taken when it is recorded.
    pub op: Option<Op>,
    pub inputs: &'a [&'a MpsGraphTensor],
    pub scalars: &'a [ScalarInput],
    /// Becomes that of the value when it is recorded.
    pub output: TensorType,
    /// Of the output.
    pub bytes: usize,
}

/// Why an op was not recorded.
pub(in crate::bridge) enum Refused {
    /// The recording has reached a bound and has to be flushed first.
    Full(&'static Recording),
    /// Other recordings have to be flushed first, because they make these operands.
    Foreign(Vec<Maker>),
    /// An operand has failed, and so has the op's value.
    Failed(State),
}

impl Input {
    /// An operand that a node of the same recording makes or that is `is_given`.
    fn of(tensor: &MpsGraphTensor, is_given: bool) -> Self {
        let value = &tensor.value.0;
        let is_own_shape = same_extents(&tensor.shape, &value.ty.shape);
        Self {
            given: is_given.then(|| value.clone()),
            made_by: value.made_by(),
            other_shape: (!is_own_shape).then(|| Box::new(shape(tensor.dims()))),
        }
    }

    /// The shape in which the node reads the operand, whose value this is; of as many elements as the value's.
    pub fn shape<'a>(&'a self, value: &'a Value) -> &'a Shape {
        self.other_shape.as_deref().unwrap_or(&value.ty.shape)
    }

    /// The node that makes the operand, if it is in the same recording or segment.
    pub fn producer(&self) -> Option<u64> {
        self.given.is_none().then_some(self.made_by)
    }

    /// Where among these nodes, which are in ascending order, the one is that makes the operand.
    pub fn place_in(&self, nodes: &[Node]) -> Option<usize> {
        place_of(self.producer()?, nodes)
    }

    /// The value, if no node of the same recording or segment makes it.
    pub fn given(&self) -> Option<&Arc<Value>> {
        self.given.as_ref()
    }

    /// The node that makes the operand is not in one recording or segment with the one that reads it any more.
    pub fn give(&mut self, value: &Arc<Value>) {
        self.given = Some(value.clone());
    }
}

impl Node {
    /// A place with an op, and nothing else.
    pub(super) fn unwritten(op: Op) -> Self {
        let value = Arc::new(Value::unused());
        Self { op, inputs: SmallVec::new(), scalars: SmallVec::new(), value, hash: 0, serial: 0 }
    }

    /// Writes all but the op where it stays: to move what was just written takes longer than to write it. The place has
    /// no operands, and a value that nobody has.
    pub(super) fn write(&mut self, new: &mut NewNode<'_>, given: &[bool], hash: u64, maker: Maker) {
        for (tensor, &is_given) in new.inputs.iter().zip(given) {
            self.inputs.push(Input::of(tensor, is_given));
        }
        self.scalars.clear();
        new.scalars.iter().for_each(|scalar| self.scalars.push(*scalar));
        self.hash = hash;
        self.serial = maker.1;
        let Some(value) = Arc::get_mut(&mut self.value) else { unreachable!("nobody has the value of a free place") };
        value.become_recorded(&mut new.output, new.bytes, maker);
    }

    /// The hash that the node has wherever its op's region starts.
    pub fn hash_anywhere(&self) -> u64 {
        match self.op.starts().len() {
            0 => self.hash,
            count => hash(&self.op.with_moving_starts(&vec![true; count]), &self.scalars, &self.value.ty),
        }
    }

    /// Whether anybody has the value but this node, which makes it: a tensor, or a node of another recording.
    ///
    /// Exact while the lock of the recording is held: only a thread that holds a tensor of the value can give it to a
    /// node, and that takes this lock first.
    pub fn is_asked_for(&self) -> bool {
        Value::holders(&self.value) > 1
    }
}

/// A hash of a node's op, kinds of scalars and output.
pub(super) fn hash(op: &Op, scalars: &[ScalarInput], output: &TensorType) -> u64 {
    let own = FixedState::default().hash_one((op, output));
    scalars.iter().fold(own, |hash, scalar| hash.rotate_left(3) ^ scalar.kind() as u64)
}

/// Where the node with this serial number is among nodes in ascending order.
pub(super) fn place_of(serial: u64, nodes: &[Node]) -> Option<usize> {
    let (first, last) = (nodes.first()?.serial, nodes.last()?.serial);
    if !(first..=last).contains(&serial) {
        return None;
    }
    // Without a cut of parts there are no gaps.
    let guess = (serial - first) as usize;
    if nodes.get(guess).is_some_and(|node| node.serial == serial) {
        return Some(guess);
    }
    nodes.binary_search_by_key(&serial, |node| node.serial).ok()
}
