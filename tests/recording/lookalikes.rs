//! What is recorded almost like something that patterns rewrite: its numbers are those of one op after the other.

use burn::backend::Autodiff;
use burn::tensor::{DType, Int, Tensor, TensorData, s};

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// Numbers from -2.25 to 2.25, others for each `salt`.
fn some<const D: usize>(shape: [usize; D], salt: usize) -> Tensor<B, D> {
    let number = |at: usize| ((at * 7 + salt * 5) * 11 % 19) as f32 / 4.0 - 2.25;
    let numbers: Vec<f32> = (0..shape.iter().product()).map(number).collect();
    Tensor::from_data(TensorData::new(numbers, shape), &MpsGraphDevice)
}

/// Expects of several tensors the same, whether all is recorded before the first is read, or each op runs alone.
fn agree<const D: usize>(make: impl Fn() -> Vec<Tensor<B, D>>) {
    let _turn = Turn::take();
    let numbers = || make().into_iter().map(read).collect::<Vec<_>>();
    let (found, expected) = (numbers(), burn_mpsgraph::eagerly(numbers));
    let is_close = |(a, b): (&f32, &f32)| a == b || (a - b).abs() <= 1e-5 * b.abs().clamp(1.0, 1e30);
    for (found, expected) in found.iter().zip(&expected) {
        let are_close = found.len() == expected.len() && found.iter().zip(expected).all(is_close);
        assert!(are_close, "{found:?} instead of {expected:?}");
    }
}

/// What Adam divides by.
fn deviation(shape: [usize; 2]) -> Tensor<B, 2> {
    some(shape, 3).abs().sqrt() + 1.0
}

#[test]
fn a_step_of_adam_that_is_read_itself() {
    agree(|| vec![some([3, 4], 1) * 0.5 / deviation([3, 4]) * 0.25]);
}

#[test]
fn a_moment_of_adam_that_is_read_before_it_is_divided() {
    agree(|| {
        let moment = some([3, 4], 1) * 0.5;
        vec![moment.clone() / deviation([3, 4]) * 0.25 + 1.0, moment]
    });
}

/// The product of the numbers is beyond f32.
#[test]
fn factors_around_a_divisor_that_is_no_root() {
    agree(|| vec![some([3, 4], 1) * 1e-20 * 1e30 / (some([3, 4], 2).abs() + 1.0) * 1e20 * 1e-20]);
}

#[test]
fn two_sums_of_products_that_have_a_left_operand_twice() {
    agree(|| {
        let left = some([64, 1], 0);
        let sum = |salt| left.clone().matmul(some([1, 64], salt)) + left.clone().matmul(some([1, 64], salt + 1));
        vec![sum(1), sum(3)]
    });
}

#[test]
fn sums_of_batches_of_products() {
    agree(|| {
        let product = |salt| some([4, 64, 2], salt).matmul(some([4, 2, 64], salt + 1));
        vec![product(0) + product(2)]
    });
}

#[test]
fn sums_of_products_that_others_bring_back_into_the_range_of_f16() {
    agree(|| {
        let (column, half) = (vector(&[-150.0; 64]).reshape([64, 1]), (&MpsGraphDevice, DType::F16));
        let product = || column.clone().cast(DType::F16).matmul(Tensor::full([1, 64], 200, half));
        let row = || Tensor::full([64, 64], 40_000, half);
        vec![(product() + product() + row() + row()).cast(DType::F32)]
    });
}

#[test]
fn sums_along_one_axis_in_a_sum_of_matrices() {
    agree(|| {
        (0..2).map(|axis| (0..4).fold(some([3, 3], 9), |all, salt| all + some([3, 3], salt).sum_dim(axis))).collect()
    });
}

#[test]
fn sums_of_columns_and_of_greatest_elements() {
    agree(|| {
        let sum = |of: fn(Tensor<B, 2>) -> Tensor<B, 2>| (1..5).map(|salt| of(some([3, 3], salt))).reduce(|a, b| a + b);
        [sum(|x| x.sum_dim(1)), sum(|x| x.max_dim(0)), sum(|x| x.mean_dim(0))].into_iter().flatten().collect()
    });
}

fn padded(shape: [usize; 2], row: usize) -> Tensor<B, 2> {
    Tensor::zeros(shape, &MpsGraphDevice).slice_assign(s![row..row + 1, 1..3], some([1, 2], row))
}

#[test]
fn a_padded_row_that_is_added_to_each_row_of_padded_ones() {
    agree(|| vec![padded([3, 4], 1) + padded([1, 4], 0) + padded([3, 4], 2)]);
}

/// Expects what `change` makes of rows, at another one each time: from the second on the row is fed to one program.
fn moving(change: impl Fn(Tensor<B, 2>, usize) -> Tensor<B, 2>) {
    let _turn = Turn::take();
    let rows = some([9, 2], 1);
    for row in 0..5 {
        let expected = burn_mpsgraph::eagerly(|| read(change(rows.clone(), row)));
        assert_eq!(read(change(rows.clone(), row)), expected, "row {row}");
    }
}

