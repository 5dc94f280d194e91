//! From a grid's numbers to the pixels next to each point, along one axis.
//!
//! A grid's number counts in halves of the axis, so a pixel's coordinate is `number * scale + center`. In f32, on a
//! long axis, the sum would lose the digits that decide between two neighbours, and some coordinates would become
//! halves by rounding. So the number is cut in two: a multiple of 2^-12, and the small rest. Of the former the sum is
//! exact: the scale of a long axis is cut, too, and whole pixels and parts of one are added by themselves.

use burn_backend::DType;

use super::{Method, Outside, SampleGridOp};
use crate::ffi::{self, DataType};
use crate::lowering::Lowering;

/// A pixel along one axis.
pub(super) struct Pixel {
    /// As i32, within the axis.
    pub index: ffi::Tensor,
    /// Whether that is the pixel itself, else it stands for one outside.
    pub is_inside: ffi::Tensor,
}

/// Where a point is along one axis.
pub(super) struct Place {
    /// The nearest one, or the one at or before the point and the one after that.
    pub pixels: Vec<Pixel>,
    /// How far the point is behind the first of two pixels.
    pub behind: Option<ffi::Tensor>,
}

/// Builds the coordinates of an op in f32.
pub(super) struct Coordinates<'a> {
    pub cx: &'a Lowering<'a>,
    pub op: SampleGridOp,
}

/// Pixels of an axis of which coordinates are exact as one number; and a power of two, so that a digit to this base
/// times a multiple of 2^-12 about 1 is exact, too.
const SHORT: usize = 2048;

/// Grid numbers beyond this are as far outside as this one, and multiples of the scale stay exact below it.
fn far(extent: usize) -> f64 {
    if extent > SHORT { 1.25 } else { 4.0 }
}

/// A coordinate in pixels, without the rest of the number.
struct Coarse {
    /// Whole pixels.
    low: ffi::Tensor,
    /// What is behind them: a multiple of 2^-13 from 0 to below 1.
    behind: ffi::Tensor,
}

