//! Rows that are selected become one copy of the same elements.

use super::*;
use crate::kernels::row_major::{coordinates, flat};

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