#[test]
fn rows_that_are_assigned_elsewhere_each_time() {
    moving(|rows, row| {
        let first = rows.slice_assign(s![row..row + 1], some([1, 2], 2));
        first.slice_assign(s![row + 3..row + 4], some([1, 2], 3))
    });
}

#[test]
fn a_row_beside_the_one_that_was_assigned() {
    moving(|rows, row| rows.slice_assign(s![row..row + 1], some([1, 2], 2)).slice(s![7 - row..8 - row]) * 2.0);
}

#[test]
fn a_row_that_comes_to_the_one_that_was_assigned() {
    moving(|rows, row| rows.slice_assign(s![3..4], some([1, 2], 2)).slice(s![row..row + 1]) * 2.0);
}

#[test]
fn an_assignment_that_comes_to_the_row_that_is_read() {
    moving(|rows, row| {
        let places = [8, row, 6, 7].into_iter().enumerate();
        let rows = places.fold(rows, |rows, (at, row)| rows.slice_assign(s![row..row + 1], some([1, 2], at)));
        rows.slice(s![4..5]) * 2.0
    });
}

#[test]
fn sums_of_rows_that_are_padded_elsewhere_each_time() {
    moving(|_, row| {
        let padded =
            |row: usize| Tensor::<B, 2>::zeros([9, 2], &MpsGraphDevice).slice_assign(s![row..row + 1], some([1, 2], 2));
        padded(row) + padded(row + 1) + padded(8 - row)
    });
}

#[test]
fn assignments_along_different_axes() {
    agree(|| {
        let rows = some([4, 4], 0).slice_assign(s![0..1, ..], some([1, 4], 1));
        vec![rows.slice_assign(s![.., 1..3], some([4, 2], 2))]
    });
}

#[test]
fn assignments_between_which_the_shape_is_another() {
    agree(|| {
        let rows = some([4, 4], 0).slice_assign(s![0..1, ..], some([1, 4], 1));
        vec![rows.reshape([2, 8]).slice_assign(s![1..2, ..], some([1, 8], 2))]
    });
}

#[test]
fn a_slice_behind_an_assignment_in_another_shape() {
    agree(|| {
        let rows = some([4, 4], 0).slice_assign(s![2..3, ..], some([1, 4], 1));
        let pairs = rows.clone().reshape([2, 8]).slice_assign(s![0..1, ..], some([1, 8], 2));
        vec![rows.reshape([2, 8]).slice(s![1..2, ..]), pairs.reshape([8, 2]).slice(s![1..2, ..])]
    });
}

#[test]
fn a_slice_behind_several_assignments_in_two_shapes() {
    agree(|| {
        let rows = [0, 3]
            .into_iter()
            .fold(some([4, 4], 0), |rows, row| rows.slice_assign(s![row..row + 1, ..], some([1, 4], row)));
        let pairs = [0, 2].into_iter().fold(rows.reshape([2, 8]), |pairs, column| {
            pairs.slice_assign(s![0..1, column..column + 2], some([1, 2], column))
        });
        vec![pairs.slice(s![1..2, 4..8])]
    });
}

#[test]
fn every_second_row_and_then_the_last_one_is_assigned() {
    agree(|| {
        let rows = some([6, 3], 0).slice_assign(s![0..4;2, ..], some([2, 3], 1));
        vec![rows.slice_assign(s![5..6, ..], some([1, 3], 2))]
    });
}

#[test]
fn rows_that_are_assigned_and_read_in_reverse() {
    agree(|| vec![some([6, 3], 0).slice_assign(s![1..4;-1, ..], some([3, 3], 1)).slice(s![1..4;-1, ..])]);
}

#[test]
fn quotients_with_a_product_of_two_divisors() {
    agree(|| {
        let [a, b, c, gradient] = [0, 1, 2, 3].map(|salt| some([3, 4], salt) * 2.0 + 0.25);
        let over = gradient.clone() * b.clone().recip();
        vec![gradient * (-a / (b * c)), over]
    });
}

#[test]
fn a_number_in_each_element_that_is_read_itself() {
    agree(|| {
        let x = some([3, 4], 2) + 1.0;
        let half = x.ones_like() * 0.5;
        vec![half.clone() * some([1, 4], 1) + x, half]
    });
}

#[test]
fn a_sum_of_two_repeated_rows() {
    agree(|| vec![some([1, 4], 1).expand([3, 4]) + some([1, 4], 2).expand([3, 4])]);
}

#[test]
fn the_gradient_of_the_root_of_minus_zero() {
    agree(|| {
        let x = vector(&[-0.0, 0.25]);
        let x = Tensor::<Autodiff<B>, 1>::from_inner(x).require_grad();
        let root = x.clone().sqrt();
        let gradients = root.clone().sum().backward();
        vec![x.grad(&gradients).expect("it takes part"), root.inner()]
    });
}

