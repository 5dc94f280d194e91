//! Powers by squaring become one operation, with the bits that the nodes give one by one.

use super::*;

/// `base` to the power of the lowest `bits` of `exponent`, by squaring.
fn power(nodes: &mut Nodes, base: ValueId, exponent: ValueId, bits: u32) -> ValueId {
    let TensorType { dtype, shape } = nodes.ty(base).clone();
    let (zero, one) = (number(nodes, 0, DType::I32), number(nodes, 1, dtype));
    let mut square = base;
    let mut product = None;
    for bit in 0..bits {
        let mask = number(nodes, 1 << bit, DType::I32);
        let masked = binary(nodes, BinaryOp::BitAnd, exponent, mask);
        let set = binary(nodes, BinaryOp::NotEqual, masked, zero);
        let factor = push(nodes, ElementwiseOp::Select, [set, square, one], TensorType::new(dtype, shape.clone()));
        product = Some(product.map_or(factor, |product| binary(nodes, BinaryOp::Mul, product, factor)));
        square = binary(nodes, BinaryOp::Mul, square, square);
    }
    product.expect("an exponent has bits")
}

fn ints(dtype: DType, shape: &[usize], from: impl Iterator<Item = i64>) -> (TensorType, Vec<u8>) {
    let ty = TensorType::new(dtype, shape);
    let size = dtype.size();
    (ty.clone(), from.take(ty.elements()).flat_map(|x| x.to_ne_bytes()[..size].to_vec()).collect())
}

#[test]
fn one_operation_with_the_same_bits() {
    let exponents = [0, 1, 2, 3, 5, 31, 32, 255, 256, 1 << 20, i64::from(i32::MAX), -1, i64::from(i32::MIN)];
    for dtype in [DType::I8, DType::U8, DType::I16, DType::I32, DType::I64] {
        for (exponent_shape, bits) in [(&[3, 40][..], 32), (&[1], 7), (&[3, 1], 31)] {
            let (base_ty, bases) = ints(dtype, &[3, 40], (0..).map(|at| at * at * 7 - 60));
            let (exponent_ty, numbers) = ints(DType::I32, exponent_shape, exponents.into_iter().cycle().skip(6));
            let mut nodes = Nodes::default();
            let base = push(&mut nodes, Leaf::Placeholder, [], base_ty);
            let exponent = push(&mut nodes, Leaf::Placeholder, [], exponent_ty);
            let y = power(&mut nodes, base, exponent, bits);
            let plan = compile(&nodes, &[base, exponent], &[y]);
            assert!(plan.describe().contains("Pow"), "{}", plan.describe());
            assert!(!plan.describe().contains("Select"), "{}", plan.describe());
            let inputs = [&bases[..], &numbers];
            let wanted = unfused(&nodes, &[base, exponent], &inputs, &[y]);
            assert_eq!(run(&plan, &inputs), wanted, "{dtype:?} {exponent_shape:?} {bits}");
        }
    }
}

#[test]
fn other_products_stay_as_they_are() {
    let mut nodes = Nodes::default();
    let [base, exponent] = [0; 2].map(|_| push(&mut nodes, Leaf::Placeholder, [], TensorType::new(DType::I32, [40])));
    // A product of powers, one of which has bits of the other.
    let [low, high] = [(base, exponent), (exponent, base)].map(|(x, y)| power(&mut nodes, x, y, 3));
    let both = binary(&mut nodes, BinaryOp::Mul, low, high);
    let plan = compile(&nodes, &[base, exponent], &[both]);
    assert!(!plan.describe().contains("Pow"), "{}", plan.describe());
}
