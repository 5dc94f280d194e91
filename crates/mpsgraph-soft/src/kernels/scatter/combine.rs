//! The loops that combine updates with elements, one for each mode and element type, behind a type that names neither.

use super::ScatterMode;
use crate::ir::DType;
use crate::kernels::dispatch;
use crate::kernels::element::Element;
use crate::kernels::threads::Columns;
use bytemuck::cast_slice;

/// Combines updates, one behind the other, with the rows that the places name.
pub type Combine = fn(Columns<'_, u8>, &[u8], Places<'_>);

/// Rows by number, where the first row has the number `first`; there may be no such row.
#[derive(Clone, Copy)]
pub struct Places<'a> {
    pub numbers: &'a [u32],
    /// That of the output's first row. No row has the largest numbers, also counted from here.
    pub first: u32,
    pub named: Named,
}

/// What a number names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A row, of which all columns are here.
    Row,
    /// The element of a row in a column: the first number's in the first one, and so on from line to line of updates.
    Element,
}

/// What a mode does to elements of this type.
pub fn of(mode: ScatterMode, dtype: DType) -> Combine {
    match mode {
        ScatterMode::Add => dispatch!(bits dtype, T => each::<T, Add>),
        ScatterMode::Sub => dispatch!(bits dtype, T => each::<T, Sub>),
        ScatterMode::Mul => dispatch!(bits dtype, T => each::<T, Mul>),
        ScatterMode::Div => dispatch!(dtype, T => each::<T, Div>),
        ScatterMode::Min => dispatch!(dtype, T => each::<T, Min>),
        ScatterMode::Max => dispatch!(dtype, T => each::<T, Max>),
        // Bits are only moved.
        ScatterMode::Set => match dtype.size() {
            1 => each::<u8, Set>,
            2 => each::<u16, Set>,
            4 => each::<u32, Set>,
            _ => each::<u64, Set>,
        },
    }
}

fn each<T: Element, M: Mode<T>>(out: Columns<'_, u8>, updates: &[u8], places: Places<'_>) {
    let (mut out, updates): (Columns<'_, T>, &[T]) = (out.of(), cast_slice(updates));
    let Places { numbers, first, named } = places;
    let width = out.width();
    if named == Named::Element {
        for (numbers, updates) in numbers.chunks(width).zip(updates.chunks(width)) {
            for (column, (&number, &update)) in numbers.iter().zip(updates).enumerate() {
                if let Some(to) = out.element(number.wrapping_sub(first) as usize, column) {
                    *to = M::combine(*to, update);
                }
            }
        }
        return;
    }
    let out = out.matrix();
    if width == 1 {
        for (&number, &update) in numbers.iter().zip(updates) {
            if let Some(to) = out.get_mut(number.wrapping_sub(first) as usize) {
                *to = M::combine(*to, update);
            }
        }
        return;
    }
    let rows = out.len() / width;
    for (&number, updates) in numbers.iter().zip(updates.chunks_exact(width)) {
        let to = number.wrapping_sub(first) as usize;
        if to < rows {
            for (to, &update) in out[to * width..][..width].iter_mut().zip(updates) {
                *to = M::combine(*to, update);
            }
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