impl Coordinates<'_> {
    /// Where the points are along axes of these extents.
    pub fn places(&self, numbers: [ffi::Tensor; 2], extents: [usize; 2]) -> [Place; 2] {
        let graph = self.cx.graph();
        let finite = numbers.each_ref().map(|number| graph.is_finite(number));
        let both = graph.logical_and(&finite[0], &finite[1]);
        let near = |axis: usize| self.near(&numbers[axis], [&finite[axis], &both], far(extents[axis]));
        [0, 1].map(|axis| self.place(&near(axis), extents[axis]))
    }

    fn constant(&self, value: f64) -> ffi::Tensor {
        self.cx.constant(value, DType::F32)
    }

    /// The number of a point that has the same neighbours, not far outside. Of a number that is not finite, bilinear
    /// sampling makes NaN by its distance; the nearest pixel of NaN is the first one.
    fn near(&self, number: &ffi::Tensor, [finite, both]: [&ffi::Tensor; 2], far: f64) -> ffi::Tensor {
        let graph = self.cx.graph();
        let limited = {
            let low = graph.maximum_with_nan_propagation(number, &self.constant(-far));
            let limited = graph.minimum_with_nan_propagation(&low, &self.constant(far));
            match self.op.method {
                Method::Nearest { .. } => limited,
                Method::Bilinear => graph.select(finite, &limited, number),
            }
        };
        match self.op.outside {
            Outside::Zeros => limited,
            Outside::Border => graph.select(both, &limited, &self.constant(0.0)),
            Outside::Reflection => graph.select(both, &self.reflected(number), &limited),
        }
    }

    /// Between -1 and 1: mirrored images repeat every 4. All steps are exact.
    fn reflected(&self, number: &ffi::Tensor) -> ffi::Tensor {
        let graph = self.cx.graph();
        let (one, zero) = (self.constant(1.0), self.constant(0.0));
        let period = graph.rint(&graph.multiplication(number, &self.constant(0.25)));
        let within = graph.subtraction(number, &graph.multiplication(&period, &self.constant(4.0)));
        let above = graph.maximum(&graph.subtraction(&within, &one), &zero);
        let below = graph.minimum(&graph.addition(&within, &one), &zero);
        let beyond = graph.multiplication(&graph.addition(&above, &below), &self.constant(2.0));
        graph.subtraction(&within, &beyond)
    }

    /// Where a point is, but for less than a pixel that is to be added.
    fn coordinate(&self, number: &ffi::Tensor, extent: usize) -> (Coarse, ffi::Tensor) {
        let graph = self.cx.graph();
        let doubled = if self.op.align_corners { extent - 1 } else { extent };
        let steps = graph.rint(&graph.multiplication(number, &self.constant(4096.0)));
        let multiple = graph.multiplication(&steps, &self.constant(1.0 / 4096.0));
        let scale = self.constant(doubled as f64 / 2.0);
        let rest = graph.multiplication(&graph.subtraction(number, &multiple), &scale);
        if extent > SHORT {
            let Coarse { low, behind } = self.along_long_axis(&multiple, doubled, extent);
            // The rest may be some pixels: without these, it is above -0.5 and at most 0.5.
            let back = graph.floor(&graph.subtraction(&self.constant(0.5), &rest));
            return (Coarse { low: graph.subtraction(&low, &back), behind }, graph.addition(&rest, &back));
        }
        let center = self.constant((extent - 1) as f64 / 2.0);
        (self.apart(&graph.addition(&graph.multiplication(&multiple, &scale), &center)), rest)
    }

    /// Where a multiple of 2^-12 is along an axis of so many pixels, the doubled scale of which is given. Each digit of
    /// the scale has a product of its own, which is exact.
    fn along_long_axis(&self, multiple: &ffi::Tensor, doubled: usize, extent: usize) -> Coarse {
        let graph = self.cx.graph();
        let center = Coarse {
            low: self.constant(((extent - 1) / 2) as f64),
            behind: self.constant((extent - 1) as f64 / 2.0 % 1.0),
        };
        let digits = [1, SHORT, SHORT * SHORT].map(|place| doubled / place % SHORT * place);
        let products = digits
            .into_iter()
            .filter(|&digit| digit > 0)
            .map(|digit| self.apart(&graph.multiplication(multiple, &self.constant(digit as f64 / 2.0))));
        // The center last: without it, whole pixels stay below 2^24 wherever the point is, and with it if it is inside.
        let sum = products.chain([center]).reduce(|a, b| Coarse {
            low: graph.addition(&a.low, &b.low),
            behind: graph.addition(&a.behind, &b.behind),
        });
        let Some(Coarse { low, behind }) = sum else { unreachable!("the center is among them") };
        let Coarse { low: carry, behind } = self.apart(&behind);
        Coarse { low: graph.addition(&low, &carry), behind }
    }

    /// A number of pixels as whole ones and a part of one.
    fn apart(&self, number: &ffi::Tensor) -> Coarse {
        let graph = self.cx.graph();
        let low = graph.floor(number);
        let behind = graph.subtraction(number, &low);
        Coarse { low, behind }
    }

    fn place(&self, number: &ffi::Tensor, extent: usize) -> Place {
        let graph = self.cx.graph();
        let (Coarse { low, behind }, rest) = self.coordinate(number, extent);
        match self.op.method {
            Method::Nearest { half_to_even } => {
                let beyond_half = graph.addition(&graph.subtraction(&behind, &self.constant(0.5)), &rest);
                let zero = self.constant(0.0);
                let goes_up = if half_to_even {
                    let pairs = graph.multiplication(&low, &self.constant(0.5));
                    graph.greater_than(&pairs, &graph.floor(&pairs))
                } else {
                    // -0.5 goes to -1.
                    graph.greater_than_or_equal_to(&low, &zero)
                };
                let half_up = graph.logical_and(&graph.equal(&beyond_half, &zero), &goes_up);
                let up = graph.logical_or(&graph.greater_than(&beyond_half, &zero), &half_up);
                let nearest = graph.addition(&low, &graph.cast(&up, DataType::F32));
                Place { pixels: vec![self.pixel(&nearest, extent)], behind: None }
            }
            Method::Bilinear => {
                // The rest may lead to the pixel before or after.
                let behind = graph.addition(&behind, &rest);
                let carry = graph.floor(&behind);
                let low = graph.addition(&low, &carry);
                let high = graph.addition(&low, &self.constant(1.0));
                let pixels = vec![self.pixel(&low, extent), self.pixel(&high, extent)];
                Place { pixels, behind: Some(graph.subtraction(&behind, &carry)) }
            }
        }
    }

    /// The pixel of that number.
    fn pixel(&self, number: &ffi::Tensor, extent: usize) -> Pixel {
        let graph = self.cx.graph();
        let (first, last) = (self.constant(0.0), self.constant((extent - 1) as f64));
        let number = graph.select(&graph.is_nan(number), &first, number);
        let limited = graph.minimum(&graph.maximum(&number, &first), &last);
        Pixel { is_inside: graph.equal(&limited, &number), index: graph.cast(&limited, DataType::I32) }
    }
}
