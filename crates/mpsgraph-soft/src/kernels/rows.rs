//! What all gathers and scatters have in common: indices choose rows of a data tensor, block by block.
//!
//! The data tensor is `blocks` times `rows` rows of `row` elements. The other side (a gather's result, a scatter's
//! updates) is `blocks` times `positions` rows, and the index of a position names the data row it reads or changes. The
//! three kinds of gathers and scatters differ in these numbers only.

use super::call::{Call, Input};
use crate::ir::DType;
use bytemuck::{Pod, cast_slice};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Keeps other types from being an [`Index`].
mod sealed {
    pub trait Sealed {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

/// An index type: i32 or i64. No other type can be one, because gathers read without another check what
/// [`all_within`](Self::all_within) says is inside.
pub trait Index: Pod + Send + Sync + sealed::Sealed {
    /// The index, if it is within `extent`; a negative one never is.
    fn within(self, extent: usize) -> Option<usize>;
    /// Whether all of them are within `extent`: a loop without branches, which vectorises.
    fn all_within(indices: &[Self], extent: usize) -> bool;
    /// Whether one of them is among the `count` numbers from `first` on: such a loop too.
    fn any_among(indices: &[Self], first: usize, count: usize) -> bool;
    /// The index, which is not negative.
    fn number(self) -> usize;
    /// The index; a negative one is larger than any extent.
    fn unsigned(self) -> usize;
    /// Indices as places among at most [`MOST_ROWS`] rows, if they are such numbers.
    fn as_places(indices: &[Self]) -> Option<&[u32]>;
}

impl Index for i32 {
    #[inline(always)]
    fn within(self, extent: usize) -> Option<usize> {
        usize::try_from(self).ok().filter(|&at| at < extent)
    }

    #[inline(always)]
    fn all_within(indices: &[Self], extent: usize) -> bool {
        // As unsigned numbers, negative ones are beyond every extent.
        let end = extent.min(1 << 31) as u32;
        indices.iter().fold(true, |all, &index| all & (index.cast_unsigned() < end))
    }

    #[inline(always)]
    fn any_among(indices: &[Self], first: usize, count: usize) -> bool {
        let [first, count] = [first, count].map(|number| number.min(1 << 31) as u32);
        indices.iter().fold(false, |any, &index| any | (index.cast_unsigned().wrapping_sub(first) < count))
    }

    #[inline(always)]
    fn number(self) -> usize {
        self.cast_unsigned() as usize
    }

    #[inline(always)]
    fn unsigned(self) -> usize {
        (self as isize).cast_unsigned()
    }

    fn as_places(indices: &[Self]) -> Option<&[u32]> {
        Some(cast_slice(indices))
    }
}

impl Index for i64 {
    #[inline(always)]
    fn within(self, extent: usize) -> Option<usize> {
        usize::try_from(self).ok().filter(|&at| at < extent)
    }

    #[inline(always)]
    fn all_within(indices: &[Self], extent: usize) -> bool {
        let end = extent.min(1 << 63) as u64;
        indices.iter().fold(true, |all, &index| all & (index.cast_unsigned() < end))
    }

    #[inline(always)]
    fn any_among(indices: &[Self], first: usize, count: usize) -> bool {
        let [first, count] = [first, count].map(|number| number as u64);
        indices.iter().fold(false, |any, &index| any | (index.cast_unsigned().wrapping_sub(first) < count))
    }

    #[inline(always)]
    fn number(self) -> usize {
        self.cast_unsigned() as usize
    }

    #[inline(always)]
    fn unsigned(self) -> usize {
        (self as isize).cast_unsigned()
    }

    fn as_places(_indices: &[Self]) -> Option<&[u32]> {
        None
    }
}

/// Indices of either type.
#[derive(Clone, Copy, Debug)]
pub enum Indices<'a> {
    I32(&'a [i32]),
    I64(&'a [i64]),
}

impl<'a> Indices<'a> {
    /// An operand as indices.
    pub fn of(input: &'a Input<'_>) -> Self {
        match input.dtype() {
            DType::I32 => Indices::I32(input.elements()),
            DType::I64 => Indices::I64(input.elements()),
            dtype @ (DType::F32
            | DType::F16
            | DType::BF16
            | DType::I8
            | DType::I16
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64
            | DType::Bool) => unreachable!("methods refuse indices of {dtype:?}"),
        }
    }
}

/// Which rows of the data the indices name. Apple documents an index out of range for the form along an axis only (it
/// reads 0 or changes nothing); in the other forms it ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Indexing {
    /// One index per slice along `axis`; the first `batch` axes of data and indices go together.
    Axis { axis: usize, batch: usize },
    /// The last axis of the indices holds coordinates along the data's axes from `batch` on.
    Nd { batch: usize },
    /// One index per element, counting along `axis`; all other axes of data and indices go together.
    Along { axis: usize },
}

impl Indexing {
    /// The rows that the indices of this call name in data of this shape.
    pub fn rows<'a>(self, data: &'a [usize], indices: &Input<'_>, call: &Call<'_>) -> Rows<'a> {
        let at = indices.shape();
        let (rows, must_be_inside) = match self {
            Indexing::Axis { axis, batch } => (Rows::axis(data, at, axis, batch), true),
            Indexing::Nd { batch } => (Rows::nd(data, at, batch), true),
            Indexing::Along { axis } => (Rows::along(data, at, axis), false),
        };
        if must_be_inside && let Some(index) = rows.first_outside(Indices::of(indices)) {
            call.fail(format_args!("index {index} is out of range: what is read or written is not documented"));
        }
        rows
    }
}

