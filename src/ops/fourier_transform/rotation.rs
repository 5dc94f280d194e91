//! Complex numbers times constants.

use burn_backend::{DType, Shape, TensorMetadata};

use super::{FourierTransformOp, Length, Table};
use crate::bridge::record;
use crate::ffi;
use crate::lowering::rank::{outer_axis_inner, reshaped};
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// The numbers that a [`Length`] multiplies complex ones with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rotation {
    /// Between the transforms of two factors; of `(count, extents[0], 2, extents[1])`, or with an axis behind them.
    Factors { length: Length, extents: [usize; 2] },
    /// A convolution's, before and behind it; of `(count, 2, points, inner)`.
    Chirp { length: Length, points: usize },
}

impl Rotation {
    /// Records `x` times the numbers. Its axis [`parts`](Self::parts) has the real and the imaginary part.
    pub fn of(self, x: MpsGraphTensor) -> MpsGraphTensor {
        let output = TensorType::new(DType::F32, x.shape());
        record(FourierTransformOp::Rotated(self).into(), &[&x], &[], output)
    }

    pub fn is_inverse(self) -> bool {
        match self {
            Rotation::Factors { length, .. } | Rotation::Chirp { length, .. } => length.inverse,
        }
    }

    fn parts(self) -> usize {
        match self {
            Rotation::Factors { .. } => 2,
            Rotation::Chirp { .. } => 1,
        }
    }

    fn tables(self) -> [Table; 2] {
        match self {
            Rotation::Factors { length, extents } => {
                [Table::RotationReal { length, extents }, Table::RotationImaginary { length, extents }]
            }
            Rotation::Chirp { length, points } => {
                [Table::ChirpReal { length, points }, Table::ChirpImaginary { length, points }]
            }
        }
    }

    pub fn lower(self, cx: &Lowering<'_>, x: &Operand) -> ffi::Tensor {
        let (graph, shape) = (cx.graph(), &x.ty.shape);
        let exchanged = exchanged(cx, &x.tensor, shape, self.parts());
        let [own, other] = self.tables().map(|table| {
            // `x` may lack the axis behind the last extent.
            table.lower(cx, &table.shape()[..shape.num_dims()])
        });
        graph.addition(&graph.multiplication(&x.tensor, &own), &graph.multiplication(&exchanged, &other))
    }
}

/// `x` with the real and the imaginary parts exchanged. Only up to four axes can be reversed.
fn exchanged(cx: &Lowering<'_>, x: &ffi::Tensor, shape: &Shape, parts: usize) -> ffi::Tensor {
    if shape.num_dims() <= 4 {
        return cx.graph().reverse(x, &[parts as isize]);
    }
    let folded = outer_axis_inner(shape, parts);
    let reversed = cx.graph().reverse(&reshaped(cx, x, shape, &folded), &[1]);
    reshaped(cx, &reversed, &folded, shape)
}
