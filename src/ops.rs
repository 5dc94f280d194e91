//! What can be recorded: the op families, each named after Apple's header.
//!
//! A family's file holds its variants with their attributes, the functions that check shapes and dtypes and record
//! them, and their lowering to MPSGraph nodes, side by side. Nothing here touches a raw pointer, a buffer or a host
//! copy of a tensor. `resize` records ops of other families only and so has no variant.

pub(crate) mod activation;
pub(crate) mod arithmetic;
pub(crate) mod convolution;
pub(crate) mod cumulative;
pub(crate) mod fourier_transform;
pub(crate) mod gather;
pub(crate) mod loss;
pub(crate) mod matrix_multiplication;
pub(crate) mod memory;
pub(crate) mod normalization;
pub(crate) mod pooling;
pub(crate) mod quantization;
pub(crate) mod random;
pub(crate) mod reduction;
pub(crate) mod resize;
pub(crate) mod sample_grid;
pub(crate) mod scatter_nd;
pub(crate) mod sort;
pub(crate) mod tensor_shape;

use burn_backend::DType;
use smallvec::SmallVec;

use self::tensor_shape::TensorShapeOp;
use crate::error::invalid;
use crate::ffi;
use crate::lowering::conversion::{computed_in, may_lose};
use crate::lowering::provenance::{Provenance, Reading, Reshapes};
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// What each family says about its ops.
pub(crate) trait Operation {
    /// Burn's name for messages.
    fn name(&self) -> &'static str;

    /// Adds the op to a graph; the tensor has exactly `output`'s shape and dtype.
    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor;

    /// What MPSGraph's compiler may take the value for, given what it may take the operands for.
    fn provenance(&self, inputs: &[Provenance]) -> Provenance;

    /// Strides in elements of the value, if it may be a view of its first operand, which has this shape, or of what the
    /// lowering made of that; empty if it is packed.
    fn apart(&self, _operand: &[usize]) -> Distances {
        Distances::new()
    }

    /// Whether MPSGraph's compiler rewrites the op by what made its operands, so that some need a barrier
    /// ([`Provenance::needs_barrier`]).
    fn is_rewritten(&self) -> bool;

    /// Whether the op reads its operands as if they were packed ([`Provenance::needs_barrier_to_be_packed`]).
    fn reads_packed(&self) -> bool {
        false
    }

    /// Whether the op is a cast, which the compiler joins with a cast that made its operand.
    fn is_cast(&self) -> bool {
        false
    }

    /// Whether the lowering widens operands of this dtype by a cast that loses nothing, which the compiler joins with a
    /// cast that made the operand, so that what that one loses stays. Most ops compute 16-bit floats in f32.
    fn widens(&self, dtype: DType, _readings: &[Reading<'_>], _output: &TensorType) -> bool {
        computed_in(dtype) != dtype
    }

    /// Whether the lowering ends in a node that the compiler does not see through, so that the node that it rewrites
    /// does not depend on who reads the value.
    fn hides_readers(&self) -> bool {
        false
    }

    /// What the lowering reshapes, if the output has this rank.
    fn reshapes(&self, rank: usize) -> Reshapes;

    /// Bytes of an element of the widest tensors on the way from these operands to the output; 0 if none is wider than
    /// those. No tensor may have more than [`MOST_BYTES`](crate::lowering::MOST_BYTES).
    fn widest(&self, _operands: &[&MpsGraphTensor], _output: &TensorType) -> usize {
        4
    }

    /// Whether MPSGraph's optimization level 1 may compile the op, if all of it is f32.
    fn fits_level_1(&self) -> bool {
        true
    }

    /// Where along each axis the op's region starts, if it has one. A start may be fed instead of being an attribute,
    /// so that it can change without a new program.
    fn starts(&self) -> Starts {
        Starts::new()
    }

    /// The op with the starts that `moving` names left out. They are fed as integers behind the op's own scalars, in
    /// the order of the axes.
    fn with_moving_starts(&self, _moving: &[bool]) -> Op {
        unreachable!("{} has no starts", self.name())
    }
}

/// Where a region starts along each axis.
pub(crate) type Starts = SmallVec<[usize; 4]>;

/// The elements between neighbours along each axis.
pub(crate) type Distances = SmallVec<[usize; 4]>;

/// The families with ops of their own: a variant of [`Op`] each, and [`Operation`] by the family's own type. The second
/// list has those whose attributes would make every recorded op several times as large.
macro_rules! families {
    ([$($family:ident($op:ty),)*] [$($large:ident($boxed:ty),)*]) => {
        /// One recorded operation with its attributes: everything that a program's identity needs besides operand
        /// types.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Op {
            $($family($op),)*
            $($large(Box<$boxed>),)*
        }

        impl Op {
            /// The op as its family knows it.
            fn of_family(&self) -> &dyn Operation {
                match self {
                    $(Op::$family(op) => op,)*
                    $(Op::$large(op) => &**op,)*
                }
            }
        }

        $(impl From<$op> for Op {
            fn from(op: $op) -> Self {
                Op::$family(op)
            }
        })*

        $(impl From<$boxed> for Op {
            fn from(op: $boxed) -> Self {
                Op::$large(Box::new(op))
            }
        })*
    };
}

