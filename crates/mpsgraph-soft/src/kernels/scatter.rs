//! The scatters: the data tensor with rows combined with updates; an index out of range is skipped.
//!
//! Updates to one element are applied in the order of their positions, each rounded to the dtype. Threads divide the
//! rows that are written, not the updates, so the result is the same for any number of them. [`Rows`] says which row.

use super::call::Call;
use super::element::Element;
use super::rows::{Index, Indexing, Indices, Rows};
use super::threads::{self, PARALLEL_BYTES, share};
use super::{Kernel, dispatch};
use crate::ir::DType;
use bytemuck::{cast_slice, cast_slice_mut};

/// How a scatter combines an update with the element that is there. Setting one element to different values fails the
/// run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScatterMode {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Set,
}

impl ScatterMode {
    /// The mode that does the same to truth values, as bytes that stay 0 or 1.
    fn of_truths(self) -> Self {
        match self {
            ScatterMode::Add => ScatterMode::Max,
            ScatterMode::Mul => ScatterMode::Min,
            ScatterMode::Sub | ScatterMode::Div => unreachable!("{self:?} of bool reached a scatter"),
            ScatterMode::Min | ScatterMode::Max | ScatterMode::Set => self,
        }
    }
}

/// `[data, updates, indices (i32 or i64)]`; without data the updates meet zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scatter {
    pub indexing: Indexing,
    pub mode: ScatterMode,
}

impl Kernel for Scatter {
    fn run(&self, call: Call<'_>) {
        let (data, updates, indices) = match call.inputs {
            [data, updates, indices] => (Some(data.elements()), updates, indices),
            [updates, indices] => (None, updates, indices),
            _ => unreachable!("a scatter has two or three operands"),
        };
        let dtype = call.ty.dtype;
        let rows = self.indexing.rows(&call.ty.shape, indices, &call);
        let indices = Indices::of(indices);
        execute(&rows, self.mode, dtype, (data, updates.elements()), indices, call.output);
        let size = dtype.size();
        if self.mode == ScatterMode::Set && is_contested(&rows, size, updates.elements(), indices, call.output) {
            call.fail(format_args!("sets an element to different values: which of them stays is not defined"));
        }
    }
}

/// Data, or zeros if there are none, and updates combined into `out`. Bool takes the modes that keep it 0 or 1.
pub fn execute(
    rows: &Rows,
    mode: ScatterMode,
    dtype: DType,
    (data, updates): (Option<&[u8]>, &[u8]),
    indices: Indices<'_>,
    out: &mut [u8],
) {
    let mode = if dtype == DType::Bool { mode.of_truths() } else { mode };
    dispatch!(dtype, T => {
        let (operands, out) = ((data.map(cast_slice), cast_slice(updates)), cast_slice_mut(out));
        match indices {
            Indices::I32(indices) => by_mode::<T, i32>(rows, mode, operands, indices, out),
            Indices::I64(indices) => by_mode::<T, i64>(rows, mode, operands, indices, out),
        }
    });
}

/// Whether an element that was set, in elements of `size` bytes, has another value in one of the updates.
pub fn is_contested(rows: &Rows, size: usize, updates: &[u8], indices: Indices<'_>, out: &[u8]) -> bool {
    let row = rows.row * size;
    let contested = |at: usize, to: usize| out[to * row..][..row] != updates[at * row..][..row];
    match indices {
        Indices::I32(indices) => any_update(rows, indices, contested),
        Indices::I64(indices) => any_update(rows, indices, contested),
    }
}

/// Whether `holds` for an update that is not skipped: its row among the updates, and the row that it changes.
fn any_update<I: Index>(rows: &Rows, indices: &[I], holds: impl Fn(usize, usize) -> bool) -> bool {
    let mut any = false;
    for block in 0..rows.blocks {
        rows.visit(indices, block, 0..rows.positions, |at, named| {
            any |= named.is_some_and(|to| holds(block * rows.positions + at, block * rows.rows + to));
        });
    }
    any
}

fn by_mode<T: Element, I: Index>(
    rows: &Rows,
    mode: ScatterMode,
    operands: (Option<&[T]>, &[T]),
    indices: &[I],
    out: &mut [T],
) {
    match mode {
        ScatterMode::Add => scatter(rows, operands, indices, out, T::add),
        ScatterMode::Sub => scatter(rows, operands, indices, out, T::sub),
        ScatterMode::Mul => scatter(rows, operands, indices, out, T::mul),
        ScatterMode::Div => scatter(rows, operands, indices, out, T::div),
        ScatterMode::Min => scatter(rows, operands, indices, out, |a, b| if b < a || a.is_nan() { b } else { a }),
        ScatterMode::Max => scatter(rows, operands, indices, out, |a, b| if b > a || a.is_nan() { b } else { a }),
        ScatterMode::Set => scatter(rows, operands, indices, out, |_, b| b),
    }
}

fn scatter<T: Element, I: Index>(
    rows: &Rows,
    (data, updates): (Option<&[T]>, &[T]),
    indices: &[I],
    out: &mut [T],
    combine: impl Fn(T, T) -> T + Sync,
) {
    let block = rows.rows * rows.row;
    assert_eq!(out.len(), rows.blocks * block, "scatter: the data have another size");
    assert_eq!(updates.len(), rows.blocks * rows.positions * rows.row, "scatter: the updates have another size");
    // Each part reads all indices of its block, so there are at most as many parts as threads.
    let parallel = size_of_val(updates).max(size_of_val(out)) > PARALLEL_BYTES;
    let parts = if parallel { threads::count().div_ceil(rows.blocks) } else { 1 };
    let part_rows = rows.rows.div_ceil(parts);
    share(parallel, block, out, |at, out| {
        share(parallel, part_rows * rows.row, out, |part, out| {
            let first = part * part_rows;
            // A part at a time, so that it is still in the cache when the updates come.
            match data {
                Some(data) => out.copy_from_slice(&data[at * block + first * rows.row..][..out.len()]),
                None => out.fill(T::ZERO),
            }
            scatter_part(rows, updates, indices, (at, first), out, &combine);
        });
    });
}

/// The rows of `out`, which begin at row `first` of `block`.
fn scatter_part<T: Element, I: Index>(
    rows: &Rows,
    updates: &[T],
    indices: &[I],
    (block, first): (usize, usize),
    out: &mut [T],
    combine: &impl Fn(T, T) -> T,
) {
    let row = rows.row;
    let count = out.len() / row;
    let updates = &updates[block * rows.positions * row..][..rows.positions * row];
    if row == 1
        && let Some(numbers) = rows.numbers(indices, block)
    {
        if count == rows.rows {
            for (number, &update) in numbers.iter().zip(updates) {
                if let Some(to) = number.within(out.len()) {
                    out[to] = combine(out[to], update);
                }
            }
            return;
        }
        for (number, &update) in numbers.iter().zip(updates) {
            let number = number.within(rows.rows).and_then(|number| number.checked_sub(first));
            if let Some(to) = number.and_then(|number| out.get_mut(number)) {
                *to = combine(*to, update);
            }
        }
        return;
    }
    rows.visit(indices, block, 0..rows.positions, |at, named| {
        let Some(to) = named.and_then(|named| named.checked_sub(first)).filter(|&to| to < count) else {
            return;
        };
        for (to, &update) in out[to * row..][..row].iter_mut().zip(&updates[at * row..][..row]) {
            *to = combine(*to, update);
        }
    });
}

#[cfg(test)]
mod tests;
