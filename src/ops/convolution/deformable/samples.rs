//! What the taps meet, and the gradients of that, as recorded ops: bilinear sampling of an image's pixels.
//!
//! The pixels next to a sample are read and written by index, a bundle of channels at once. Pixels outside are a row of
//! zeros behind the image; a factor of 0 would not do, because a pixel that is read in their place may be infinite.

use burn_backend::DType;

use super::corners::Corners;
use super::layout::Layout;
use super::operands::Places;
use crate::bridge::record;
use crate::ffi::{self, DataType, ScatterMode};
use crate::lowering::axis::{joined, part};
use crate::lowering::{Lowering, Operand};
use crate::ops::convolution::ConvolutionOp;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// A recorded sampling, all of it in f32. A mask may follow the other operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DeformableOp {
    layout: Layout,
    wanted: Wanted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wanted {
    /// Of `[offsets, pixels]`.
    Columns,
    /// Of `[offsets, gradient of the columns]`.
    PixelsGradient,
    /// Of `[offsets, gradient of the columns, pixels]`: for y, x and, if there is one, the mask of each row.
    PlacesGradient,
}

impl Layout {
    /// What the taps meet: `(weight groups, places, terms)`.
    pub fn columns(&self, pixels: &MpsGraphTensor, places: &Places) -> MpsGraphTensor {
        self.sample(Wanted::Columns, places, &[pixels], self.columns_shape().to_vec())
    }

    /// The gradient for the pixels.
    pub fn pixels_gradient(&self, columns_grad: &MpsGraphTensor, places: &Places) -> MpsGraphTensor {
        self.sample(Wanted::PixelsGradient, places, &[columns_grad], vec![self.pixel_rows(), self.channels])
    }

    /// The gradients for offsets and mask, in the shapes that Burn gives them.
    pub fn places_gradient(
        &self,
        columns_grad: &MpsGraphTensor,
        pixels: &MpsGraphTensor,
        places: &Places,
    ) -> (MpsGraphTensor, Option<MpsGraphTensor>) {
        let numbers = if places.mask.is_some() { 3 } else { 2 };
        let shape = vec![numbers, self.rows()];
        self.of_places(self.sample(Wanted::PlacesGradient, places, &[columns_grad, pixels], shape))
    }

    fn sample(
        &self,
        wanted: Wanted,
        places: &Places,
        operands: &[&MpsGraphTensor],
        shape: Vec<usize>,
    ) -> MpsGraphTensor {
        let operands: Vec<&MpsGraphTensor> =
            [&places.offsets].into_iter().chain(operands.iter().copied()).chain(&places.mask).collect();
        let op = ConvolutionOp::Deformable(DeformableOp { layout: *self, wanted });
        record(op.into(), &operands, &[], TensorType::new(DType::F32, shape.into()))
    }
}

impl DeformableOp {
    pub fn name(&self) -> &'static str {
        match self.wanted {
            Wanted::Columns => "deformable_columns",
            Wanted::PixelsGradient => "deformable_pixels_gradient",
            Wanted::PlacesGradient => "deformable_places_gradient",
        }
    }

    pub fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let (layout, graph) = (&self.layout, cx.graph());
        let corners = Corners::of(cx, layout, &inputs[0].tensor);
        let operands = match self.wanted {
            Wanted::Columns | Wanted::PixelsGradient => 2,
            Wanted::PlacesGradient => 3,
        };
        let mask = inputs.get(operands).map(|mask| graph.reshape(&mask.tensor, &[layout.rows(), 1]));
        let samples = Samples { cx, layout, corners, mask };
        let in_rows = |operand: &Operand| graph.reshape(&operand.tensor, &[layout.rows(), layout.channels]);
        match self.wanted {
            Wanted::Columns => graph.reshape(&samples.columns(&inputs[1].tensor), &output.shape),
            Wanted::PixelsGradient => samples.pixels_gradient(&in_rows(&inputs[1])),
            Wanted::PlacesGradient => samples.places_gradient(&in_rows(&inputs[1]), &inputs[2].tensor),
        }
    }
}

/// Rows that updates outside of an image are put in, a power of 2.
const OUTSIDE: usize = 1 << 10;

/// The samples of one op.
struct Samples<'a> {
    cx: &'a Lowering<'a>,
    layout: &'a Layout,
    corners: Corners,
    /// Shape `(rows, 1)`.
    mask: Option<ffi::Tensor>,
}

