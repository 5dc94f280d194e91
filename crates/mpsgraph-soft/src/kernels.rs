//! The computations themselves: plain Rust on slices, without Objective-C and without the compiler's plans.
//!
//! A *family* of kernels is a file here: a type that says what a node computes (the attributes, and what the inputs
//! are), and the code that runs it. To add one, write the file, name it below among the modules and in the list of
//! [`KernelOp`]; one more operation of a family is a variant of its type. An operation with several results is several
//! nodes, whose attributes say which result. Memory that a kernel needs besides its operands is named by
//! [`Family::scratch_bytes`], so that the plan places it; kernels allocate nothing. What only the numbers of a run can
//! tell to be wrong, such as an index out of range, ends it by [`Call::fail`].
//!
//! A kernel is one generic function: `dispatch!` picks its element type, [`vectorised`] the instruction set. Results
//! depend neither on the number of threads nor on the instruction set. Tensors have at least one element here; empty
//! ones never get this far. The tests of `<name>.rs` are in `<name>/tests.rs`, as those of every file here are.

pub mod arg_reduce;
pub mod call;
pub mod cast;
mod dispatch;
pub mod element;
pub mod elementwise;
pub mod exp;
pub mod gather;
pub mod iota;
pub mod matmul;
pub mod movement;
pub mod random;
pub mod reduce;
pub mod rows;
pub mod scatter;
pub mod softmax;
pub mod span;
pub mod strided;
pub mod threads;
pub mod transpose;
pub mod vectorised;

use crate::ir::{Op, TensorType};
use call::Call;
use dispatch::dispatch;
use std::fmt;

/// What a kernel computes, and how.
pub trait Family: Into<KernelOp> {
    /// Computes every byte of the output.
    fn run(&self, call: Call<'_>);

    /// Bytes that [`run`](Self::run) works in besides its operands, for operands of these types.
    fn scratch_bytes(&self, _inputs: &[&TensorType], _output: &TensorType) -> usize {
        0
    }
}

/// Makes one enum of all families.
macro_rules! families {
    ($($file:ident::$Family:ident,)*) => {
        /// A node that is neither fused nor read in place: one of the families.
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub enum KernelOp {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $Family($file::$Family),)*
        }

        // Not derived: it would name the family twice.
        impl fmt::Debug for KernelOp {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(KernelOp::$Family(op) => op.fmt(f),)*
                }
            }
        }

        impl KernelOp {
            fn run(&self, call: Call<'_>) {
                match self {
                    $(KernelOp::$Family(op) => op.run(call),)*
                }
            }

            /// See [`Family::scratch_bytes`].
            pub fn scratch_bytes(&self, inputs: &[&TensorType], output: &TensorType) -> usize {
                match self {
                    $(KernelOp::$Family(op) => op.scratch_bytes(inputs, output),)*
                }
            }
        }

        $(
            impl From<$file::$Family> for KernelOp {
                fn from(op: $file::$Family) -> Self {
                    KernelOp::$Family(op)
                }
            }

            impl From<$file::$Family> for Op {
                fn from(op: $file::$Family) -> Self {
                    Op::Kernel(op.into())
                }
            }
        )*
    };
}

families! {
    arg_reduce::ArgReduce,
    gather::Gather,
    iota::Iota,
    movement::Movement,
    random::Random,
    reduce::Reduce,
    scatter::Scatter,
    softmax::Softmax,
}
