//! Rows that are selected become one copy of the same elements.

use super::*;
use crate::kernels::gather::Gather;
use crate::kernels::row_major::{coordinates, flat};
use crate::kernels::rows::Indexing;

/// What the second operand of the selection is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum New {
    /// One row for all places.
    Single,
    /// A row for each place.
    Fed,
    /// A row for each place, which a loop computes.
    Computed,
}

/// Whether `count` rows that a gather spreads along `axis` of `shape`, and the selection of some of them, are one copy;
/// its elements are checked.
fn is_copied_without_gather(shape: &[usize], axis: usize, count: usize, offset: f32) -> bool {
    let mut nodes = Nodes::default();
    let (mut along, mut given) = (vec![1; shape.len()], shape.to_vec());
    (along[axis], given[axis]) = (shape[axis], count);
    let places = push(&mut nodes, Leaf::Placeholder, [], f32s(&along));
    let zero = splat(&mut nodes, 0.0, f32s(&along));
    let inside = binary(&mut nodes, BinaryOp::Less, places, zero);
    let numbers = TensorType::new(DType::I32, [shape[axis]]);
    let numbers = push(&mut nodes, Leaf::Placeholder, [], numbers);
    let rows = push(&mut nodes, Leaf::Placeholder, [], f32s(&given));
    let old = push(&mut nodes, Leaf::Placeholder, [], f32s(shape));
    let gather = Gather(Indexing::Axis { axis, batch: 0 });
    let spread = push(&mut nodes, gather, [rows, numbers], f32s(shape));
    let selected = push(&mut nodes, ElementwiseOp::Select, [inside, spread, old], f32s(shape));
    let plan = compile(&nodes, &[places, numbers, rows, old], &[selected]);
    let floats = |id: ValueId, first: f32| {
        (0..nodes.ty(id).elements()).map(|i| (i * 37 % 101) as f32 - first).collect::<Vec<_>>()
    };
    let [signs, new, before] = [floats(places, offset), floats(rows, 7.0), floats(old, 500.0)];
    let numbers: Vec<i32> = (0..shape[axis]).map(|i| (i / 2).min(count - 1) as i32).collect();
    let of = bytemuck::cast_slice::<f32, u8>;
    let found = run(&plan, &[of(&signs), bytemuck::cast_slice(&numbers), of(&new), of(&before)]);
    for (i, &found) in bytemuck::cast_slice::<u8, f32>(&found[0]).iter().enumerate() {
        let mut at = coordinates(shape, i);
        let is_new = signs[at[axis]] < 0.0;
        at[axis] = numbers[at[axis]] as usize;
        assert_eq!(found, if is_new { new[flat(&given, &at)] } else { before[i] }, "{shape:?} along {axis}: {i}");
    }
    plan.describe().contains("Choice") && !plan.describe().contains("Gather")
}

#[test]
fn gathered_rows_are_copied_from_where_they_are() {
    for (shape, axis) in [(&[4, 9, 16][..], 1), (&[1, 300, 70], 1), (&[17, 16], 0), (&[5, 40], 1), (&[40], 0)] {
        for offset in [50.0, -1.0, 101.0] {
            assert!(is_copied_without_gather(shape, axis, 3, offset), "{shape:?}");
        }
    }
    assert!(!is_copied_without_gather(&[4, 9, 15], 1, 3, 50.0));
}

/// One row that a gather takes, of which all places have the elements.
#[test]
fn a_gathered_row_for_all_places() {
    let mut nodes = Nodes::default();
    let given = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 7]));
    let number = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::I32, [1]));
    let row = push(&mut nodes, Gather(Indexing::Axis { axis: 1, batch: 0 }), [given, number], f32s(&[2, 1]));
    let places = push(&mut nodes, Leaf::Placeholder, [], f32s(&[1, 3]));
    let zero = splat(&mut nodes, 0.0, f32s(&[1, 3]));
    let inside = binary(&mut nodes, BinaryOp::Less, places, zero);
    let old = push(&mut nodes, Leaf::Placeholder, [], f32s(&[2, 3]));
    let selected = push(&mut nodes, ElementwiseOp::Select, [inside, row, old], f32s(&[2, 3]));
    let plan = compile(&nodes, &[given, number, places, old], &[selected]);
    let [given, places, old]: [Vec<f32>; 3] =
        [(0..14).map(|x| x as f32).collect(), vec![1.0, -1.0, -1.0], vec![-1.0, -2.0, -3.0, -4.0, -5.0, -6.0]];
    let of = bytemuck::cast_slice::<f32, u8>;
    let found = run(&plan, &[of(&given), bytemuck::cast_slice(&[5_i32]), of(&places), of(&old)]);
    assert_eq!(bytemuck::cast_slice::<u8, f32>(&found[0]), [-1.0, 5.0, 5.0, -4.0, 12.0, 12.0]);
}

/// Whether a selection along `axis` of `shape` is one copy; its elements are checked.
fn is_copied(shape: &[usize], axis: usize, new: New) -> bool {
    let mut nodes = Nodes::default();
    let (mut along, mut given) = (vec![1; shape.len()], shape.to_vec());
    along[axis] = shape[axis];
    if new == New::Single {
        given[axis] = 1;
    }
    let places = push(&mut nodes, Leaf::Placeholder, [], f32s(&along));
    let zero = splat(&mut nodes, 0.0, f32s(&along));
    let inside = binary(&mut nodes, BinaryOp::Less, places, zero);
    let fed = push(&mut nodes, Leaf::Placeholder, [], f32s(&given));
    let rows = if new == New::Computed { binary(&mut nodes, BinaryOp::Add, fed, fed) } else { fed };
    let old = push(&mut nodes, Leaf::Placeholder, [], f32s(shape));
    let selected = push(&mut nodes, ElementwiseOp::Select, [inside, rows, old], f32s(shape));
    let (feeds, targets) = ([places, fed, old], [selected]);
    let plan = compile(&nodes, &feeds, &targets);
    let floats = |id: ValueId| {
        (0..nodes.ty(id).elements()).map(|i| (i * 37 % 101) as f32 - 50.0 - id.0 as f32).collect::<Vec<_>>()
    };
    let [places, mut fed, old] = feeds.map(floats);
    let found = run(&plan, &[&places, &fed, &old].map(|values| bytemuck::cast_slice(values)));
    if new == New::Computed {
        fed.iter_mut().for_each(|x| *x *= 2.0);
    }
    for (i, &found) in bytemuck::cast_slice::<u8, f32>(&found[0]).iter().enumerate() {
        let mut at = coordinates(shape, i);
        let is_new = places[at[axis]] < 0.0;
        at[axis] = at[axis].min(given[axis] - 1);
        assert_eq!(found, if is_new { fed[flat(&given, &at)] } else { old[i] }, "{shape:?} along {axis}: {i}");
    }
    plan.describe().contains("Choice")
}

#[test]
fn rows_are_copied() {
    for (shape, axis) in [(&[4, 9, 16][..], 1), (&[1, 300, 70], 1), (&[17, 16], 0), (&[2, 2, 5, 20], 2)] {
        assert!(is_copied(shape, axis, New::Single), "{shape:?}");
        assert!(is_copied(shape, axis, New::Fed), "{shape:?}");
        assert!(!is_copied(shape, axis, New::Computed), "{shape:?}");
    }
}

#[test]
fn single_elements_are_selected() {
    assert!(!is_copied(&[4, 9, 15], 1, New::Single));
    assert!(!is_copied(&[4, 9], 1, New::Fed));
}
