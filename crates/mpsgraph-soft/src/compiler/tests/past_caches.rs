//! Results that no cache holds when they are read go straight to memory; no bit changes.

use super::*;

/// `(x + y) * y`, and `x` times that, of so many rows: both are targets.
fn results(rows: usize) -> (Nodes, [ValueId; 2], [ValueId; 2]) {
    let mut nodes = Nodes::default();
    let [x, y] = [0; 2].map(|_| push(&mut nodes, Leaf::Placeholder, [], f32s(&[rows, 1000])));
    let sum = binary(&mut nodes, BinaryOp::Add, x, y);
    let first = binary(&mut nodes, BinaryOp::Mul, sum, y);
    let second = binary(&mut nodes, BinaryOp::Mul, x, first);
    (nodes, [x, y], [first, second])
}

#[test]
fn large_results_have_the_bits_of_small_ones() {
    // 12 MB, of which four tensors are more than a cache holds; the last tile is short, and no row a whole number of
    // lines.
    let rows = 3001;
    let inputs: [Vec<f32>; 2] =
        [7, 13].map(|step| (0..rows * 1000).map(|at| (at * step % 1013) as f32 - 500.5).collect());
    let bytes = inputs.each_ref().map(|input| bytemuck::cast_slice(input));
    let whole = |rows: usize, bytes: &[&[u8]]| {
        let (nodes, feeds, targets) = results(rows);
        run(&compile(&nodes, &feeds, &targets), bytes)
    };
    let large = whole(rows, &bytes);
    let row = |at: usize, tensor: &[u8]| tensor[at * 4000..][..4000].to_vec();
    for at in [0, 1, 1500, 3000] {
        let small = whole(1, &bytes.map(|tensor| row(at, tensor)).each_ref().map(Vec::as_slice));
        assert_eq!(large.iter().map(|tensor| row(at, tensor)).collect::<Vec<_>>(), small, "row {at}");
    }
}

#[test]
fn a_large_normalization_has_the_bits_of_a_small_one() {
    use super::rows::normalization;
    let columns = 1000;
    let numbers: Vec<f32> = (0..9001 * columns).map(|at| (at * 31 % 1021) as f32 / 64.0 - 7.5).collect();
    let scale: Vec<f32> = numbers[..columns].to_vec();
    let shift: Vec<f32> = numbers[5..][..columns].to_vec();
    let whole = |x: &[f32]| {
        let mut nodes = Nodes::default();
        let (feeds, target) = normalization(&mut nodes, &[x.len() / columns, columns], 1);
        let inputs = [x, &scale, &shift].map(bytemuck::cast_slice);
        run(&compile(&nodes, &feeds, &[target]), &inputs).remove(0)
    };
    let large = whole(&numbers);
    for first in [0, 4000, 8999] {
        let small = whole(&numbers[first * columns..][..2 * columns]);
        assert!(large[first * 4 * columns..][..8 * columns] == small, "rows from {first} on");
    }
}
