//! A message to a graph while it is being answered: the locked graph, and checks that panic with the message's name.
//!
//! A violation unwinds through [`Builder`] and so poisons the graph's lock. On a Mac one bad node makes every later
//! compile of its graph abort; here every later message to the graph is refused with that reason.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::foundation::ns_array;
use crate::ignore_poison::IgnorePoison;
use crate::ir::{BinaryOp, DType, ElementwiseOp, Leaf, Node, Nodes, Op, TensorType, UnaryOp, ValueId, ViewOp};
use crate::objc::{Id, MacOs, Sel, Strong, This, new_object, violation};

use super::accepts;
pub(crate) use super::accepts::Accepts;
use super::dtype;
use super::graph::Graph;
use super::shape::{self, Shown};
use super::tensor::{self, Tensor};

/// What a graph and its tensors share.
#[derive(Default)]
pub(crate) struct Core {
    state: Mutex<State>,
}

/// A graph's nodes and the objects that stand for them.
#[derive(Default)]
pub(crate) struct State {
    pub nodes: Nodes,
    /// Tensors in the order they were made; the graph keeps them alive, as Apple's does.
    pub tensors: Vec<Strong>,
    pub placeholders: Vec<Strong>,
}

impl From<State> for Core {
    fn from(state: State) -> Self {
        Self { state: Mutex::new(state) }
    }
}

impl Core {
    /// The graph's state for a message to `this`.
    pub fn lock(&self, this: This<'_>, cmd: Sel) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|_| {
            let reason =
                "an earlier message to this graph was refused; MPSGraph aborts when it compiles an invalid node";
            violation::report(this, cmd, format_args!("{reason}"))
        })
    }

    /// The graph's state, also after a refused message.
    pub fn look(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }
}

/// An answer under way to a message to a graph.
pub(crate) struct Builder<'a> {
    this: This<'a>,
    cmd: Sel,
    core: &'a Arc<Core>,
    state: MutexGuard<'a, State>,
}

/// Panics with the message's name and the given text.
macro_rules! refuse {
    ($builder:expr, $($text:tt)+) => {
        $builder.refuse(::core::format_args!($($text)+))
    };
}
pub(crate) use refuse;

impl<'a> Builder<'a> {
    /// Begins the answer to a message to a graph.
    pub fn open(this: This<'a>, cmd: Sel, name: Id) -> Self {
        let core = this.state::<Graph>().core();
        let builder = Self { this, cmd, core, state: core.lock(this, cmd) };
        if !name.is_nil() && !name.is_kind_of("NSString") {
            refuse!(builder, "the name is {}, not an NSString", name.class_name());
        }
        builder
    }

    /// Panics with the message's name.
    pub fn refuse(&self, text: fmt::Arguments<'_>) -> ! {
        violation::report(self.this, self.cmd, text)
    }

    /// The value of an operand, a tensor of this graph.
    pub fn value(&self, tensor: Id, role: &str) -> ValueId {
        self.value_of(&Strong::retain(tensor), role)
    }

    fn value_of(&self, tensor: &Strong, role: &str) -> ValueId {
        let Some(state) = tensor.try_state::<Tensor>() else {
            refuse!(self, "the {role} tensor is {}, not an MPSGraphTensor", tensor.id().class_name());
        };
        if !Arc::ptr_eq(state.core(), self.core) {
            refuse!(self, "the {role} tensor belongs to another graph: Apple aborts when it compiles");
        }
        state.value()
    }

    /// The value of an operand, whose type must be accepted.
    pub fn operand(&self, tensor: Id, role: &str, accepts: Accepts) -> ValueId {
        let value = self.value(tensor, role);
        self.check(value, role, accepts);
        value
    }

    /// Refuses a value whose element type is not accepted.
    pub fn check(&self, value: ValueId, role: &str, accepts: Accepts) {
        if !accepts.has(self.dtype(value)) {
            refuse!(self, "the {role} tensor is {}; {}", Shown(self.ty(value)), accepts.why());
        }
    }

    /// Refuses operands of different element types.
    pub fn same_dtype(&self, a: ValueId, b: ValueId) {
        if self.dtype(a) != self.dtype(b) {
            let (a, b) = (Shown(self.ty(a)), Shown(self.ty(b)));
            refuse!(self, "{a} and {b} differ in element type, which Apple's verifier aborts on: cast one of them");
        }
    }

    pub fn ty(&self, value: ValueId) -> &TensorType {
        self.state.nodes.ty(value)
    }

    pub fn dtype(&self, value: ValueId) -> DType {
        self.ty(value).dtype
    }

    pub fn shape(&self, value: ValueId) -> &[usize] {
        &self.ty(value).shape
    }

    pub fn rank(&self, value: ValueId) -> usize {
        self.shape(value).len()
    }