#[test]
fn a_product_of_what_another_product_with_its_left_operand_has_made() {
    agree(|| {
        let (x, weights) = (some([64, 64], 0), some([64, 8], 1));
        let first = x.clone().matmul(weights) * 0.01;
        vec![first.clone() + x.matmul(first.tanh())]
    });
}

#[test]
fn a_bias_that_is_made_of_another_product_with_the_same_left_operand() {
    agree(|| {
        let x = some([64, 64], 0);
        let first = x.clone().matmul(some([64, 8], 1)) + some([1, 8], 2);
        vec![x.matmul(some([64, 8], 3)) + first.sum_dim(0)]
    });
}

#[test]
fn products_with_one_left_operand_to_which_one_number_is_added() {
    agree(|| {
        let x = some([64, 64], 0);
        let [a, b] = [1, 2].map(|salt| x.clone().matmul(some([64, 8], salt)) + some([1, 1], salt));
        vec![a * b]
    });
}

#[test]
fn samples_of_different_dtypes() {
    agree(|| {
        let sample = |at: i32| {
            let dtype = if at % 2 == 0 { DType::I32 } else { DType::U8 };
            let numbers: Tensor<B, 2, Int> = Tensor::from_data([[at, 1, 200]], (&MpsGraphDevice, dtype));
            numbers.float()
        };
        vec![Tensor::cat((0..4).map(sample).collect(), 0)]
    });
}

#[test]
fn samples_that_repeat_to_the_shape_of_a_common_operand() {
    agree(|| {
        let common = some([3, 4], 9);
        vec![Tensor::cat((0..4).map(|at| some([1, 4], at) + common.clone()).collect(), 0)]
    });
}

#[test]
fn samples_of_different_lengths_that_are_turned() {
    agree(|| vec![Tensor::cat([2, 5, 3].map(|length| some([4, length], length).transpose()).to_vec(), 0)]);
}

#[test]
fn what_is_less_than_the_greatest_of_negatives() {
    agree(|| vec![some([3, 1], 1) - (-some([3, 4], 2)).max_dim(1), some([3, 1], 1) - (-some([3, 4], 2)).prod_dim(1)]);
}

#[test]
fn means_of_sums_and_sums_of_means() {
    agree(|| {
        let x = || some([3, 4], 1);
        vec![x().sum_dim(0).mean_dim(1), x().mean_dim(0).sum_dim(1), x().mean_dim(0).mean_dim(1)]
    });
}

/// The exponentials of a matrix, less the greatest element along an axis, and their sums along the last axis.
fn exponentials(axis: usize) -> [Tensor<B, 2>; 2] {
    let x = some([4, 4], 1);
    let exponentials = (x.clone() - x.max_dim(axis)).exp();
    [exponentials.clone(), exponentials.sum_dim(1)]
}

#[test]
fn exponentials_less_the_greatest_along_another_axis() {
    agree(|| {
        let [exponentials, total] = exponentials(0);
        vec![exponentials / total]
    });
}

#[test]
fn exponentials_over_the_sum_of_others() {
    agree(|| vec![exponentials(1)[0].clone() / exponentials(0)[1].clone()]);
}

/// The gradient of a softmax as `Autodiff` records it, but for what `weigh` and `sum` do, and what it makes between.
fn gradient(
    weigh: impl Fn(Tensor<B, 2>, Tensor<B, 2>) -> Tensor<B, 2>,
    sum: impl Fn(Tensor<B, 2>) -> Tensor<B, 2>,
) -> [Tensor<B, 2>; 4] {
    let [exponentials, total] = exponentials(1);
    let softmax = exponentials.clone() / total.clone();
    let scaled = some([4, 4], 2) * total.recip();
    let weighted = weigh(scaled.clone(), softmax);
    let sum = sum(weighted.clone());
    let difference = scaled - sum.clone();
    [difference.clone() * exponentials, difference, sum, weighted]
}

#[test]
fn parts_of_the_gradient_of_a_softmax_that_are_read() {
    for part in 0..4 {
        agree(|| {
            let parts = gradient(|scaled, softmax| scaled * softmax, |weighted| weighted.sum_dim(1));
            vec![parts[0].clone(), parts[part].clone()]
        });
    }
}

#[test]
fn a_gradient_that_is_almost_that_of_a_softmax() {
    agree(|| {
        let by_column = gradient(|scaled, softmax| scaled * softmax, |weighted| weighted.sum_dim(0));
        let of_other = gradient(|scaled, softmax| scaled * softmax.square(), |weighted| weighted.sum_dim(1));
        let greatest = gradient(|scaled, softmax| scaled * softmax, |weighted| weighted.max_dim(1));
        [by_column, of_other, greatest].map(|[all, ..]| all).to_vec()
    });
}
