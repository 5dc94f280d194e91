//! The computations themselves: plain Rust on slices, without Objective-C and without the compiler's plans.
//!
//! [`execute`] runs one op on packed operands. A kernel is one generic function: `dispatch!` picks its element type,
//! [`vectorised`] the instruction set. Kernels allocate nothing, and results depend neither on the number of threads
//! nor on the instruction set. Tensors have at least one element here; empty ones never get this far.

use crate::ir::{DType, Op, ScatterMode, TensorType};
use bytemuck::cast_slice;
use half::{bf16, f16};
use span::{Span, SpanMut};

/// Evaluates an expression with a type parameter bound to the Rust type of a [`DType`]: `dispatch!(dtype, T => …)`.
/// Bool is `u8`. `dispatch!(float dtype, T => …)` takes the three floats alone.
macro_rules! dispatch {
    (float $dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            DType::F32 => {
                type $t = f32;
                $body
            }
            DType::F16 => {
                type $t = f16;
                $body
            }
            DType::BF16 => {
                type $t = bf16;
                $body
            }
            other => unreachable!("{other:?} reached a kernel for floats"),
        }
    };
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            DType::F32 => {
                type $t = f32;
                $body
            }
            DType::F16 => {
                type $t = f16;
                $body
            }
            DType::BF16 => {
                type $t = bf16;
                $body
            }
            DType::I8 => {
                type $t = i8;
                $body
            }
            DType::I16 => {
                type $t = i16;
                $body
            }
            DType::I32 => {
                type $t = i32;
                $body
            }
            DType::I64 => {
                type $t = i64;
                $body
            }
            DType::U8 | DType::Bool => {
                type $t = u8;
                $body
            }
            DType::U16 => {
                type $t = u16;
                $body
            }
            DType::U32 => {
                type $t = u32;
                $body
            }
            DType::U64 => {
                type $t = u64;
                $body
            }
        }
    };
}

pub mod arg_reduce;
pub mod cast;
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