    /// Refuses rank 0.
    pub fn ranked(&self, value: ValueId, role: &str) {
        if self.rank(value) == 0 {
            refuse!(self, "the {role} tensor has rank 0, on which MPSGraph aborts: give it the shape [1]");
        }
    }

    /// The broadcast shape of two.
    pub fn broadcast(&self, a: &[usize], b: &[usize]) -> Vec<usize> {
        shape::broadcast(a, b)
            .unwrap_or_else(|| refuse!(self, "shapes {a:?} and {b:?} do not broadcast: MPSGraph aborts"))
    }

    /// The element type of a code.
    pub fn dtype_of_code(&self, code: u32) -> DType {
        dtype::available(code).unwrap_or_else(|reason| refuse!(self, "{reason}"))
    }

    /// Refuses 64-bit integers where the kernels for them came with a later system.
    pub fn int64_needs(&self, value: ValueId, system: MacOs) {
        let dtype = self.dtype(value);
        if dtype.is_int()
            && dtype.size() == 8
            && let Err(reason) = accepts::since(system, dtype::name(dtype))
        {
            refuse!(self, "the kernel for {reason}");
        }
    }

    /// Refuses a number that the element type rounds to negative infinity.
    pub fn not_negative_infinity(&self, number: f64, dtype: DType) {
        let as_bytes = |number: f64| dtype::bytes_of(number, dtype);
        let overflows = dtype.is_float() && as_bytes(number) == as_bytes(f64::NEG_INFINITY);
        if overflows || number == f64::NEG_INFINITY {
            refuse!(self, "a constant of -inf has brought the compiler down: feed it, or take a large finite number");
        }
    }

    /// The constant that has the same elements as the value, perhaps in another shape, if there is one.
    fn constant_source(&self, value: ValueId) -> Option<ValueId> {
        let node = self.state.nodes.node(value);
        match &node.op {
            Op::Leaf(Leaf::Constant(_) | Leaf::Splat(_)) => Some(value),
            Op::View(ViewOp::Reshape) => self.constant_source(node.inputs[0]),
            Op::Leaf(Leaf::Placeholder) | Op::View(_) | Op::Elementwise(_) | Op::MatMul | Op::Kernel(_) => None,
        }
    }

    /// Whether the value is a constant, perhaps reshaped.
    pub fn is_constant(&self, value: ValueId) -> bool {
        self.constant_source(value).is_some()
    }

    /// Whether all elements of a value are known to be 0.
    pub fn is_zero(&self, value: ValueId) -> bool {
        matches!(self.state.nodes.node(value).op, Op::Leaf(Leaf::Splat(bytes)) if bytes == [0; 8])
    }

    /// Whether two values are one, or become one when equal nodes are joined; `depth` is how many nodes back that is
    /// looked for.
    pub fn are_same(&self, a: ValueId, b: ValueId, depth: usize) -> bool {
        let [x, y] = [a, b].map(|value| self.state.nodes.node(value));
        let is_computed = !x.inputs.is_empty() && x.inputs.len() == y.inputs.len() && x.op == y.op;
        a == b
            || depth > 0
                && is_computed
                && x.output == y.output
                && x.inputs.iter().zip(&y.inputs).all(|(&a, &b)| self.are_same(a, b, depth - 1))
    }

    /// Whether a value is a reshaped integer constant, which the optimiser folds wrongly into gathers and scatters.
    pub fn is_reshaped_integer_constant(&self, value: ValueId) -> bool {
        self.dtype(value).is_int() && self.constant_source(value).is_some_and(|source| source != value)
    }

    /// A shape without dynamic or zero extents.
    pub fn fixed_shape(&self, array: Id) -> Vec<usize> {
        shape::fixed(array).unwrap_or_else(|reason| refuse!(self, "the shape {reason}"))
    }

    /// The numbers of an array.
    pub fn integers(&self, array: Id, role: &str) -> Vec<i64> {
        shape::integers(array).unwrap_or_else(|reason| refuse!(self, "{role}: the argument {reason}"))
    }

    /// As many numbers as `rank`.
    pub fn integers_per_axis(&self, array: Id, role: &str, rank: usize) -> Vec<i64> {
        let numbers = self.integers(array, role);
        if numbers.len() != rank {
            refuse!(self, "{role} has {} numbers for {rank} dimensions: MPSGraph aborts", numbers.len());
        }
        numbers
    }

    /// An axis that may count from the end.
    pub fn axis(&self, axis: i64, rank: usize) -> usize {
        let from_start = if axis < 0 { axis + rank as i64 } else { axis };
        match usize::try_from(from_start) {
            Ok(from_start) if from_start < rank => from_start,
            Ok(_) | Err(_) => refuse!(self, "axis {axis} is not one of {rank} dimensions: MPSGraph aborts"),
        }
    }

