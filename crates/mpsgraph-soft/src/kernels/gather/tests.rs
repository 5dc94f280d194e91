//! Gathers against their definitions, one element at a time, with i32 and i64 indices.

use super::*;
use crate::kernels::row_major::{coordinates, flat};

/// Indices from `-1` to `extent`: the first and last are out of range.
fn indices(count: usize, extent: usize) -> Vec<i64> {
    (0..count).map(|i| (i * 7919 % (extent + 2)) as i64 - 1).collect()
}

/// Runs with i32 and i64 indices and every element size; `source` gives the data element of an output element.
fn compare(
    rows: &Rows,
    data: &[usize],
    indices: &[i64],
    out: &[usize],
    source: impl Fn(&[usize]) -> Option<Vec<usize>>,
) {
    let n = data.iter().product::<usize>();
    let expected: Vec<u64> = (0..out.iter().product())
        .map(|i| source(&coordinates(out, i)).map_or(0, |at| flat(data, &at) as u64 * 0x0123_4567_89ab + 1))
        .collect();
    let values: Vec<u64> = (0..n as u64).map(|i| i * 0x0123_4567_89ab + 1).collect();
    let narrow: Vec<i32> = indices.iter().map(|&i| i as i32).collect();
    let tables = [Indices::I64(indices), Indices::I32(&narrow)];
    for table in tables {
        macro_rules! check {
            ($($t:ident)*) => {$(
                let values: Vec<$t> = values.iter().map(|&x| x as $t).collect();
                let expected: Vec<$t> = expected.iter().map(|&x| x as $t).collect();
                let mut ours = vec![$t::MAX; expected.len()];
                let size = size_of::<$t>();
                execute(rows, size, cast_slice(&values), table, cast_slice_mut(&mut ours));
                assert!(ours == expected, "{} bytes of {data:?} to {out:?}", size);
            )*};
        }
        check!(u8 u16 u32 u64);
    }
}

#[test]
fn along_one_axis_with_batches() {
    let data = [3, 4, 5, 6];
    for axis in 0..4 {
        for batch in 0..=axis {
            let mut shape = data[..batch].to_vec();
            shape.extend([2, 7]);
            let table = indices(shape.iter().product(), data[axis]);
            let mut out = data[..axis].to_vec();
            out.extend([2, 7]);
            out.extend(&data[axis + 1..]);
            compare(&Rows::axis(&data, &shape, axis, batch), &data, &table, &out, |at| {
                let mut of_index = at[..batch].to_vec();
                of_index.extend(&at[axis..axis + 2]);
                let named = usize::try_from(table[flat(&shape, &of_index)]).ok().filter(|&i| i < data[axis])?;
                let mut from = at[..axis].to_vec();
                from.push(named);
                from.extend(&at[axis + 2..]);
                Some(from)
            });
        }
    }
}

#[test]
fn by_coordinates() {
    let data = [2, 3, 4, 5];
    for batch in 0..3 {
        for components in 1..=4 - batch {
            let mut outer = data[..batch].to_vec();
            outer.extend([3, 2]);
            let mut shape = outer.clone();
            shape.push(components);
            let table = indices(shape.iter().product(), 3);
            let mut out = outer.clone();
            out.extend(&data[batch + components..]);
            compare(&Rows::nd(&data, &shape, batch), &data, &table, &out, |at| {
                let index = flat(&outer, &at[..outer.len()]) * components;
                let mut from = at[..batch].to_vec();
                for (c, &i) in table[index..index + components].iter().enumerate() {
                    from.push(usize::try_from(i).ok().filter(|&i| i < data[batch + c])?);
                }
                from.extend(&at[outer.len()..]);
                Some(from)
            });
        }
    }
}

#[test]
fn element_by_element() {
    for extent in 1..=20 {
        let data = [3, extent, 4];
        for axis in 0..3 {
            let mut shape = data;
            shape[axis] = 6;
            let table = indices(shape.iter().product(), data[axis]);
            compare(&Rows::along(&data, &shape, axis), &data, &table, &shape, |at| {
                let mut from = at.to_vec();
                from[axis] = usize::try_from(table[flat(&shape, at)]).ok().filter(|&i| i < data[axis])?;
                Some(from)
            });
        }
    }
}

