//! The constants of a transform: roots of unity, computed in f64 and rounded once.
//!
//! The tables leave out elements that are known to be zero (padding, the half of a spectrum that the other half
//! implies) and results that the caller does not ask for. They are constants of the program: 4 bytes for each of up to
//! `2a * 2a` entries of the product of `a` points and `4n` of a rotation, 0.1 MB for 4096 points.
//!
//! `w(x)` is `exp(-2πi * x)`, or its conjugate in a transform back. Where a table's axis stands for real and imaginary
//! part, a table with the word *real* in its name has `Re w` at extent 1, one with *imaginary* has `-Im w` and `Im w`:
//! what the number's own parts are multiplied by, and what the exchanged ones are.

use std::f64::consts::TAU;

use burn_backend::Shape;

use super::Length;
use crate::ffi;
use crate::lowering::Lowering;

/// A constant of a transform, by its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Table {
    /// `w(j * k / n)` as matrices of real numbers: `from` and `to` are parts and points, of the rows and of the
    /// columns.
    Matrix { length: Length, from: [usize; 2], to: [usize; 2] },
    /// The same numbers for the left side of a product: the rows are points of parts, the columns parts of points.
    Columns { length: Length, from: [usize; 2], to: [usize; 2] },
    /// `w(i * j / n)`, shape `(1, extents[0], 2, extents[1], 1)`: the same number for both parts, so that the table
    /// lies in memory as what it is multiplied with.
    RotationReal { length: Length, extents: [usize; 2] },
    /// The same, of this shape too.
    RotationImaginary { length: Length, extents: [usize; 2] },
    /// The weight of each bin of half a spectrum, divided by `n`, and 0 behind the bins; shape `(1, 1, filled, 1)`.
    Weights { n: usize, bins: usize, filled: usize },
    /// `w(j * j / 2n)`, shape `(1, 1, points, 1)`.
    ChirpReal { length: Length, points: usize },
    /// The same, shape `(1, 2, points, 1)`.
    ChirpImaginary { length: Length, points: usize },
    /// `1 / w(j * j / 2n) / points` for `j` from `1 - behind` to `ahead - 1`, those below zero at the end of the
    /// `points`; shape `(1, 2, points, 1)`. The transform back by `points` does not divide, so this does.
    ChirpKernel { length: Length, points: usize, behind: usize, ahead: usize },
}

impl Table {
    pub fn shape(self) -> Shape {
        match self {
            Table::Matrix { from, to, .. } => [from[0] * from[1], to[0] * to[1]].into(),
            Table::Columns { from, to, .. } => [to[0] * to[1], from[0] * from[1]].into(),
            Table::RotationReal { extents, .. } | Table::RotationImaginary { extents, .. } => {
                [1, extents[0], 2, extents[1], 1].into()
            }
            Table::Weights { filled: points, .. } | Table::ChirpReal { points, .. } => [1, 1, points, 1].into(),
            Table::ChirpImaginary { points, .. } | Table::ChirpKernel { points, .. } => [1, 2, points, 1].into(),
        }
    }

    /// Adds the table as a constant of this shape.
    pub fn lower(self, cx: &Lowering<'_>, shape: &[usize]) -> ffi::Tensor {
        cx.table(format!("{self:?}"), shape, || self.numbers())
    }

    pub fn is_inverse(self) -> bool {
        match self {
            Table::Weights { .. } => true,
            Table::Matrix { length, .. }
            | Table::Columns { length, .. }
            | Table::RotationReal { length, .. }
            | Table::RotationImaginary { length, .. }
            | Table::ChirpReal { length, .. }
            | Table::ChirpImaginary { length, .. }
            | Table::ChirpKernel { length, .. } => length.inverse,
        }
    }

    /// The elements in row-major order.
    pub fn numbers(self) -> Vec<f32> {
        match self {
            Table::Matrix { length, from, to } => matrix(length, from, to),
            Table::Columns { length, from, to } => columns(length, from, to),
            Table::RotationReal { length, extents: [outer, inner] } => (0..outer)
                .flat_map(|i| [i; 2])
                .flat_map(|i| (0..inner).map(move |j| length.root(i * j)[0] as f32))
                .collect(),
            Table::RotationImaginary { length, extents: [outer, inner] } => (0..outer)
                .flat_map(|i| [-1.0, 1.0].map(|sign| (i, sign)))
                .flat_map(|(i, sign)| (0..inner).map(move |j| (sign * length.root(i * j)[1]) as f32))
                .collect(),
            Table::Weights { n, bins, filled } => {
                let weight = |bin: usize| if bin == 0 || 2 * bin == n { 1.0 } else { 2.0 };
                let weights = (0..bins).map(|bin| (weight(bin) / n as f64) as f32);
                weights.chain((bins..filled).map(|_| 0.0)).collect()
            }
            Table::ChirpReal { length, points } => (0..points).map(|j| length.chirp(j)[0] as f32).collect(),
            Table::ChirpImaginary { length, points } => [-1.0, 1.0]
                .into_iter()
                .flat_map(|sign| (0..points).map(move |j| (sign * length.chirp(j)[1]) as f32))
                .collect(),
            Table::ChirpKernel { length, points, behind, ahead } => {
                let mut parts = vec![0.0; 2 * points];
                let places = (0..ahead).map(|j| (j, j)).chain((1..behind).map(|j| (j, points - j)));
                for (j, place) in places {
                    let [re, im] = length.chirp(j).map(|part| part / points as f64);
                    (parts[place], parts[points + place]) = (re as f32, -im as f32);
                }
                parts
            }
        }
    }
}

