//! Reading an image at points of a grid, `grid_sample_2d`.
//!
//! The pixels next to each point are read by index, weighted and added. MPSGraph's own sampling is not used: pytorch's
//! mps/operations/GridSampler.mm refuses its border padding, it rounds halves to even, where some lines of Burn round
//! them away from 0, and Apple does not document what it makes of NaN.

mod coordinate;

use burn_backend::DType;
use burn_backend::ops::{GridSampleOptions, GridSamplePaddingMode};

use self::coordinate::{Coordinates, Place};
use super::resize::Filter;
use super::{Operation, memory, tensor_shape};
use crate::bridge::record;
use crate::burn::{HALF_TO_EVEN, filter_of};
use crate::dtype::Elements;
use crate::error::{Call, invalid, unsupported};
use crate::ffi;
use crate::lowering::axis::part;
use crate::lowering::conversion::{computed_in, convert};
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::rank::reshaped;
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// `[pixels, grid (batch, points, 2)]` of one float dtype to points that lie as the pixels do. A grid's x, which comes
/// first, is along the width: -1 and 1 are its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SampleGridOp {
    height: usize,
    width: usize,
    method: Method,
    outside: Outside,
    layout: Layout,
    /// Whether -1 and 1 are the outermost pixels' centers, else their outer edges.
    align_corners: bool,
}

/// How pixels, and the results, lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Layout {
    /// The channels of a pixel side by side: `(batch * pixels, channels)`, `(batch, points, channels)`. They are read
    /// together, and coordinates are broadcast along them.
    Rows,
    /// Each channel by itself: `(channels, batch * pixels)`, `(channels, batch, points)`.
    Planes,
}

/// So many channels make rows; fewer are too short for loops along them.
const ROW: usize = 8;

/// Pixels of an axis, at most: f32 holds the number of each.
const LONGEST: usize = 1 << 24;

/// What is made of the pixels next to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Method {
    /// The nearest one; half way it is the one with the even number, or the one farther from 0.
    Nearest { half_to_even: bool },
    /// The mean of four, weighted by the point's distance.
    Bilinear,
}

/// What is outside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Outside {
    Zeros,
    /// The outermost pixels. A point that is not finite is the center of the image.
    Border,
    /// The image, mirrored at its edges over and over.
    Reflection,
}

/// `tensor (batch, channels, height, width)` at the points of `grid (batch, rows, columns, 2)`: gives
/// `(batch, channels, rows, columns)`.
pub(crate) fn grid_sample_2d(
    tensor: MpsGraphTensor,
    grid: MpsGraphTensor,
    options: GridSampleOptions,
) -> MpsGraphTensor {
    const NAME: &str = "grid_sample_2d";
    let _call = Call::begin(NAME, [tensor.typed(), grid.typed()]);
    let dtype = tensor.dtype();
    Elements::Floats.require(NAME, &tensor);
    if grid.dtype() != dtype {
        let given = [tensor.typed(), grid.typed()];
        invalid(NAME, format!("tensor and grid {given:?}; one float dtype is expected: cast one"));
    }
    let method = match filter_of(&options.mode) {
        Filter::Nearest { middle: false } => Method::Nearest { half_to_even: HALF_TO_EVEN },
        Filter::Linear => Method::Bilinear,
        Filter::Nearest { middle: true } | Filter::Cubic | Filter::Lanczos3 => {
            unsupported(NAME, format!("mode {:?}; Burn defines Nearest and Bilinear here", options.mode))
        }
    };
    let (&[batch, channels, height, width], &[grids, rows, columns, 2]) = (tensor.dims(), grid.dims()) else {
        wrong_shapes(NAME, &tensor, &grid)
    };
    if grids != batch {
        wrong_shapes(NAME, &tensor, &grid);
    }
    let shape = [batch, channels, rows, columns];
    if shape.contains(&0) {
        return memory::zeros(shape.into(), dtype);
    }
    if height == 0 || width == 0 {
        invalid(NAME, format!("tensor of shape {:?} has no pixels", tensor.dims()));
    }
    if height.max(width) > LONGEST {
        unsupported(
            NAME,
            format!(
                "tensor of shape {:?}: coordinates are f32, which does not tell pixels beyond 2^24 apart; sample parts \
                 of the image, or give it more rows or columns",
                tensor.dims()
            ),
        );
    }
    let outside = match options.padding_mode {
        GridSamplePaddingMode::Zeros => Outside::Zeros,
        GridSamplePaddingMode::Border => Outside::Border,
        GridSamplePaddingMode::Reflection => Outside::Reflection,
    };
    let layout = if channels < ROW { Layout::Planes } else { Layout::Rows };
    let op = SampleGridOp { height, width, method, outside, layout, align_corners: options.align_corners };
    let (points, pixels) = (rows * columns, height * width);
    let grid = grid.with_shape([batch, points, 2].into());
    let images = tensor.with_shape([batch, channels, pixels].into());
    // Both are their own inverse.
    let (axes, from, to) = match layout {
        Layout::Rows => ([0, 2, 1], [batch * pixels, channels], [batch, points, channels]),
        Layout::Planes => ([1, 0, 2], [channels, batch * pixels], [channels, batch, points]),
    };
    let images = tensor_shape::permute(images, &axes).with_shape(from.into());
    let sampled = record(op.into(), &[&images, &grid], &[], TensorType::new(dtype, to.into()));
    tensor_shape::permute(sampled, &axes).with_shape(shape.into())
}