    /// An axis that may not count from the end.
    pub fn unsigned_axis(&self, axis: usize, rank: usize) -> usize {
        if axis >= rank {
            refuse!(self, "dimension {axis} is not one of {rank}: the result has no shape, or MPSGraph aborts");
        }
        axis
    }

    /// Refuses an axis that Apple's kernels, which see the last four only, do not reach.
    pub fn minor_axis(&self, axis: usize, rank: usize) {
        if axis + 4 < rank {
            refuse!(
                self,
                "axis {axis} of rank {rank} is not one of the last four: MPSGraph aborts, so reshape to rank 4"
            );
        }
    }

    /// The tensors of an array.
    pub fn values(&self, array: Id) -> Vec<ValueId> {
        if !array.is_kind_of("NSArray") {
            refuse!(self, "the tensors are {}, not an NSArray", array.class_name());
        }
        ns_array::items(&Strong::retain(array)).iter().map(|tensor| self.value_of(tensor, "listed")).collect()
    }

    /// Appends a node.
    pub fn emit(&mut self, op: impl Into<Op>, inputs: impl Into<Vec<ValueId>>, output: TensorType) -> ValueId {
        let (op, inputs, method) = (op.into(), inputs.into(), self.cmd.name());
        self.state.nodes.push(Node { op, inputs, output, method })
    }

    /// Appends an elementwise node of one operand and its type.
    pub fn unary(&mut self, op: UnaryOp, x: ValueId) -> ValueId {
        let mut ty = self.ty(x).clone();
        if op.is_test() {
            ty.dtype = DType::Bool;
        }
        self.emit(op, [x], ty)
    }

    /// Appends an elementwise node of two operands, which must agree.
    pub fn binary(&mut self, op: BinaryOp, a: ValueId, b: ValueId) -> ValueId {
        self.same_dtype(a, b);
        let shape = self.broadcast(self.shape(a), self.shape(b));
        let dtype = if op.is_comparison() { DType::Bool } else { self.dtype(a) };
        self.emit(op, [a, b], TensorType { dtype, shape })
    }

    /// Appends a choice between two operands of one type, broadcast.
    pub fn select(&mut self, predicate: ValueId, on_true: ValueId, on_false: ValueId) -> ValueId {
        self.same_dtype(on_true, on_false);
        let branches = self.broadcast(self.shape(on_true), self.shape(on_false));
        let shape = self.broadcast(self.shape(predicate), &branches);
        let dtype = self.dtype(on_true);
        self.emit(ElementwiseOp::Select, [predicate, on_true, on_false], TensorType { dtype, shape })
    }

    /// Appends a cast, unless the value already has the type.
    pub fn cast(&mut self, x: ValueId, dtype: DType) -> ValueId {
        if self.dtype(x) == dtype {
            return x;
        }
        let shape = self.shape(x).to_vec();
        self.emit(ElementwiseOp::Cast, [x], TensorType { dtype, shape })
    }

    /// What the cast reads that made the value, if a cast has made it.
    pub fn read_by_cast(&self, x: ValueId) -> Option<ValueId> {
        let node = self.state.nodes.node(x);
        (node.op == ElementwiseOp::Cast.into()).then(|| node.inputs[0])
    }

    /// Appends a reshape, whose volume the caller has checked.
    pub fn reshape(&mut self, x: ValueId, shape: impl Into<Vec<usize>>) -> ValueId {
        let ty = TensorType::new(self.dtype(x), shape);
        self.emit(ViewOp::Reshape, [x], ty)
    }

    /// Appends a number of rank 0.
    pub fn number(&mut self, value: f64, dtype: DType) -> ValueId {
        self.emit(Leaf::Splat(dtype::bytes_of(value, dtype)), [], TensorType::new(dtype, []))
    }

    /// The tensor of a value, for the sender: autoreleased, and kept by the graph.
    pub fn tensor(&mut self, value: ValueId) -> Id {
        if let Err(reason) = shape::limits(self.ty(value)) {
            refuse!(self, "the result {reason}");
        }
        let object = new_object(&tensor::CLASS, Tensor::new(self.core.clone(), value, self.ty(value).clone()));
        self.state.tensors.push(object.clone());
        object.autorelease()
    }

    /// The tensors of values, as an array for the sender.
    pub fn tensor_array(&mut self, values: &[ValueId]) -> Id {
        let tensors: Vec<Id> = values.iter().map(|&value| self.tensor(value)).collect();
        ns_array::array(tensors)
    }

    /// A placeholder of this type.
    pub fn placeholder(&mut self, ty: TensorType) -> Id {
        let value = self.emit(Leaf::Placeholder, [], ty);
        let tensor = self.tensor(value);
        self.state.placeholders.push(Strong::retain(tensor));
        tensor
    }
}