families! {
    [
        Activation(activation::ActivationOp),
        Arithmetic(arithmetic::ArithmeticOp),
        Cumulative(cumulative::CumulativeOp),
        Gather(gather::GatherOp),
        Loss(loss::LossOp),
        MatrixMultiplication(matrix_multiplication::MatrixMultiplicationOp),
        Memory(memory::MemoryOp),
        Normalization(normalization::NormalizationOp),
        Quantization(quantization::QuantizationOp),
        Random(random::RandomOp),
        Reduction(reduction::ReductionOp),
        SampleGrid(sample_grid::SampleGridOp),
        ScatterNd(scatter_nd::ScatterNdOp),
        Sort(sort::SortOp),
        TensorShape(tensor_shape::TensorShapeOp),
    ]
    [
        Convolution(convolution::ConvolutionOp),
        FourierTransform(fourier_transform::FourierTransformOp),
        Pooling(pooling::PoolingOp),
    ]
}

/// What the bridge asks of an op; see [`Operation`].
impl Op {
    pub fn name(&self) -> &'static str {
        self.of_family().name()
    }

    pub fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        self.of_family().lower(cx, inputs, output)
    }

    /// The marks of the node's value, and which operands the node has to read through barriers; `read_lone` says
    /// whether a reader sees the value with more than one extent of 1.
    pub fn barriers(
        &self,
        readings: &[Reading<'_>],
        output: &TensorType,
        read_lone: bool,
    ) -> (Provenance, SmallVec<[bool; 3]>) {
        let marks: SmallVec<[Provenance; 3]> = readings.iter().map(Reading::marks).collect();
        let is_rewritten = self.is_rewritten();
        let read_lone = read_lone && !self.of_family().hides_readers();
        let begins_with_cast = |dtype| self.of_family().is_cast() || self.of_family().widens(dtype, readings, output);
        let reads_packed = self.of_family().reads_packed();
        let needs = |(reading, marks): (&Reading<'_>, &Provenance)| {
            is_rewritten && marks.needs_barrier(reading, output, read_lone)
                || marks.needs_barrier_for_cast(reading.dtype) && begins_with_cast(reading.dtype)
                || reads_packed && marks.needs_barrier_to_be_packed()
        };
        let barriers = readings.iter().zip(&marks).map(needs).collect();
        (self.provenance(readings, &marks, output), barriers)
    }

    /// The marks of the node's value, from what it reads and the marks of that.
    fn provenance(&self, readings: &[Reading<'_>], inputs: &[Provenance], output: &TensorType) -> Provenance {
        let own_reasons = Provenance::RESHAPED.with(Provenance::CAST);
        let mut own = self.of_family().provenance(inputs).of_node().without(own_reasons);
        let loses = self.of_family().is_cast() && readings.iter().any(|read| may_lose(read.dtype, output.dtype));
        let moves_cast = matches!(self, Op::TensorShape(_)) && Provenance::union_of(inputs).has(Provenance::CAST);
        if loses || moves_cast {
            own = own.with(Provenance::CAST);
        }
        let distances = readings.first().map(|first| self.of_family().apart(first.shape)).unwrap_or_default();
        let is_distant = |&apart: &usize| matrix_multiplication::are_distant(apart);
        if distances.iter().rev().take(2).any(is_distant) {
            own = own.with(Provenance::DISTANT);
        }
        if distances.iter().any(is_distant) {
            own = own.with(Provenance::FAR);
        }
        let ends_in_reshape = match self.reshapes(output.shape.num_dims()) {
            Reshapes::Nothing => false,
            Reshapes::AnyShape => true,
            Reshapes::SeenThrough => Provenance::union_of(inputs).has(Provenance::RESHAPED),
        };
        if ends_in_reshape || self.is_reshape(readings, inputs, output) { own.with(Provenance::RESHAPED) } else { own }
    }

    /// Whether a pattern has left a node whose lowering is its operand as it is read, which is a reshape, or a
    /// reduction that ends in one.
    fn is_reshape(&self, readings: &[Reading<'_>], inputs: &[Provenance], output: &TensorType) -> bool {
        let [operand] = readings else { return false };
        if let Op::Reduction(op) = self {
            let extent = |axis: usize| if op.axes().contains(&axis) { 1 } else { operand.shape[axis] };
            return !(0..operand.shape.len()).map(extent).eq(output.shape.iter().copied());
        }
        let is_whole = *operand.shape == *output.shape
            && matches!(self, Op::TensorShape(TensorShapeOp::Cat { .. } | TensorShapeOp::Slice { .. }));
        is_whole && (operand.made != operand.shape || inputs[0].has(Provenance::RESHAPED))
    }

    pub fn reshapes(&self, rank: usize) -> Reshapes {
        self.of_family().reshapes(rank)
    }

    pub fn is_rewritten(&self) -> bool {
        self.of_family().is_rewritten()
    }

    pub fn widest(&self, operands: &[&MpsGraphTensor], output: &TensorType) -> usize {
        self.of_family().widest(operands, output)
    }

    pub fn fits_level_1(&self) -> bool {
        self.of_family().fits_level_1()
    }

    pub fn starts(&self) -> Starts {
        self.of_family().starts()
    }

    /// Whether there are any [`Self::starts`].
    pub fn has_starts(&self) -> bool {
        !self.starts().is_empty()
    }

    pub fn with_moving_starts(&self, moving: &[bool]) -> Op {
        self.of_family().with_moving_starts(moving)
    }

    /// Whether the value is zeros, which some kernels start from without being given them.
    pub fn is_zeros(&self) -> bool {
        *self == Op::Memory(memory::MemoryOp::Zeros)
    }
}

/// Ends an op along an axis that its operand does not have.
#[track_caller]
fn check_dim(op: &'static str, dim: usize, shape: &[usize]) {
    if dim >= shape.len() {
        invalid(op, format!("dim {dim} is out of range for shape {shape:?}"));
    }
}
