//! The computations themselves: plain Rust on slices, without Objective-C and without the compiler's plans. What a
//! plan's steps share with each other, the memory that they work on, is in [`storage`]: it hands out spans, which takes
//! `unsafe`, and `compiler` forbids that.
//!
//! `dispatch!` picks the element type of a generic function, [`vectorised`] the instruction set. Results depend neither
//! on the number of threads nor, but for products of matrices, on the instruction set. Tensors have at least one
//! element here; empty ones never reach the kernels. Modules are `<name>.rs` beside `<name>/`. The tests of a file are
//! in `<name>/tests.rs`, many of them by topic in `<name>/tests/`; a few short ones stand at its end.

pub mod arg_reduce;
pub mod blend;
pub(crate) mod block;
pub mod call;
pub mod cast;
pub mod contraction;
pub mod convolution;
pub mod cumulative;
mod dispatch;
pub mod element;
pub mod elementwise;
pub mod exp;
pub mod gather;
pub mod iota;
pub mod matmul;
pub mod movement;
pub mod non_temporal;
pub mod order;
pub mod random;
pub mod reduce;
#[cfg(test)]
pub(crate) mod row_major;
pub mod row_sum;
pub mod rows;
pub mod scatter;
pub mod softmax;
pub mod sort;
pub mod span;
pub(crate) mod storage;
pub mod strided;
pub mod threads;
pub mod transpose;
pub mod vectorised;
pub mod wide_sum;

use crate::ir::{DType, Op, TensorType};
use call::Call;
use dispatch::dispatch;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a kernel computes, and how. Each kernel is a file: a type that says what a node computes (the attributes, and
/// what the inputs are), and the code that runs it.
///
/// To add one, write the file, name it above among the modules and in the list of [`KernelOp`]; one more operation of
/// its kind is a variant of its type. An operation with several results is several nodes, whose attributes say which
/// result. Kernels allocate nothing. Errors that only the numbers of a run show, such as an index out of range, end the
/// run by [`Call::fail`].
pub trait Kernel: Into<KernelOp> {
    /// Computes every byte of the output.
    fn run(&self, call: Call<'_>);

    /// The element type that stands for this one of the first operand, where there are no loops over this one: the
    /// larger float, of which the result is rounded, or bool for what only asks whether numbers differ from 0.
    fn computes_in(&self, dtype: DType) -> DType {
        dtype
    }

    /// Bytes that [`run`](Self::run) works in besides its operands, for operands of these types: the plan places them.
    fn scratch_bytes(&self, _inputs: &[&TensorType], _output: &TensorType) -> usize {
        0
    }
}

/// Makes what kernels keep for the calling thread, which otherwise is made when it is needed first.
pub fn keep_for_thread() {
    elementwise::run::ARENA.with(|_| ());
    matmul::keep_for_thread();
    scatter::TAKEN.with(|_| ());
}

/// Makes one enum of all kernels.
macro_rules! kernels {
    ($($file:ident::$Kernel:ident,)*) => {
        /// An operation that is neither fused nor a view: one of the kernels.
        #[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum KernelOp {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $Kernel($file::$Kernel),)*
        }

        // Not derived: it would name the kernel twice.
        impl fmt::Debug for KernelOp {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(KernelOp::$Kernel(op) => op.fmt(f),)*
                }
            }
        }

        impl KernelOp {
            fn run(&self, call: Call<'_>) {
                match self {
                    $(KernelOp::$Kernel(op) => op.run(call),)*
                }
            }

            /// See [`Kernel::computes_in`].
            pub fn computes_in(&self, dtype: DType) -> DType {
                match self {
                    $(KernelOp::$Kernel(op) => op.computes_in(dtype),)*
                }
            }

            /// See [`Kernel::scratch_bytes`].
            pub fn scratch_bytes(&self, inputs: &[&TensorType], output: &TensorType) -> usize {
                match self {
                    $(KernelOp::$Kernel(op) => op.scratch_bytes(inputs, output),)*
                }
            }
        }

        $(
            impl From<$file::$Kernel> for KernelOp {
                fn from(op: $file::$Kernel) -> Self {
                    KernelOp::$Kernel(op)
                }
            }

            impl From<$file::$Kernel> for Op {
                fn from(op: $file::$Kernel) -> Self {
                    Op::Kernel(op.into())
                }
            }
        )*
    };
}

kernels! {
    arg_reduce::ArgReduce,
    blend::Blend,
    contraction::Contraction,
    convolution::Convolution,
    cumulative::Cumulative,
    gather::Gather,
    iota::Iota,
    movement::Movement,
    order::Order,
    random::Random,
    reduce::Reduce,
    row_sum::RowSum,
    scatter::Scatter,
    softmax::Softmax,
    sort::Sort,
    wide_sum::WideSum,
}
