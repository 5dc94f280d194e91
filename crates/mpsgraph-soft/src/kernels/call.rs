//! What a kernel works on: operands, the memory of its result, and scratch memory.

use super::KernelOp;
use super::span::{Span, SpanMut};
use crate::ir::{DType, TensorType};
use bytemuck::{AnyBitPattern, NoUninit, cast_slice_mut};
use std::fmt;

/// An operand.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub span: Span,
    pub ty: &'a TensorType,
    /// How far its elements are apart along each axis, if it is not packed. Only reductions get such operands.
    pub strides: Option<&'a [usize]>,
}

impl<'a> Input<'a> {
    /// Its memory as elements, or as bytes.
    pub fn elements<T: AnyBitPattern>(&self) -> &[T] {
        self.span.slice()
    }

    /// Its bytes and extents.
    pub fn parts(&self) -> (&[u8], &'a [usize]) {
        (self.elements(), &self.ty.shape)
    }

    /// Its extents.
    pub fn shape(&self) -> &'a [usize] {
        &self.ty.shape
    }

    /// Its element type.
    pub fn dtype(&self) -> DType {
        self.ty.dtype
    }
}

/// One run of a kernel.
pub struct Call<'a> {
    /// The message that asked for the node.
    pub method: &'static str,
    pub inputs: &'a [Input<'a>],
    /// Type of the result.
    pub ty: &'a TensorType,
    /// Memory of the result; the kernel writes all of it.
    pub output: &'a mut [u8],
    /// As much memory as `Kernel::scratch_bytes` asked for, with arbitrary contents.
    pub scratch: &'a mut [u8],
}

impl Call<'_> {
    /// The result's memory as elements.
    pub fn output_elements<T: NoUninit + AnyBitPattern>(&mut self) -> &mut [T] {
        cast_slice_mut(self.output)
    }

    /// Ends the run, which fails the command buffer, for a reason that only the numbers of this run have shown.
    pub fn fail(&self, reason: fmt::Arguments<'_>) -> ! {
        panic!("{} {reason}", self.method)
    }
}

impl KernelOp {
    /// Runs the kernel on `inputs` and writes every byte of `output`.
    pub fn execute(
        &self,
        method: &'static str,
        inputs: &[Input<'_>],
        (mut output, ty): (SpanMut, &TensorType),
        scratch: Option<SpanMut>,
    ) {
        let filled = ty.elements() > 0 && inputs.iter().all(|input| input.ty.elements() > 0);
        assert!(filled, "{self:?}: an empty tensor");
        let mut scratch = scratch;
        let scratch = scratch.as_mut().map_or(&mut [][..], SpanMut::slice);
        self.run(Call { method, inputs, ty, output: output.slice(), scratch });
    }
}