/// Runs `op` on packed `inputs`, writing every byte of `output`.
pub fn execute(op: &Op, inputs: &[(Span, &TensorType)], output: (SpanMut, &TensorType)) {
    let (mut out, ty) = output;
    let out = out.slice::<u8>();
    assert!(ty.elements() > 0 && inputs.iter().all(|(_, ty)| ty.elements() > 0), "{op:?}: an empty tensor");
    let bytes = |at: usize| inputs[at].0.slice::<u8>();
    let shape = |at: usize| inputs[at].1.shape.as_slice();
    let view = |at: usize| (bytes(at), shape(at));
    let dtype = |at: usize| inputs[at].1.dtype;
    let to = ty.shape.as_slice();
    let size = ty.dtype.size();
    let scattered = |rows: &rows::Rows, mode: ScatterMode, out: &mut [u8]| {
        let (data, updates, indices) = (bytes(0), bytes(1), (bytes(2), dtype(2)));
        scatter::execute(rows, mode, ty.dtype, [data, updates], indices, out);
        assert!(
            mode != ScatterMode::Set || !scatter::is_contested(rows, size, updates, indices, out),
            "a scatter sets an element to different values: which of them stays is not defined"
        );
    };
    match op {
        Op::Placeholder | Op::Constant(_) | Op::Splat(_) => {
            unreachable!("the plan binds or fills leaves itself")
        }
        Op::Unary(_) | Op::Binary(_) | Op::Select | Op::Clamp | Op::Cast => {
            unreachable!("elementwise ops run in the plan's fused loops")
        }
        Op::MatMul => unreachable!("the plan calls the matrix product itself"),
        Op::Reshape => unreachable!("the plan reads the same bytes"),
        Op::Reinterpret => movement::copy_flat(bytes(0), out),
        Op::Reduce { op, axes } => reduce::execute(*op, ty.dtype, view(0), axes, out),
        Op::ArgReduce { max, axis } => arg_reduce::execute(*max, dtype(0), view(0), *axis, span_i32(out)),
        Op::Transpose { perm } => movement::transpose(size, bytes(0), shape(0), perm, out, to),
        Op::Broadcast => movement::broadcast(size, bytes(0), shape(0), out, to),
        Op::Slice { starts, strides } => movement::slice(size, view(0), starts, strides, out, to),
        Op::SliceUpdate { starts, strides } => {
            movement::slice_update(size, bytes(0), view(1), starts, strides, out, to);
        }
        Op::Concat { axis } => {
            let mut at = 0;
            for input in 0..inputs.len() {
                at += movement::concat_part(size, view(input), *axis, at, out, to);
            }
        }
        Op::Reverse { axes } => movement::reverse(size, bytes(0), to, axes, out),
        Op::Pad { before, value } => movement::pad(size, view(0), before, value, out, to),
        Op::Gather { axis, batch } => {
            let rows = rows::Rows::axis(shape(0), shape(1), *axis, *batch);
            all_within(&rows, (bytes(1), dtype(1)), "gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:");
            gather::execute(&rows, size, bytes(0), (bytes(1), dtype(1)), out);
        }
        Op::GatherNd { batch } => {
            let rows = rows::Rows::nd(shape(0), shape(1), *batch);
            all_within(&rows, (bytes(1), dtype(1)), "gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:name:");
            gather::execute(&rows, size, bytes(0), (bytes(1), dtype(1)), out);
        }
        Op::GatherAlongAxis { axis } => {
            let rows = rows::Rows::along(shape(0), shape(1), *axis);
            gather::execute(&rows, size, bytes(0), (bytes(1), dtype(1)), out);
        }
        Op::Scatter { axis, mode } => {
            let rows = rows::Rows::axis(to, shape(2), *axis, 0);
            all_within(
                &rows,
                (bytes(2), dtype(2)),
                "scatterWithDataTensor:updatesTensor:indicesTensor:axis:mode:name:",
            );
            scattered(&rows, *mode, out);
        }
        Op::ScatterNd { batch, mode } => {
            let rows = rows::Rows::nd(to, shape(2), *batch);
            all_within(
                &rows,
                (bytes(2), dtype(2)),
                "scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:",
            );
            scattered(&rows, *mode, out);
        }
        Op::ScatterAlongAxis { axis, mode } => {
            let rows = rows::Rows::along(to, shape(2), *axis);
            scattered(&rows, *mode, out);
        }
        Op::Softmax { axis } => dispatch!(float ty.dtype, T => {
            softmax::softmax::<T>(cast_slice(bytes(0)), to, *axis, bytemuck::cast_slice_mut(out));
        }),
        Op::Iota { axis } => iota::iota(to, *axis, span_i32(out)),
        Op::RandomUniform { min, max } => {
            let bounds = f32::from_bits(*min)..f32::from_bits(*max);
            random::uniform(cast_slice(bytes(0)), bounds, bytemuck::cast_slice_mut(out));
        }
        Op::RandomState { elements } => random::advance(cast_slice(bytes(0)), *elements, span_i32(out)),
    }
}

/// Panics if an index leads nowhere, which fails the command buffer: only the forms along an axis say what they do
/// then (zero, and no update); what the others do is documented nowhere.
fn all_within(rows: &rows::Rows, (indices, index_type): (&[u8], DType), selector: &str) {
    let outside = match index_type {
        DType::I32 => rows.first_outside::<i32>(cast_slice(indices)).map(i64::from),
        DType::I64 => rows.first_outside::<i64>(cast_slice(indices)),
        other => unreachable!("{other:?} indices"),
    };
    if let Some(index) = outside {
        panic!("{selector} index {index} is out of range: what is read or written is not documented");
    }
}

/// An output of i32.
fn span_i32(out: &mut [u8]) -> &mut [i32] {
    bytemuck::cast_slice_mut(out)
}