impl Samples<'_> {
    fn masked(&self, x: ffi::Tensor) -> ffi::Tensor {
        match &self.mask {
            Some(mask) => self.cx.graph().multiplication(&x, mask),
            None => x,
        }
    }

    fn columns(&self, pixels: &ffi::Tensor) -> ffi::Tensor {
        self.masked(self.between(&self.read(pixels)))
    }

    /// The pixels of each corner, `(rows, channels)`: above and below, left and right.
    fn read(&self, pixels: &ffi::Tensor) -> [[ffi::Tensor; 2]; 2] {
        let graph = self.cx.graph();
        let zeros = graph.constant_with_scalar(0.0, &[1, self.layout.channels], DataType::F32);
        let pixels = graph.concat(&[pixels, &zeros], 0);
        self.corners.rows.each_ref().map(|pair| pair.each_ref().map(|rows| graph.gather(&pixels, rows, 0, 0)))
    }

    /// The means of the corners, weighted by distance.
    fn between(&self, [[a, b], [c, d]]: &[[ffi::Tensor; 2]; 2]) -> ffi::Tensor {
        let graph = self.cx.graph();
        let [[of_a, of_b], [of_c, of_d]] = self.weights();
        [(b, of_b), (c, of_c), (d, of_d)].into_iter().fold(graph.multiplication(a, &of_a), |sum, (pixels, weight)| {
            graph.addition(&sum, &graph.multiplication(pixels, &weight))
        })
    }

    /// The corners' weights, `(rows, 1)`.
    fn weights(&self) -> [[ffi::Tensor; 2]; 2] {
        let [y, x] = &self.corners.weights;
        y.each_ref().map(|y| x.each_ref().map(|x| self.cx.graph().multiplication(y, x)))
    }

    fn pixels_gradient(&self, columns_grad: &ffi::Tensor) -> ffi::Tensor {
        let (graph, Layout { channels, .. }) = (self.cx.graph(), *self.layout);
        let grad = self.masked(columns_grad.clone());
        let pixels = self.layout.pixel_rows();
        let shape = [pixels + OUTSIDE.min(self.layout.rows()), channels];
        let none = graph.constant_with_scalar(0.0, &shape, DataType::F32);
        let corners = self.corners.rows.as_flattened().iter().zip(self.weights().into_iter().flatten());
        let sums = corners.fold(none, |sums, (rows, weight)| {
            graph.scatter(&sums, &graph.multiplication(&grad, &weight), &self.apart(rows), 0, ScatterMode::Add)
        });
        // Without the rows of the pixels outside.
        part(graph, &sums, &shape, 0, [0, pixels])
    }

    /// The rows of a corner, where those outside are one of [`OUTSIDE`] rows behind the pixels, in turn: sums of many
    /// updates in one row wait for each other (pytorch/pytorch#111173, where a million end in an error; #184780: two
    /// million take 19 s).
    fn apart(&self, rows: &ffi::Tensor) -> ffi::Tensor {
        let graph = self.cx.graph();
        let outside = self.cx.constant(self.layout.pixel_rows() as f64, DType::I32);
        let turn = graph.coordinate_along_axis(0, &[self.layout.rows()]);
        let turn = graph.bitwise_and(&turn, &self.cx.constant((OUTSIDE - 1) as f64, DType::I32));
        graph.select(&graph.equal(rows, &outside), &graph.addition(&turn, &outside), rows)
    }

    fn places_gradient(&self, columns_grad: &ffi::Tensor, pixels: &ffi::Tensor) -> ffi::Tensor {
        let graph = self.cx.graph();
        let pixels = self.read(pixels);
        let [[a, b], [c, d]] = &pixels;
        let [y, x] = &self.corners.weights;
        // How the mean changes along one axis: the corners' differences, weighted along the other axis.
        let change = |[from, to]: [[&ffi::Tensor; 2]; 2], [before, behind]: &[ffi::Tensor; 2]| {
            let [first, second] = [0, 1].map(|at| graph.subtraction(to[at], from[at]));
            graph.addition(&graph.multiplication(&first, before), &graph.multiplication(&second, behind))
        };
        let summed = |grad: &ffi::Tensor, x: &ffi::Tensor| graph.reduction_sum(&graph.multiplication(grad, x), &[1]);
        let zero = self.cx.constant(0.0, DType::F32);
        let grad = self.masked(columns_grad.clone());
        let moved = |change: &ffi::Tensor| graph.select(&self.corners.far, &zero, &summed(&grad, change));
        let mut numbers = vec![moved(&change([[a, b], [c, d]], x)), moved(&change([[a, c], [b, d]], y))];
        if self.mask.is_some() {
            numbers.push(summed(columns_grad, &self.between(&pixels)));
        }
        let numbers: Vec<_> = numbers.iter().map(|number| graph.reshape(number, &[1, self.layout.rows()])).collect();
        joined(graph, &numbers, 0)
    }
}
