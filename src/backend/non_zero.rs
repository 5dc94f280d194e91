//! Where a tensor is true. How many rows that makes depends on the values, so the host finds them.

use burn_backend::{DType, Element, TensorData};

use crate::burn::shape_of;

/// The coordinates of the true elements, in row-major order: `[count, rank]` of `dtype`, an integer dtype that holds
/// each of them.
pub(super) fn coordinates(data: &TensorData, dtype: DType) -> TensorData {
    match dtype {
        DType::I64 => found(data, |coordinate| coordinate as i64),
        DType::I32 => found(data, |coordinate| coordinate as i32),
        DType::I16 | DType::I8 | DType::U64 | DType::U32 | DType::U16 | DType::U8 => {
            found(data, |coordinate| coordinate as i64).convert_dtype(dtype)
        }
        DType::F64 | DType::F32 | DType::Flex32 | DType::F16 | DType::BF16 | DType::Bool(_) | DType::QFloat(_) => {
            unreachable!("{dtype:?} is no integer dtype")
        }
    }
}

fn found<T: Element>(data: &TensorData, number: impl Fn(usize) -> T) -> TensorData {
    let (flags, shape) = (data.as_bytes(), &shape_of(data)[..]);
    let count = flags.iter().map(|&flag| usize::from(flag != 0)).sum();
    let Some((&width, outer)) = shape.split_last() else {
        return TensorData::new(Vec::<T>::new(), [count, 0]);
    };
    let mut coordinates = Vec::with_capacity(count * shape.len());
    // The row of the last axis that is looked at: its coordinates and its elements.
    let (mut row, mut elements) = (vec![number(0); outer.len()], 0..width);
    for_each_true(flags, |at| {
        if at >= elements.end {
            let mut rest = at / width;
            elements = rest * width..(rest + 1) * width;
            for (coordinate, extent) in row.iter_mut().zip(outer).rev() {
                *coordinate = number(rest % extent);
                rest /= extent;
            }
        }
        row.iter().for_each(|&coordinate| coordinates.push(coordinate));
        coordinates.push(number(at - elements.start));
    });
    TensorData::new(coordinates, [count, shape.len()])
}

/// Calls `met` with the place of each byte that is not 0. Eight that are 0 cost one step.
fn for_each_true(flags: &[u8], mut met: impl FnMut(usize)) {
    let (words, rest) = flags.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        if u64::from_ne_bytes(*word) == 0 {
            continue;
        }
        for (place, _) in word.iter().enumerate().filter(|(_, flag)| **flag != 0) {
            met(8 * at + place);
        }
    }
    for (place, _) in rest.iter().enumerate().filter(|(_, flag)| **flag != 0) {
        met(8 * words.len() + place);
    }
}
