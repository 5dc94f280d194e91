//! `MPSGraphMatrixMultiplicationOps.h`: the matrix product, with broadcast batch dimensions.
//!
//! Products that M1 and M2 compute wrongly are refused on all GPUs: their extents can be split everywhere at no cost.

use crate::ir::{Op, TensorType};
use crate::metal::mtl_device;
use crate::mpsgraph::builder::{Accepts, Builder, refuse};
use crate::mpsgraph::shape::Shown;
use crate::objc::version::macos;
use crate::objc::{Id, Method, Sel, This, method3};

/// The selectors of the header that exist here.
pub const METHODS: &[Method] =
    &[method3("matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:", matrix_multiplication)];

/// Inner extents from here on read past the operands on M1 and M2, when both outer extents are at least [`TILE`]
/// (pytorch/pytorch#177116, #195163).
const LONG_INNER: usize = 32_767;
const TILE: usize = 16;

/// Rows and columns beyond this count, and rows further apart, are silently wrong before macOS 14.4
/// (pytorch/pytorch#116769, #111634, #117549 and pytorch's mps/operations/LinearAlgebra.mm).
pub const FAR: usize = 1 << 15;

/// Some products of more axes end the process before macOS 27 (pytorch/pytorch#114942; which, #117837 shows for one).
const AXES: usize = 4;

/// Batches from here on wrap around in the kernel (pytorch/pytorch#189495).
const LARGE_BATCH: usize = 1 << 16;

extern "C-unwind" fn matrix_multiplication(this: This<'_>, cmd: Sel, primary: Id, secondary: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let a = builder.operand(primary, "primary", Accepts::Floats);
    let b = builder.operand(secondary, "secondary", Accepts::Floats);
    builder.same_dtype(a, b);
    let (left, right) = (builder.ty(a), builder.ty(b));
    let (Some((left_batch, &[m, inner])), Some((right_batch, &[k, n]))) =
        (left.shape.split_last_chunk(), right.shape.split_last_chunk())
    else {
        refuse!(builder, "{} times {}: MPSGraph aborts on a rank below 2", Shown(left), Shown(right));
    };
    if inner != k {
        refuse!(builder, "{} times {}: the inner extents differ: MPSGraph aborts", Shown(left), Shown(right));
    }
    if k >= LONG_INNER && m >= TILE && n >= TILE {
        refuse!(builder, "an inner extent of {k} is silently wrong on M1 and M2 from {LONG_INNER} on: split it");
    }
    if macos() < (14, 4) && [m, k, n].into_iter().any(|extent| extent > FAR) {
        refuse!(
            builder,
            "{} times {}: extents beyond {FAR} are silently wrong before macOS 14.4: split them",
            Shown(left),
            Shown(right)
        );
    }
    if macos() < (27, 0) && left.shape.len().max(right.shape.len()) > AXES {
        refuse!(
            builder,
            "{} times {}: some products of more than {AXES} axes end the process before macOS 27: flatten them",
            Shown(left),
            Shown(right)
        );
    }
    if left.dtype.size() == 2 && mtl_device::apple_family() >= 10 && (left.shape.len() > 2 || right.shape.len() > 2) {
        refuse!(
            builder,
            "{} times {}: 16-bit products of more than two axes are not deterministic on M5: flatten them or \
             multiply in Float32",
            Shown(left),
            Shown(right)
        );
    }
    let mut shape = builder.broadcast(left_batch, right_batch);
    let batch: usize = shape.iter().product();
    if batch >= LARGE_BATCH {
        refuse!(builder, "a batch of {batch} matrices: from {LARGE_BATCH} on the kernel wraps around, so split it");
    }
    shape.extend([m, n]);
    let ty = TensorType { dtype: left.dtype, shape };
    let value = builder.emit(Op::MatMul, [a, b], ty);
    builder.tensor(value)
}