/// Rows that places count at most: a place that is not below this is none.
pub const MOST_ROWS: usize = 1 << 31;
/// Stands for a row that is not among those that are counted.
const NOWHERE: u32 = u32::MAX;

/// The rows that indices name.
pub struct Rows<'a> {
    /// Blocks of the data tensor.
    pub blocks: usize,
    /// Consecutive blocks that share one block of indices.
    share: usize,
    /// Positions in a block.
    pub positions: usize,
    /// Extents that the components of an index count along.
    extents: &'a [usize],
    /// Rows between data that consecutive indices name; positions take the rows in between in turn.
    scale: usize,
    /// Data rows of a block.
    pub rows: usize,
    /// Elements of a row.
    pub row: usize,
}

impl<'a> Rows<'a> {
    /// One index per slice along `axis`; the first `batch` axes of data and indices go together.
    pub fn axis(data: &'a [usize], indices: &[usize], axis: usize, batch: usize) -> Self {
        let share = data[batch..axis].iter().product();
        Self {
            blocks: data[..axis].iter().product(),
            share,
            positions: indices[batch..].iter().product(),
            extents: &data[axis..=axis],
            scale: 1,
            rows: data[axis],
            row: data[axis + 1..].iter().product(),
        }
    }

    /// The last axis of the indices holds coordinates along the data axes from `batch` on.
    pub fn nd(data: &'a [usize], indices: &[usize], batch: usize) -> Self {
        let (&components, outer) = indices.split_last().expect("coordinates have an axis of their own");
        let extents = &data[batch..batch + components];
        Self {
            blocks: data[..batch].iter().product(),
            share: 1,
            positions: outer[batch..].iter().product(),
            extents,
            scale: 1,
            rows: extents.iter().product(),
            row: data[batch + components..].iter().product(),
        }
    }

    /// One index per element, counting along `axis`; all other axes of data and indices go together.
    pub fn along(data: &'a [usize], indices: &[usize], axis: usize) -> Self {
        let inner = data[axis + 1..].iter().product();
        assert!(
            data[..axis] == indices[..axis] && data[axis + 1..] == indices[axis + 1..],
            "indices {indices:?} along axis {axis} of {data:?}: another axis differs"
        );
        Self {
            blocks: data[..axis].iter().product(),
            share: 1,
            positions: indices[axis] * inner,
            extents: &data[axis..=axis],
            scale: inner,
            rows: data[axis] * inner,
            row: 1,
        }
    }

    /// The first of these indices, or of their components, that is out of range.
    fn first_outside(&self, indices: Indices<'_>) -> Option<i64> {
        match indices {
            Indices::I32(indices) => self.first_outside_of(indices).map(i64::from),
            Indices::I64(indices) => self.first_outside_of(indices),
        }
    }

    fn first_outside_of<I: Index>(&self, indices: &[I]) -> Option<I> {
        if let &[extent] = self.extents {
            let mut parts = indices.chunks(256);
            let part = parts.find(|part| !I::all_within(part, extent))?;
            return part.iter().copied().find(|index| index.within(extent).is_none());
        }
        let extents = self.extents.iter().cycle();
        let mut pairs = indices.iter().copied().zip(extents);
        pairs.find(|(index, extent)| index.within(**extent).is_none()).map(|(index, _)| index)
    }

    /// Whether each index names a row by itself.
    pub fn are_plain(&self) -> bool {
        self.extents.len() == 1 && self.scale == 1
    }

    /// Whether each block has one position with an index of its own, such as the label of a sample.
    pub fn are_one_of_each_block(&self) -> bool {
        self.positions == 1 && self.share == 1 && self.are_plain()
    }

    /// Whether blocks have indices of their own and at most so many positions, each of which names one element.
    pub fn are_small_blocks(&self, most: usize) -> bool {
        let are_elements = self.row == 1 && self.extents.len() == 1 && self.rows > 0;
        are_elements && self.share == 1 && self.blocks > 1 && (1..=most).contains(&self.positions)
    }

    /// Whether these positions are whole pairs, and each index names an element of a pair.
    pub fn are_pairs(&self, positions: Range<usize>) -> bool {
        let is_even = |at: usize| at.is_multiple_of(2);
        self.extents.len() == 1 && self.scale == 2 && is_even(positions.start) && is_even(positions.end)
    }

