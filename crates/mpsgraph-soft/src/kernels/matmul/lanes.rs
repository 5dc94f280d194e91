//! Products of one folded matrix with the columns of many others: a lane of a vector register for each column.
//!
//! A tile of columns is read from where it lies, worked on in the first cache and written to where it belongs, so that
//! nothing is packed.

use super::folded::{Folded, MOST};
use super::turn::{self, SIDE, Square, SquareLoop};
use std::cell::Cell;
use std::ops::Range;

/// Columns that are worked on at the same time, which are as many as a square has.
pub const LANES: usize = SIDE;
type Vector = [f32; LANES];
/// The columns of a tile, by rows.
type ColumnTile = [Vector; MOST];

thread_local! {
    /// A tile before and after the product, kept because clearing them takes longer than a small product.
    pub static COLUMNS: Cell<Vec<ColumnTile>> = const { Cell::new(Vec::new()) };
}

/// Where the elements of an operand are: element `row` of column `lane` is at `row * rows + lane * lanes`.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    pub rows: usize,
    pub lanes: usize,
}

/// What results are rotated by: an element for each one, or for `times` of them, whole tiles, in a row.
#[derive(Clone, Copy)]
pub struct Tables<'a> {
    pub tables: [&'a [f32]; 2],
    pub times: usize,
}

/// The products of some tiles.
pub struct Tiles<'a, 'b> {
    pub matrix: &'a Folded,
    /// How many columns an operand has.
    pub lanes: usize,
    /// The right operands, each from its first element on.
    pub operands: &'b dyn Fn(usize) -> &'a [f32],
    pub from: Steps,
    /// Their elements are in the order of those of a result.
    pub tables: Option<Tables<'a>>,
    /// The results, each packed behind the one before.
    pub to: *mut f32,
    pub to_steps: Steps,
    /// Tiles of all operands, numbered in their order.
    pub tiles: Range<usize>,
}

/// Multiplies.
///
/// # Safety
/// `to` is aligned and has room for the results of all operands, and nobody else touches those of these tiles
/// meanwhile.
pub unsafe fn run(tiles: Tiles<'_, '_>) {
    let mut columns = COLUMNS.take();
    columns.resize_with(2, || [[0.0; LANES]; MOST]);
    let (x, y) = columns.split_at_mut(1);
    turn::run(InColumns { tiles, x: &mut x[0], y: &mut y[0] });
    COLUMNS.set(columns);
}

/// The products, and where tiles are worked on; what was there does not matter. Made by [`run`] only, whose promises it
/// relies on.
struct InColumns<'a, 'b> {
    tiles: Tiles<'a, 'b>,
    x: &'b mut ColumnTile,
    y: &'b mut ColumnTile,
}

impl SquareLoop for InColumns<'_, '_> {
    #[inline(always)]
    fn run(self, turned: impl Fn(&Square) -> Square) {
        let Self { tiles: Tiles { matrix, lanes, operands, from, tables, to, to_steps, tiles }, x, y } = self;
        let each = lanes.div_ceil(LANES);
        for tile in tiles {
            let (at, first) = (tile / each, tile % each * LANES);
            let count = LANES.min(lanes - first);
            read(&operands(at)[first * from.lanes..], from, &mut x[..matrix.columns], count, &turned);
            multiply(matrix, x, y);
            let y = &mut y[..matrix.rows];
            if let Some(tables) = tables {
                rotate(y, tables, to_steps.rows, (first, count));
            }
            let result = to.wrapping_add(at * lanes * matrix.rows + first * to_steps.lanes);
            // SAFETY: there is room for a column of each lane, which this tile alone has, as `run`'s caller promised.
            unsafe { write(y, to_steps, count, result, &turned) };
        }
    }
}

/// Brings the columns of the first `count` lanes in.
#[inline(always)]
fn read(from: &[f32], steps: Steps, x: &mut [Vector], count: usize, turned: impl Fn(&Square) -> Square) {
    if count == LANES && steps.lanes == 1 {
        for (row, x) in x.iter_mut().enumerate() {
            x.copy_from_slice(&from[row * steps.rows..][..LANES]);
        }
        return;
    }
    let whole = if count == LANES && steps.rows == 1 { x.len() / LANES * LANES } else { 0 };
    let (blocks, rest) = x.split_at_mut(whole);
    for (block, x) in blocks.chunks_exact_mut(LANES).enumerate() {
        let block: Square = std::array::from_fn(|lane| {
            let mut column = [0.0; LANES];
            column.copy_from_slice(&from[lane * steps.lanes + block * LANES..][..LANES]);
            column
        });
        x.copy_from_slice(&turned(&block));
    }
    for (row, x) in rest.iter_mut().enumerate() {
        for (lane, x) in x[..count].iter_mut().enumerate() {
            *x = from[(whole + row) * steps.rows + lane * steps.lanes];
        }
    }
}

