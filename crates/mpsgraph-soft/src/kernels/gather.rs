//! The gathers: rows of the data tensor in the order of the indices; an index out of range reads zeros.
//!
//! Only bytes move, so the element's size is all that matters. [`Rows`] says which row.

use super::rows::{Index, Rows};
use super::threads::{PARALLEL_BYTES, share};
use crate::ir::DType;
use bytemuck::{Pod, cast_slice, cast_slice_mut};

/// Fills `out` with the rows of `data` that the indices (i32 or i64) name.
pub fn execute(rows: &Rows, size: usize, data: &[u8], (indices, index_type): (&[u8], DType), out: &mut [u8]) {
    match index_type {
        DType::I32 => by_size::<i32>(rows, size, data, cast_slice(indices), out),
        DType::I64 => by_size::<i64>(rows, size, data, cast_slice(indices), out),
        other => unreachable!("{other:?} indices reached a gather"),
    }
}

fn by_size<I: Index>(rows: &Rows, size: usize, data: &[u8], indices: &[I], out: &mut [u8]) {
    match size {
        1 => gather::<u8, I>(rows, data, indices, out),
        2 => gather::<u16, I>(rows, cast_slice(data), indices, cast_slice_mut(out)),
        4 => gather::<u32, I>(rows, cast_slice(data), indices, cast_slice_mut(out)),
        _ => gather::<u64, I>(rows, cast_slice(data), indices, cast_slice_mut(out)),
    }
}

fn gather<T: Pod + Send + Sync, I: Index>(rows: &Rows, data: &[T], indices: &[I], out: &mut [T]) {
    let all = rows.blocks * rows.positions;
    assert_eq!(out.len(), all * rows.row, "gather: the result has another size");
    let parallel = size_of_val(out) > PARALLEL_BYTES;
    let chunk = if parallel { (PARALLEL_BYTES / 2 / (rows.row * size_of::<T>())).max(1) } else { all };
    share(parallel, chunk * rows.row, out, |at, out| gather_part(rows, data, indices, at * chunk, out));
}

/// The rows from the `first` of all blocks on.
fn gather_part<T: Pod, I: Index>(rows: &Rows, data: &[T], indices: &[I], first: usize, mut out: &mut [T]) {
    let row = rows.row;
    let (mut block, mut position) = (first / rows.positions, first % rows.positions);
    while !out.is_empty() {
        let end = rows.positions.min(position + out.len() / row);
        let (here, rest) = out.split_at_mut((end - position) * row);
        let data = &data[block * rows.rows * row..][..rows.rows * row];
        if row == 1 {
            rows.visit(indices, block, position..end, |at, named| {
                here[at - position] = named.map_or(T::zeroed(), |named| data[named]);
            });
        } else {
            rows.visit(indices, block, position..end, |at, named| {
                let to = &mut here[(at - position) * row..][..row];
                match named {
                    Some(named) => to.copy_from_slice(&data[named * row..][..row]),
                    None => to.fill(T::zeroed()),
                }
            });
        }
        out = rest;
        (block, position) = (block + 1, 0);
    }
}

#[cfg(test)]
mod tests;
