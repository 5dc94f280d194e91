//! Casts to small integers read numbers that need not fit.

use super::*;

/// What makes numbers fit before a cast.
#[derive(Clone, Copy, Debug)]
enum Fit {
    Mask(i64),
    Shifts { up: i64, down: i64 },
}

/// The integers whose low bits a plan casts to `to`, with the fit that the graph asks for: whether the plan is without
/// it, and the bytes.
fn cast(to: DType, fit: Fit) -> (bool, Vec<Vec<u8>>) {
    let mut nodes = Nodes::default();
    let wide = TensorType::new(DType::I32, [300]);
    let x = push(&mut nodes, Leaf::Placeholder, [], wide);
    let number = |nodes: &mut Nodes, number: i64| {
        push(nodes, Leaf::Splat(number.to_ne_bytes()), [], TensorType::new(DType::I32, [1]))
    };
    let fitting = match fit {
        Fit::Mask(mask) => {
            let mask = number(&mut nodes, mask);
            binary(&mut nodes, BinaryOp::BitAnd, x, mask)
        }
        Fit::Shifts { up, down } => {
            let [up, down] = [up, down].map(|count| number(&mut nodes, count));
            let shifted = binary(&mut nodes, BinaryOp::Shl, x, up);
            binary(&mut nodes, BinaryOp::Shr, shifted, down)
        }
    };
    let y = push(&mut nodes, ElementwiseOp::Cast, [fitting], TensorType::new(to, [300]));
    let plan = compile(&nodes, &[x], &[y]);
    // Of all bits.
    let number = |at: i32| (at * at).wrapping_mul(31_337).wrapping_sub(900_000);
    let bytes: Vec<u8> = (0..300).flat_map(|at| number(at).to_ne_bytes()).collect();
    let got = run(&plan, &[&bytes]);
    assert_eq!(got, unfused(&nodes, &[x], &[&bytes], &[y]), "{to:?} {fit:?}");
    let text = plan.describe();
    (!text.contains("BitAnd") && !text.contains("Shl") && !text.contains("Shr"), got)
}

#[test]
fn bits_that_a_cast_drops_are_not_masked() {
    for dtype in [DType::U8, DType::I8] {
        assert!(cast(dtype, Fit::Mask(0xff)).0);
        assert!(cast(dtype, Fit::Mask(0xffff)).0);
        assert!(cast(dtype, Fit::Shifts { up: 24, down: 24 }).0);
        assert!(cast(dtype, Fit::Shifts { up: 16, down: 16 }).0);
    }
    for dtype in [DType::U16, DType::I16] {
        assert!(cast(dtype, Fit::Mask(0xffff)).0);
        assert!(cast(dtype, Fit::Shifts { up: 16, down: 16 }).0);
    }
}

#[test]
fn bits_that_a_cast_keeps_are_masked() {
    for (dtype, fit) in [
        (DType::U8, Fit::Mask(0x7f)),
        (DType::I8, Fit::Mask(0xfe)),
        (DType::U16, Fit::Mask(0xff)),
        (DType::U16, Fit::Shifts { up: 24, down: 24 }),
        (DType::U8, Fit::Shifts { up: 24, down: 20 }),
        (DType::I32, Fit::Mask(0xff)),
    ] {
        assert!(!cast(dtype, fit).0, "{dtype:?} {fit:?}");
    }
}
