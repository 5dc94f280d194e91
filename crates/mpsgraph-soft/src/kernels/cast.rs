//! Conversion by value between the lanes of elementwise tiles.
//!
//! Rust's `as` is the rule: float to integer truncates toward zero and saturates, NaN gives 0; integers wrap; what
//! becomes a float is rounded half to even. 16-bit floats are f32 here.

use super::elementwise::tile::{Element, Lane, TileFn, lane, tile1};

/// The loop that converts `from` to `to`; `None` where they are the same.
pub fn cast(from: Lane, to: Lane) -> Option<TileFn> {
    (from != to).then(|| lane!(from, T => T::cast_to(to)))
}

/// The loop that tests `from` against zero, for casts to bool. NaN is not zero.
pub fn truth(from: Lane) -> TileFn {
    lane!(from, T => tile1(|x: T| (x != T::default()) as u8))
}

/// A lane type that converts to every lane type.
trait Castable: Element + Default + PartialEq {
    fn cast_to(to: Lane) -> TileFn;
}

macro_rules! castable {
    ($($t:ty),*) => {$(
        impl Castable for $t {
            fn cast_to(to: Lane) -> TileFn {
                lane!(to, R => tile1(|x: $t| x as R))
            }
        }
    )*};
}
castable!(f32, i8, i16, i32, i64, u8, u16, u32, u64);