/// All lanes of `x` times the matrix.
#[inline(always)]
fn multiply(matrix: &Folded, x: &mut ColumnTile, y: &mut ColumnTile) {
    sums_and_differences(x, &matrix.before);
    let mut start = 0;
    for (y, &end) in y.iter_mut().zip(&matrix.ends) {
        let mut sum = [0.0; LANES];
        for &(column, element) in &matrix.elements[start..end] {
            let x = &x[place(column)];
            sum = std::array::from_fn(|lane| sum[lane] + element * x[lane]);
        }
        *y = sum;
        start = end;
    }
    sums_and_differences(y, &matrix.after);
}

#[inline(always)]
fn sums_and_differences(x: &mut ColumnTile, pairs: &[[u16; 2]]) {
    for &[a, b] in pairs {
        let [a, b] = [a, b].map(place);
        let (p, q) = (x[a], x[b]);
        x[a] = std::array::from_fn(|lane| p[lane] + q[lane]);
        x[b] = std::array::from_fn(|lane| p[lane] - q[lane]);
    }
}

/// A row or column as the compiler sees that it is inside.
#[inline(always)]
fn place(line: u16) -> usize {
    line as usize % MOST
}

/// The pairs of rows times one table, and exchanged times the other, for `count` lanes from `first` on.
#[inline(always)]
fn rotate(y: &mut [Vector], Tables { tables, times }: Tables<'_>, step: usize, (first, count): (usize, usize)) {
    let (step, first) = (step / times, first / times);
    for (at, pair) in y.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let [a, b] = *pair;
        let factors = |table: usize, part: usize| {
            let table = &tables[table][(2 * at + part) * step + first..];
            if times > 1 { [table[0]; LANES] } else { lanes_of(table, count) }
        };
        pair[0] = weighted(&a, &factors(0, 0), &b, &factors(1, 0));
        pair[1] = weighted(&b, &factors(0, 1), &a, &factors(1, 1));
    }
}

/// The first numbers, zeros behind the first `count` if there are not enough.
#[inline(always)]
fn lanes_of(numbers: &[f32], count: usize) -> Vector {
    numbers.first_chunk().copied().unwrap_or_else(|| {
        let mut lanes = [0.0; LANES];
        lanes[..count].copy_from_slice(&numbers[..count]);
        lanes
    })
}

/// Products that are too small to be normal stay, as in products of matrices.
#[inline(always)]
fn weighted(a: &Vector, p: &Vector, b: &Vector, q: &Vector) -> Vector {
    std::array::from_fn(|lane| a[lane] * p[lane] + b[lane] * q[lane])
}

/// Brings the columns of the first `count` lanes to where they belong.
///
/// # Safety
/// They must be writable there.
#[inline(always)]
unsafe fn write(y: &[Vector], steps: Steps, count: usize, to: *mut f32, turned: impl Fn(&Square) -> Square) {
    if count == LANES && steps.lanes == 1 {
        for (row, y) in y.iter().enumerate() {
            // SAFETY: the lanes of one row, which are consecutive.
            unsafe { to.wrapping_add(row * steps.rows).cast::<Vector>().write_unaligned(*y) };
        }
        return;
    }
    let whole = if count == LANES && steps.rows == 1 { y.len() / LANES * LANES } else { 0 };
    let (blocks, rest) = y.split_at(whole);
    for (at, block) in blocks.as_chunks::<LANES>().0.iter().enumerate() {
        for (lane, column) in turned(block).iter().enumerate() {
            let to = to.wrapping_add(lane * steps.lanes + at * LANES);
            // SAFETY: a part of one column, which is consecutive.
            unsafe { to.cast::<Vector>().write_unaligned(*column) };
        }
    }
    for (row, y) in rest.iter().enumerate() {
        for (lane, &y) in y[..count].iter().enumerate() {
            // SAFETY: an element of the columns that the caller vouches for.
            unsafe { *to.wrapping_add((whole + row) * steps.rows + lane * steps.lanes) = y };
        }
    }
}
