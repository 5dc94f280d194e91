//! The loops that combine updates with elements, one for each mode and element type, behind a type that names neither.

use super::ScatterMode;
use crate::ir::DType;
use crate::kernels::dispatch;
use crate::kernels::element::Element;
use crate::kernels::threads::Columns;
use bytemuck::{cast_slice, cast_slice_mut};

/// The loops of a mode and an element type.
#[derive(Clone, Copy)]
pub struct Combine {
    /// Combines updates, rows of so many elements one behind the other, with the rows of the output that have these
    /// numbers, where the first row has the number `first`, below 2^31; there may be no such row.
    pub rows: fn(&mut [u8], &[u8], usize, Places<'_>),
    /// Combines updates, one for each column, with the elements of the columns that are in the rows with these numbers;
    /// there may be no such row.
    pub elements: fn(Columns<'_, u8>, &[u8], &[u32]),
}

/// Rows by number.
#[derive(Clone, Copy)]
pub struct Places<'a> {
    pub numbers: &'a [u32],
    /// That of the output's first row. No row has the largest numbers, also counted from here.
    pub first: u32,
}

/// What a mode does to elements of this type.
pub fn of(mode: ScatterMode, dtype: DType) -> Combine {
    match mode {
        ScatterMode::Add => dispatch!(bits dtype, T => Combine::with::<T, Add>()),
        ScatterMode::Sub => dispatch!(bits dtype, T => Combine::with::<T, Sub>()),
        ScatterMode::Mul => dispatch!(bits dtype, T => Combine::with::<T, Mul>()),
        ScatterMode::Div => dispatch!(dtype, T => Combine::with::<T, Div>()),
        ScatterMode::Min => dispatch!(dtype, T => Combine::with::<T, Min>()),
        ScatterMode::Max => dispatch!(dtype, T => Combine::with::<T, Max>()),
        // Bits are only moved.
        ScatterMode::Set => match dtype.size() {
            1 => Combine::with::<u8, Set>(),
            2 => Combine::with::<u16, Set>(),
            4 => Combine::with::<u32, Set>(),
            _ => Combine::with::<u64, Set>(),
        },
    }
}

impl Combine {
    fn with<T: Element, M: Mode<T>>() -> Self {
        Self { rows: rows::<T, M>, elements: elements::<T, M> }
    }
}

fn rows<T: Element, M: Mode<T>>(out: &mut [u8], updates: &[u8], row: usize, places: Places<'_>) {
    let (out, updates): (&mut [T], &[T]) = (cast_slice_mut(out), cast_slice(updates));
    let Places { numbers, first } = places;
    if row == 1 {
        for (&number, &update) in numbers.iter().zip(updates) {
            if let Some(to) = out.get_mut(number.wrapping_sub(first) as usize) {
                *to = M::combine(*to, update);
            }
        }
        return;
    }
    let rows = out.len() / row;
    for (&number, updates) in numbers.iter().zip(updates.chunks_exact(row)) {
        let to = number.wrapping_sub(first) as usize;
        if to < rows {
            for (to, &update) in out[to * row..][..row].iter_mut().zip(updates) {
                *to = M::combine(*to, update);
            }
        }
    }
}

fn elements<T: Element, M: Mode<T>>(out: Columns<'_, u8>, updates: &[u8], numbers: &[u32]) {
    let (mut out, updates): (Columns<'_, T>, &[T]) = (out.of(), cast_slice(updates));
    for (column, (&number, &update)) in numbers.iter().zip(updates).enumerate() {
        if let Some(to) = out.element(number as usize, column) {
            *to = M::combine(*to, update);
        }
    }
}

/// How an update is combined with the element that is there.
trait Mode<T: Element> {
    fn combine(element: T, update: T) -> T;
}

macro_rules! mode {
    ($name:ident, |$a:pat_param, $b:ident| $combined:expr) => {
        struct $name;
        impl<T: Element> Mode<T> for $name {
            #[inline(always)]
            fn combine($a: T, $b: T) -> T {
                $combined
            }
        }
    };
}
mode!(Add, |a, b| a.add(b));
mode!(Sub, |a, b| a.sub(b));
mode!(Mul, |a, b| a.mul(b));
mode!(Div, |a, b| a.div(b));
mode!(Min, |a, b| if b < a || a.is_nan() { b } else { a });
mode!(Max, |a, b| if b > a || a.is_nan() { b } else { a });
mode!(Set, |_, b| b);
