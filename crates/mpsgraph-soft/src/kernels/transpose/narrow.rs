//! Planes of a few rows or columns that are packed: the channels of an image, apart from each other or together.
//!
//! No square has room in them. With a number of channels that is known when it is compiled, the loop over the places is
//! one that the compiler makes shuffles of whole vectors of.

use super::Plane;
use crate::kernels::vectorised::{VectorLoop, vectorised};

/// Moves the plane, if it is such a one; else returns false.
///
/// # Safety
/// As for [`super::transpose`].
pub unsafe fn transpose<const N: usize>(plane: &Plane, src: *const u8, dst: *mut u8) -> bool {
    // SAFETY: the caller's promise; elements of a type are of its size.
    unsafe {
        match N {
            1 => channels::<u8>(plane, src, dst),
            2 => channels::<u16>(plane, src, dst),
            4 => channels::<u32>(plane, src, dst),
            8 => channels::<u64>(plane, src, dst),
            _ => false,
        }
    }
}

/// [`transpose`] for elements of this type.
///
/// # Safety
/// As for [`super::transpose`].
unsafe fn channels<T: Copy>(plane: &Plane, src: *const u8, dst: *mut u8) -> bool {
    let step = |count: usize| (count * size_of::<T>()) as isize;
    if plane.dst_column != step(1) {
        return false;
    }
    // SAFETY: the caller's promise; the steps are those of a plane whose side of this name is packed.
    unsafe {
        if plane.dst_row == step(plane.columns) {
            let (apart, count) = ((src.cast_mut(), plane.src_step), plane.rows);
            by_number::<T, true>(plane.columns, apart, dst, count)
        } else if plane.src_step == step(plane.rows) {
            let (apart, count) = ((dst, plane.dst_row), plane.columns);
            by_number::<T, false>(plane.rows, apart, src.cast_mut(), count)
        } else {
            false
        }
    }
}

/// Moves so many channels if there is a loop for as many, else returns false. `apart` is the first channel and the step
/// to the next.
///
/// # Safety
/// `count` elements of each channel and all of them from `together` on must be readable or, on the side that `JOINS`
/// tells, writable, without overlap.
unsafe fn by_number<T: Copy, const JOINS: bool>(
    channels: usize,
    apart: (*mut u8, isize),
    together: *mut u8,
    count: usize,
) -> bool {
    macro_rules! of {
        ($($channels:literal)*) => {
            match channels {
                $($channels => vectorised(Channels::<T, $channels, JOINS> {
                    apart: std::array::from_fn(|at| apart.0.wrapping_offset(at as isize * apart.1).cast()),
                    together: together.cast(),
                    count,
                }),)*
                // More have room for squares; those of bytes from 16 on, but loops for fewer are hardly faster than
                // one element after the other.
                _ => return false,
            }
        };
    }
    of!(2 3 4 5 6 7 8);
    true
}

/// `K` channels of `count` elements each. If it `JOINS`, the elements of each place are put beside each other, else
/// they are taken from there. Only `by_number` makes one, whose caller vouches for the elements.
struct Channels<T, const K: usize, const JOINS: bool> {
    apart: [*mut T; K],
    together: *mut T,
    count: usize,
}

impl<T: Copy, const K: usize, const JOINS: bool> VectorLoop for Channels<T, K, JOINS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { apart, together, count } = self;
        for place in 0..count {
            for (channel, apart) in apart.iter().enumerate() {
                let (apart, together) = (apart.wrapping_add(place), together.wrapping_add(place * K + channel));
                // SAFETY: an element of a channel and its place among the others, for which `by_number`'s caller
                // vouches.
                unsafe {
                    if JOINS {
                        together.write_unaligned(apart.read_unaligned());
                    } else {
                        apart.write_unaligned(together.read_unaligned());
                    }
                }
            }
        }
    }
}