impl Length {
    /// `w(x / n)` as real and imaginary part.
    fn root(self, x: usize) -> [f64; 2] {
        root(x, self.n, self.inverse)
    }

    /// `w(j * j / 2n)`.
    fn chirp(self, j: usize) -> [f64; 2] {
        root(j * j, 2 * self.n, self.inverse)
    }
}

/// `w(x / n)`, exact on the axes. Computed in the first eighth of the circle, so that numbers that mirror each other
/// there are the same bits but for the signs.
fn root(x: usize, n: usize, inverse: bool) -> [f64; 2] {
    let (half, quarter) = (2 * n, n);
    let turn = 4 * (x % n);
    let below = turn > half;
    let turn = if below { 4 * n - turn } else { turn };
    let left = turn > quarter;
    let turn = if left { half - turn } else { turn };
    let steep = 2 * turn > quarter;
    let turn = if steep { quarter - turn } else { turn };
    let (sin, cos) = (TAU * turn as f64 / (4 * n) as f64).sin_cos();
    let [re, im] = if steep { [sin, cos] } else { [cos, sin] };
    [if left { -re } else { re }, if below == inverse { -im } else { im }]
}

/// Rows are `from`'s parts of points, columns `to`'s.
fn matrix(length: Length, from: [usize; 2], to: [usize; 2]) -> Vec<f32> {
    let mut numbers = Vec::with_capacity(from[0] * from[1] * to[0] * to[1]);
    for (of, j) in pairs(from[0], from[1]) {
        for (into, k) in pairs(to[0], to[1]) {
            numbers.push(entry(length.root(j * k), of, into));
        }
    }
    numbers
}

/// Rows are `to`'s points of parts, columns `from`'s parts of points.
fn columns(length: Length, from: [usize; 2], to: [usize; 2]) -> Vec<f32> {
    let mut numbers = Vec::with_capacity(from[0] * from[1] * to[0] * to[1]);
    for (k, into) in pairs(to[1], to[0]) {
        for (of, j) in pairs(from[0], from[1]) {
            numbers.push(entry(length.root(j * k), of, into));
        }
    }
    numbers
}

/// What the part `of` of a number contributes to the part `into` of its product: `(x + iy)(re + i im)`.
fn entry([re, im]: [f64; 2], of: usize, into: usize) -> f32 {
    let number = match (of, into) {
        (0, 0) | (1, 1) => re,
        (0, _) => im,
        _ => -im,
    };
    number as f32
}

fn pairs(outer: usize, inner: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..outer).flat_map(move |i| (0..inner).map(move |j| (i, j)))
}

#[cfg(test)]
mod tests {
    use super::{Length, Table};

    const FORWARD: Length = Length { n: 4, inverse: false };

    #[test]
    fn four_points() {
        let real = Table::Matrix { length: FORWARD, from: [1, 4], to: [2, 3] };
        #[rustfmt::skip]
        assert_eq!(real.numbers(), [
            1.0, 1.0, 1.0, 0.0, 0.0, 0.0,
            1.0, 0.0, -1.0, 0.0, -1.0, 0.0,
            1.0, -1.0, 1.0, 0.0, 0.0, 0.0,
            1.0, 0.0, -1.0, 0.0, 1.0, 0.0,
        ]);
        let columns = Table::Columns { length: FORWARD, from: [1, 4], to: [2, 2] };
        #[rustfmt::skip]
        assert_eq!(columns.numbers(), [
            1.0, 1.0, 1.0, 1.0,
            0.0, 0.0, 0.0, 0.0,
            1.0, 0.0, -1.0, 0.0,
            0.0, -1.0, 0.0, 1.0,
        ]);
        assert_eq!(Table::Weights { n: 4, bins: 3, filled: 5 }.numbers(), [0.25, 0.5, 0.25, 0.0, 0.0]);
        assert_eq!(Table::Weights { n: 3, bins: 2, filled: 2 }.numbers(), [1.0 / 3.0, 2.0 / 3.0]);
    }

    #[test]
    fn as_many_numbers_as_the_shape_has() {
        for table in [
            Table::Matrix { length: FORWARD, from: [2, 3], to: [1, 4] },
            Table::Columns { length: FORWARD, from: [1, 3], to: [2, 4] },
            Table::Weights { n: 4, bins: 3, filled: 4 },
            Table::RotationReal { length: FORWARD, extents: [2, 2] },
            Table::RotationImaginary { length: FORWARD, extents: [2, 2] },
            Table::ChirpReal { length: FORWARD, points: 4 },
            Table::ChirpImaginary { length: FORWARD, points: 3 },
            Table::ChirpKernel { length: FORWARD, points: 8, behind: 4, ahead: 3 },
        ] {
            assert_eq!(table.numbers().len(), table.shape().num_elements(), "{table:?}");
        }
    }
}
