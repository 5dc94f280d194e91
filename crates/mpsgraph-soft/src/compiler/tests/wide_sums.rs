//! Sums of small integers read them as they are.

use super::*;

#[test]
fn no_table_of_wide_integers() {
    for dtype in [DType::I8, DType::I16, DType::I32, DType::U8, DType::U16, DType::U32] {
        // All of it, rows, and columns, which stay what they are.
        for (axes, shape, is_wide) in [(vec![0, 1], [1, 1], true), (vec![1], [50, 1], true), (vec![0], [1, 70], false)]
        {
            let mut nodes = Nodes::default();
            let x = push(&mut nodes, Leaf::Placeholder, [], TensorType::new(dtype, [50, 70]));
            let wide = push(&mut nodes, ElementwiseOp::Cast, [x], TensorType::new(DType::I64, [50, 70]));
            let y = push(&mut nodes, Reduce { op: ReduceOp::Sum, axes }, [wide], TensorType::new(DType::I64, shape));
            let plan = compile(&nodes, &[x], &[y]);
            assert_eq!(plan.describe().contains("WideSum"), is_wide, "{}", plan.describe());
            let numbers = (0..3500_i64).map(|at| at * at * 31 - 1_000_000);
            let bytes: Vec<u8> = numbers.flat_map(|x| x.to_ne_bytes()[..dtype.size()].to_vec()).collect();
            assert_eq!(run(&plan, &[&bytes]), unfused(&nodes, &[x], &[&bytes], &[y]), "{dtype:?} to {shape:?}");
        }
    }
}