fn wrong_shapes(op: &'static str, tensor: &MpsGraphTensor, grid: &MpsGraphTensor) -> ! {
    let (tensor, grid) = (tensor.dims(), grid.dims());
    let expected = "(batch, channels, height, width) and (batch, rows, columns, 2)";
    invalid(op, format!("tensor of shape {tensor:?} and grid of shape {grid:?}; {expected} are expected"))
}

impl Operation for SampleGridOp {
    fn name(&self) -> &'static str {
        "grid_sample_2d"
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let &[batch, points, _] = inputs[1].ty.shape.as_slice() else { unreachable!("recorded with three axes") };
        let graph = cx.graph();
        // The shape of coordinates, which are the same for all channels.
        let (image_axis, one_each) = match self.layout {
            Layout::Rows => (0, [batch, points, 1]),
            Layout::Planes => (1, [1, batch, points]),
        };
        let grid = convert(cx, &inputs[1].tensor, output.dtype, DType::F32);
        let places = {
            let column = |at| {
                let column = part(graph, &grid, &[batch, points, 2], 2, [at, at + 1]);
                reshaped(cx, &column, &[batch, points, 1], &one_each)
            };
            let coordinates = Coordinates { cx, op: *self };
            coordinates.places([column(0), column(1)], [self.width, self.height])
        };
        // The first pixel of each point's own image.
        let first = (batch > 1).then(|| {
            let image = graph.coordinate_along_axis(image_axis, &one_each);
            graph.multiplication(&image, &cx.constant((self.height * self.width) as f64, DType::I32))
        });
        let read = |neighbours: [usize; 2], dtype: DType| {
            let pixels = Pixels { cx, op: *self, of: &inputs[0], first: first.as_ref(), dtype };
            pixels.read(&places, neighbours, &output.shape)
        };
        let [x, y] = [&places[0].behind, &places[1].behind];
        let [Some(x), Some(y)] = [x, y] else { return read([0, 0], output.dtype) };
        let wide = computed_in(output.dtype);
        let one = cx.constant(1.0, DType::F32);
        let weights = |behind: &ffi::Tensor| [graph.subtraction(&one, behind), behind.clone()];
        let [x, y] = [weights(x), weights(y)];
        let term = |[at_x, at_y]: [usize; 2]| {
            graph.multiplication(&read([at_x, at_y], wide), &graph.multiplication(&x[at_x], &y[at_y]))
        };
        let sum = [[0, 1], [1, 0], [1, 1]]
            .into_iter()
            .fold(term([0, 0]), |sum, neighbours| graph.addition(&sum, &term(neighbours)));
        convert(cx, &sum, wide, output.dtype)
    }

    fn provenance(&self, _inputs: &[Provenance]) -> Provenance {
        Provenance::NONE
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reshapes(&self, _rank: usize) -> Reshapes {
        Reshapes::AnyShape
    }
}

/// The image, to be read as `dtype`.
struct Pixels<'a> {
    cx: &'a Lowering<'a>,
    op: SampleGridOp,
    of: &'a Operand,
    first: Option<&'a ffi::Tensor>,
    dtype: DType,
}

impl Pixels<'_> {
    /// Of each point's pixels along width and height, those of these numbers.
    fn read(&self, places: &[Place; 2], neighbours: [usize; 2], shape: &[usize]) -> ffi::Tensor {
        let graph = self.cx.graph();
        let [x, y] = [0, 1].map(|axis| &places[axis].pixels[neighbours[axis]]);
        let width = self.cx.constant(self.op.width as f64, DType::I32);
        let within = graph.addition(&graph.multiplication(&y.index, &width), &x.index);
        let index = self.first.map_or_else(|| within.clone(), |first| graph.addition(&within, first));
        let (axis, count) = match self.op.layout {
            Layout::Rows => (0, shape[0] * shape[1]),
            Layout::Planes => (1, shape[1] * shape[2]),
        };
        let read = graph.gather(&self.of.tensor, &graph.reshape(&index, &[count]), axis, 0);
        let read = graph.reshape(&convert(self.cx, &read, self.of.ty.dtype, self.dtype), shape);
        match self.op.outside {
            Outside::Border | Outside::Reflection => read,
            // Not by a factor of 0, because the pixel that is read in place of one outside may be infinite.
            Outside::Zeros => {
                let zero = self.cx.constant(0.0, self.dtype);
                graph.select(&graph.logical_and(&x.is_inside, &y.is_inside), &read, &zero)
            }
        }
    }
}