    /// How far the rows of one column are apart, if each index counts along such a column.
    pub fn apart(&self) -> Option<usize> {
        (self.extents.len() == 1 && self.scale > 1).then_some(self.scale)
    }

    /// How many blocks from this one on, itself too, have the same indices.
    pub fn alike(&self, block: usize) -> usize {
        self.share - block % self.share
    }

    /// The indices of a block that have one component, and the extent that they count along.
    pub fn indices<'i, I>(&self, indices: &'i [I], block: usize) -> (&'i [I], usize) {
        (&indices[block / self.share * self.positions..][..self.positions], self.extents[0])
    }

    /// Indices of one component as numbers below its extent; what is no such number is a larger one.
    pub fn numbers<'i, I: Index>(&self, indices: &'i [I], buffer: &'i mut [u32]) -> &'i [u32] {
        I::as_places(indices).unwrap_or_else(|| {
            for (number, index) in buffer.iter_mut().zip(indices) {
                *number = index.within(self.extents[0]).map_or(NOWHERE, |index| index as u32);
            }
            &buffer[..indices.len()]
        })
    }

    /// Which of the `count` rows from `first` on, at most [`MOST_ROWS`], the positions of a block from `start` on name;
    /// a place that is not below `count` is none of them.
    pub fn places<I: Index>(
        &self,
        indices: &[I],
        (block, start): (usize, usize),
        (first, count): (usize, usize),
        places: &mut [u32],
    ) {
        let place = |row: usize| {
            let place = row.wrapping_sub(first);
            if place < count { place as u32 } else { NOWHERE }
        };
        let &[extent] = self.extents else {
            return self.visit(indices, block, start..start + places.len(), |at, named| {
                places[at - start] = named.map_or(NOWHERE, place);
            });
        };
        let mut indices = &indices[block / self.share * self.positions + start..][..places.len()];
        if self.scale == 1 {
            // What is beyond the extent is beyond the rows that count, too.
            for (to, index) in places.iter_mut().zip(indices) {
                *to = place(index.unsigned());
            }
            return;
        }
        let mut places = places;
        let mut between = start % self.scale;
        while !places.is_empty() {
            let run = places.len().min(self.scale - between);
            let (here, rest) = places.split_at_mut(run);
            let (named, behind) = indices.split_at(run);
            for (at, (to, index)) in here.iter_mut().zip(named).enumerate() {
                let index = index.unsigned();
                let row = index.wrapping_mul(self.scale).wrapping_add(between + at);
                *to = if index < extent { place(row) } else { NOWHERE };
            }
            (indices, places, between) = (behind, rest, 0);
        }
    }

    /// Which rows the positions of some blocks from the `first` on name, counted from block to block. A place that is
    /// not below the number of all their rows, at most [`MOST_ROWS`], is none of them.
    pub fn places_of_blocks<I: Index>(&self, indices: &[I], first: usize, places: &mut [u32]) {
        if self.are_one_of_each_block() {
            for (at, (place, index)) in places.iter_mut().zip(&indices[first..]).enumerate() {
                let row = index.unsigned();
                *place = if row < self.rows { (at * self.rows + row) as u32 } else { NOWHERE };
            }
            return;
        }
        if self.share == 1 && self.are_plain() {
            let indices = indices[first * self.positions..].chunks_exact(self.positions);
            for (at, (places, indices)) in places.chunks_exact_mut(self.positions).zip(indices).enumerate() {
                let start = at * self.rows;
                for (place, index) in places.iter_mut().zip(indices) {
                    let row = index.unsigned();
                    *place = if row < self.rows { (start + row) as u32 } else { NOWHERE };
                }
            }
            return;
        }
        for (at, places) in places.chunks_exact_mut(self.positions).enumerate() {
            self.places(indices, (first + at, 0), (0, self.rows), places);
            // The place that is none stays the largest number.
            places.iter_mut().for_each(|place| *place = place.saturating_add((at * self.rows) as u32));
        }
    }

    /// Calls `each(position, row)` for the positions of a block whose index is in range, or with `None` otherwise.
    #[inline(always)]
    pub fn visit<I: Index>(
        &self,
        indices: &[I],
        block: usize,
        positions: Range<usize>,
        mut each: impl FnMut(usize, Option<usize>),
    ) {
        let components = self.extents.len();
        let first = block / self.share * self.positions;
        let mut between = positions.start % self.scale;
        for position in positions {
            let at = first + position;
            let named = match self.extents {
                &[extent] => indices[at].within(extent),
                extents => {
                    let index = &indices[at * components..(at + 1) * components];
                    let mut pairs = index.iter().zip(extents);
                    pairs.try_fold(0, |row, (i, &extent)| i.within(extent).map(|i| row * extent + i))
                }
            };
            each(position, named.map(|named| named * self.scale + between));
            between += 1;
            if between == self.scale {
                between = 0;
            }
        }
    }
}