#[test]
fn large() {
    for data in [[2, 500, 300], [2, 90_000, 1]] {
        let shape = [400_000 / data[2]];
        let table = indices(shape[0], data[1]);
        let out = [2, shape[0], data[2]];
        compare(&Rows::axis(&data, &shape, 1, 0), &data, &table, &out, |at| {
            let named = usize::try_from(table[at[1]]).ok().filter(|&i| i < data[1])?;
            Some(vec![at[0], named, at[2]])
        });
    }
}

#[test]
fn short_rows() {
    for row in (1..=40).chain([63, 64, 65, 130]) {
        let table = indices(200, 9);
        compare(&Rows::axis(&[9, row], &[200], 0, 0), &[9, row], &table, &[200, row], |at| {
            let named = usize::try_from(table[at[0]]).ok().filter(|&i| i < 9)?;
            Some(vec![named, at[1]])
        });
    }
}

/// Windows, and such as are interrupted where they begin, in their middle or at their end.
#[test]
fn consecutive_indices() {
    let extent = 301;
    for row in [1, 2, 3] {
        for (length, step) in [(64, 1), (65, 7), (200, 31), (301, 1)] {
            let windows = (extent - length) / step + 1;
            let whole: Vec<i64> = (0..windows * length).map(|at| (at / length * step + at % length) as i64).collect();
            for other in [None, Some(0), Some(31), Some(40), Some(63)] {
                let mut table = whole.clone();
                if let Some(other) = other {
                    table.iter_mut().skip(other).step_by(64).for_each(|index| *index = (*index + 1) % 301);
                }
                let (data, out) = ([2, extent, row], [2, table.len(), row]);
                compare(&Rows::axis(&data, &[table.len()], 1, 0), &data, &table, &out, |at| {
                    Some(vec![at[0], table[at[1]] as usize, at[2]])
                });
            }
        }
    }
}

/// Small blocks are copied together, by indices that are all in range or not.
#[test]
fn blocks_with_the_same_indices() {
    for (blocks, extent, positions, row) in [(600, 5, 7, 1), (90, 9, 70, 1), (300, 4, 14, 14), (3, 6, 5000, 2)] {
        let inside: Vec<i64> = (0..positions).map(|i| (i * 7919 % extent) as i64).collect();
        for table in [inside, indices(positions, extent)] {
            let (data, out) = ([blocks, extent, row], [blocks, positions, row]);
            compare(&Rows::axis(&data, &[positions], 1, 0), &data, &table, &out, |at| {
                let named = usize::try_from(table[at[1]]).ok().filter(|&i| i < extent)?;
                Some(vec![at[0], named, at[2]])
            });
        }
    }
}

/// Such as the scores of labels; so many that threads share them.
#[test]
fn one_index_for_each_block() {
    for (blocks, extent) in [(1, 1), (7, 10), (200_000, 3)] {
        let table = indices(blocks, extent);
        let (data, shape) = ([blocks, extent], [blocks, 1]);
        compare(&Rows::along(&data, &shape, 1), &data, &table, &shape, |at| {
            let named = usize::try_from(table[at[0]]).ok().filter(|&i| i < extent)?;
            Some(vec![at[0], named])
        });
    }
}

/// Such as some of the columns of each row; so many that threads share them, and some out of range.
#[test]
fn indices_for_each_of_many_blocks() {
    for (blocks, extent, positions, columns) in
        [(70_001, 3, 3, 1), (30_000, 7, 2, 5), (40_000, 9, 64, 1), (65, 2, 65, 1)]
    {
        let (data, shape) = ([blocks, extent, columns], [blocks, positions, columns]);
        let mut table = indices(blocks * positions * columns, extent);
        let rest = table.split_off(table.len() / 2);
        table.iter_mut().for_each(|index| *index = (*index).clamp(0, extent as i64 - 1));
        table.extend(rest);
        compare(&Rows::along(&data, &shape, 1), &data, &table, &shape, |at| {
            let named = usize::try_from(table[flat(&shape, at)]).ok().filter(|&i| i < extent)?;
            Some(vec![at[0], named, at[2]])
        });
    }
}

#[test]
fn extreme_indices_are_out_of_range() {
    let mut out = [9; 4];
    let table = [i64::MIN, i64::MAX, -1, 1 << 32];
    let rows = Rows::axis(&[3], &[4], 0, 0);
    execute(&rows, 4, cast_slice(&[1, 2, 3]), Indices::I64(&table), cast_slice_mut(&mut out));
    assert_eq!(out, [0; 4]);
}
