//! Operands of matrix products, convolutions and casts that MPSGraph's compiler must not see through.
//!
//! The compiler looks at the nodes that made an operand and rewrites the product or cast with them, and some of its
//! rewrites are wrong; see the methods of [`Provenance`] that begin with `needs_barrier`. It sees through
//! reshapes, concatenations, casts, and sums and products with constants. It cannot see through a barrier: the maximum
//! with minus infinity, fed as a number that only a run knows, or of integers the sum with a 0 that is made of it. Both
//! change no value and keep NaN. A program in which no operand needs a barrier has neither of them nor the number.
//!
//! Provenances are computed from the recorded ops of one program, so the barriers are part of its identity.

use burn_backend::DType;

use super::rank::{KERNEL_AXES, has_lone_extents};
use crate::ffi::os_version;
use crate::tensor_type::TensorType;

/// What MPSGraph's compiler may take a value for: a set of marks. Each op derives its value's marks from its operands'
/// (`Operation::provenance` in `ops`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Provenance(u16);

impl Provenance {
    /// No mark, as for fed values.
    pub const NONE: Provenance = Provenance(0);
    /// The value of some node.
    const COMPUTED: Provenance = Provenance(1);
    /// e to the power of something.
    pub const EXPONENTIALS: Provenance = Provenance(1 << 1);
    /// Sums of [`Provenance::EXPONENTIALS`].
    pub const TOTALS: Provenance = Provenance(1 << 2);
    /// One over [`Provenance::TOTALS`].
    pub const RECIPROCALS: Provenance = Provenance(1 << 3);
    /// A softmax, however it was composed.
    pub const SOFTMAX: Provenance = Provenance(1 << 4);
    /// Repeated without being copied.
    pub const REPEATED: Provenance = Provenance(1 << 5);
    /// Cut out or permuted without being copied: its rows may be further apart than they are long.
    pub const APART: Provenance = Provenance(1 << 6);
    /// Made by a node that may end in a reshape from a shape of the lowering's own, or by one that the compiler sees
    /// through and that reads its operand in a shape with more than one extent of 1.
    pub const RESHAPED: Provenance = Provenance(1 << 7);

    /// [`Provenance::APART`], so far that a product reads them wrongly on this system.
    pub const DISTANT: Provenance = Provenance(1 << 8);

    /// Permuted without being copied, with the last two axes of before: who reads it with another matrix along these
    /// may see rows that are [`Provenance::APART`].
    pub const PERMUTED: Provenance = Provenance(1 << 9);

    /// Some axis goes so far that who reads it with another matrix along the last two axes may see rows that are
    /// [`Provenance::DISTANT`].
    pub const FAR: Provenance = Provenance(1 << 10);

    /// Made by a cast that may lose something, and seen as it is or cut out and permuted.
    pub const CAST: Provenance = Provenance(1 << 11);

    /// Read in another value's memory, with strides.
    pub const VIEW: Provenance = Provenance::REPEATED
        .with(Provenance::APART)
        .with(Provenance::DISTANT)
        .with(Provenance::PERMUTED)
        .with(Provenance::FAR);

    /// Every mark that either has.
    pub const fn with(self, other: Provenance) -> Provenance {
        Provenance(self.0 | other.0)
    }

    /// The marks without the others.
    pub const fn without(self, other: Provenance) -> Provenance {
        Provenance(self.0 & !other.0)
    }

    /// Whether all of these marks are set.
    pub const fn has(self, marks: Provenance) -> bool {
        self.0 & marks.0 == marks.0
    }

    /// Every mark that any of them has.
    pub fn union_of(each: &[Provenance]) -> Provenance {
        each.iter().fold(Provenance::NONE, |union, &one| union.with(one))
    }

    /// The marks of a node's value, from those that its op gave it.
    pub fn of_node(self) -> Provenance {
        self.with(Provenance::COMPUTED)
    }

    /// The marks of a value for who reads it in a shape: `made` is the one in which it was made or is fed.
    fn read_as(self, made: &[usize], shape: &[usize]) -> Provenance {
        if made == shape {
            return self;
        }
        let is_lone = has_lone_extents(made) || has_lone_extents(shape);
        // Of matrices that stay as they are, the rows lie as they did.
        let regroups = !made.iter().rev().take(2).eq(shape.iter().rev().take(2));
        let marks = [
            (is_lone, Self::RESHAPED),
            (regroups && self.has(Self::PERMUTED), Self::APART),
            (regroups && self.has(Self::FAR), Self::DISTANT),
        ];
        marks.into_iter().filter(|(applies, _)| *applies).fold(self, |union, (_, mark)| union.with(mark))
    }

