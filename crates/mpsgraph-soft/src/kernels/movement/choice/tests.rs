//! Choices against the definition, for few and many runs, long rows and single elements, small and large results.

use super::Choice;
use crate::kernels::row_major::{coordinates, flat};

/// Runs a choice of `[blocks, places, row]` elements of `T`, with these rows of `new`, and checks each.
fn check<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(
    [blocks, row]: [usize; 2],
    chosen: &[u8],
    numbers: Option<&[i32]>,
    of_new: usize,
    element: impl Fn(usize) -> T,
) {
    let places = chosen.len();
    let old: Vec<T> = (0..blocks * places * row).map(&element).collect();
    let new: Vec<T> = (0..blocks * of_new * row).map(|at| element(at + 100_003)).collect();
    let mut out = vec![element(0); old.len()];
    let choice = Choice {
        chosen,
        numbers,
        new: bytemuck::cast_slice(&new),
        of_new,
        old: bytemuck::cast_slice(&old),
        row: row * size_of::<T>(),
    };
    choice.run(bytemuck::cast_slice_mut(&mut out));
    for (i, out) in out.into_iter().enumerate() {
        let at = coordinates(&[blocks, places, row], i);
        let number = numbers.map_or(at[1].min(of_new - 1), |numbers| numbers[at[1]] as usize);
        let from_new = new.get(flat(&[blocks, of_new, row], &[at[0], number, at[2]]));
        let expected = if chosen[at[1]] == 1 { from_new } else { old.get(i) };
        assert_eq!(Some(&out), expected, "{chosen:?} of {numbers:?}: {at:?}");
    }
}

#[test]
fn rows_of_each_place_and_one_for_all() {
    for chosen in [[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 1, 1], [0; 4]] {
        for of_new in [4, 1] {
            check([2, 3], &chosen, None, of_new, |i| i as u8);
            check([1, 5], &chosen, None, of_new, |i| i as u32);
        }
    }
}

#[test]
fn numbered_rows() {
    let numbers = [0, 0, 0, 1, 2, 2, 1, 2, 0];
    for chosen in [[0, 0, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 1, 1, 1], [1; 9], [0; 9]] {
        check([3, 4], &chosen, Some(&numbers), 3, |i| i as u16);
        check([3, 1], &chosen, Some(&numbers), 3, |i| i as u32);
    }
}

#[test]
fn many_runs_of_long_rows_and_of_elements() {
    let chosen: Vec<u8> = (0..41).map(|at| u8::from(at % 3 == 1)).collect();
    let numbers: Vec<i32> = (0..41).map(|at| at * 7 % 5).collect();
    check([2, 9], &chosen, Some(&numbers), 5, |i| i as u64);
    check([2, 9], &chosen, None, 1, |i| i as u64);
    check([3, 1], &chosen, Some(&numbers), 5, |i| i as u8);
    check([3, 1], &chosen, Some(&numbers), 5, |i| i as u16);
    check([3, 1], &chosen, Some(&numbers), 5, |i| i as u32);
    check([3, 1], &chosen, Some(&numbers), 5, |i| i as u64);
}

/// Runs that end within places that are looked at together, behind one of them, and with the last place.
#[test]
fn long_runs() {
    for (first, end) in [(0, 900), (0, 256), (16, 272), (17, 1000), (300, 999), (5, 6)] {
        let chosen: Vec<u8> = (0..1000).map(|at| u8::from((first..end).contains(&at))).collect();
        for jump in [1000, 40, 512] {
            let numbers: Vec<i32> = (0..1000).map(|at| if at < jump { at } else { 999 - at }).collect();
            check([2, 1], &chosen, Some(&numbers), 1000, |i| i as u16);
            check([1, 17], &chosen, Some(&numbers), 1000, |i| i as u32);
        }
        check([2, 17], &chosen, None, 1000, |i| i as u32);
    }
}

/// Pieces of threads begin and end within blocks.
#[test]
fn large_results() {
    let numbers: Vec<i32> = (0..1000).map(|at| (at - 100).clamp(0, 49)).collect();
    let chosen: Vec<u8> = (0..1000).map(|at| u8::from((100..150).contains(&at))).collect();
    check([1, 300], &chosen, Some(&numbers), 50, |i| i as u32);
    check([300, 1], &chosen, Some(&numbers), 50, |i| i as u32);
    let often: Vec<u8> = (0..1000).map(|at| u8::from(at % 2 == 0)).collect();
    check([300, 1], &often, Some(&numbers), 50, |i| i as u32);
    check([7, 40], &often, None, 1000, |i| i as u32);
}