    /// Whether a matrix product that gives an `output` has to read a value through a barrier, if it has these
    /// [`marks`](Reading::marks) there; `read_lone` says whether a reader sees the output with more than one extent of
    /// 1.
    pub fn needs_barrier(self, reading: &Reading<'_>, output: &TensorType, read_lone: bool) -> bool {
        let Reading { made, shape, dtype, .. } = *reading;
        // MPSGraph replaces softmax(QKᵀ)V by one kernel, which is wrong: on macOS 26 for 17 to 24 positions and three
        // matrices or more (ChanLumerico/lucid, _C/compile), for queries, keys and values that are slices of one
        // computed tensor (MIT-RLX/rlx, rlx-metal), for permuted ones (pytorch/pytorch#181133); on macOS 15 it leaks
        // (pytorch's mps/operations/Attention.mm).
        let attends = self.has(Self::SOFTMAX);
        // MPSGraph reads a row or column that is repeated by stride 0 as if the rows followed each other in memory: all
        // but every 16th row of the product is 0 on macOS 15.0 to 26.3, and again on 27.0 (pytorch/pytorch#180201).
        let repeats = self.has(Self::REPEATED) && os_version::at_least(15, 0);
        // 16-bit products with at most 16 rows or columns read and write beyond the rows of operands whose row stride
        // is larger than a row (pytorch/pytorch#178056).
        let few = output.shape.iter().rev().take(2).any(|&extent| extent <= 16);
        let overruns = self.has(Self::APART) && few && matches!(dtype, DType::F16 | DType::BF16);
        // On macOS 27.0, and by some reports on 26, the compiler ends the process on reshape, product, reshape if one
        // of the shapes has two extents of 1 (pytorch/pytorch#187201, #187379): before the product, of the product, or
        // of those who read it. The last step of the node that made the operand may be such a reshape.
        let lone = || [made, shape, &output.shape].into_iter().any(has_lone_extents);
        let aborts = os_version::at_least(26, 0)
            && (self.has(Self::COMPUTED) || made != shape)
            && (read_lone || self.has(Self::RESHAPED) || lone());
        // On macOS 27.0 also whatever the extents are, if a product of two 16-bit matrices reads the reshape itself
        // (pytorch/pytorch#197796 on M5; #190352).
        let flattened = os_version::at_least(27, 0)
            && output.shape.num_dims() == 2
            && matches!(dtype, DType::F16 | DType::BF16)
            && (self.has(Self::RESHAPED) || made != shape);
        attends || repeats || overruns || self.has(Self::DISTANT) || aborts || flattened
    }

    /// Whether a convolution has to read a value through a barrier, if it has these [`marks`](Reading::marks) there.
    ///
    /// From macOS 15 on MPSGraph's convolutions read weights that are views as if they were packed
    /// (pytorch/pytorch#192212), and by some reports inputs of which channels are cut out, of all images but the first
    /// (#169342 on 26.2, #180984). The reports are of views that were fed; whether slices and permutations inside of a
    /// graph are such views is not known.
    pub fn needs_barrier_to_be_packed(self) -> bool {
        self.without(Self::VIEW) != self && os_version::at_least(15, 0)
    }

    /// Whether a cast has to read a value through a barrier, if it has these [`marks`](Reading::marks) there.
    ///
    /// MPSGraph makes one cast of two, so that what the first one loses stays: f32 to bf16 to f32 rounds nothing
    /// (MIT-RLX/rlx, rlx-metal; DrewsChessMachine, BF16CastEquivalenceTests.swift). So an op that begins with a cast of
    /// 16-bit floats to f32, or of i32 to i64, needs one too ([`Operation::widens`](crate::ops::Operation::widens)).
    /// What other ops than casts cast at their ends may skip a rounding so, and no more: integers fit before they are
    /// cast to narrow or unsigned ones ([`conversion`](super::conversion)), but for u64, which no others hold.
    pub fn needs_barrier_for_cast(self, dtype: DType) -> bool {
        let is_cast_to = matches!(dtype, DType::I32 | DType::I64 | DType::U64) || dtype.is_float();
        self.has(Self::CAST) && is_cast_to
    }
}

/// A value as a node reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    /// Of the value as it was made.
    pub provenance: Provenance,
    pub dtype: DType,
    /// The shape in which it was made or is fed.
    pub made: &'a [usize],
    /// The shape in which it is read.
    pub shape: &'a [usize],
}

impl Reading<'_> {
    /// The marks of the value for the node.
    pub fn marks(&self) -> Provenance {
        self.provenance.read_as(self.made, self.shape)
    }
}

/// In which shapes a lowering has its operands and its value besides those of the recorded node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reshapes {
    /// In no others.
    Nothing,
    /// It may begin with a reshape of an operand, or end with one, from or to any shape.
    AnyShape,
    /// In no others, and the compiler sees through the node: a reader of its value reads its operand.
    SeenThrough,
}

impl Reshapes {
    /// Of a lowering that folds axes by [`within_rank`](super::rank::within_rank).
    pub fn within_rank(rank: usize) -> Self {
        if rank > KERNEL_AXES { Reshapes::AnyShape } else { Reshapes::Nothing }
    }

    /// Whether MPSGraph's compiler may see an operand with more than one extent of 1 that the node reads as `shape`.
    /// `read_lone` says the same of the node's own value.
    pub fn sees_lone(self, shape: &[usize], read_lone: bool) -> bool {
        let inside = match self {
            Reshapes::Nothing => false,
            Reshapes::AnyShape => true,
            Reshapes::SeenThrough => read_lone,
        };
        inside || has_lone_extents(shape)
    }
}
