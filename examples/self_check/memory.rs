//! Values without operands, large numbers of the caller, and tensors without elements.

use burn::tensor::{DType, Int, Tensor, s};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{EXACT, close_floats, same_integers};
use crate::table::{Trap, check};
use crate::values::{B, bools, exact, f32s, floats, ints};

pub const TRAPS: &[Trap] = &[
    check("ranges of integers, also far from 0 and with steps", ranges),
    check("numbers beyond 2^53 as operands of i64", large_numbers),
    check("programs without inputs: zeros, ones, a range, each alone", alone),
    check("sums, products and means of no elements", empty_reductions),
    check("matrix product over an inner extent of 0", empty_product),
    check("elementwise, slice, cat and gather without elements", empty_values),
];

/// Numbers that a double does not hold exactly: MPSGraph's constants are doubles.
const LARGE: i64 = (1 << 62) + 12_345;

fn ranges() -> Outcome {
    let device = &MpsGraphDevice;
    let parts = [
        (0..1000, 1, DType::I32),
        (16_777_200..16_777_230, 1, DType::I32),
        (-7..40, 3, DType::I64),
        (LARGE..LARGE + 20, 4, DType::I64),
    ]
    .map(|(range, step, dtype)| {
        let x = Tensor::<B, 1, Int>::arange_step(range.clone(), step, (device, dtype));
        let expected: Vec<i64> = range.step_by(step).collect();
        same_integers(&x.into_data(), &[expected.len()], &exact(&expected))
    });
    Outcome::of(parts)
}

fn large_numbers() -> Outcome {
    let values = [LARGE, -LARGE, (1 << 53) + 1, 0, i64::MAX];
    let x = || ints(&values, [5], DType::I64);
    let shape = &[5];
    let of = |function: fn(i64) -> i64| exact(&values.map(function));
    Outcome::of([
        same_integers(&x().add_scalar(LARGE).into_data(), shape, &of(|x| x.wrapping_add(LARGE))),
        same_integers(&x().mul_scalar((1i64 << 53) + 1).into_data(), shape, &of(|x| x.wrapping_mul((1 << 53) + 1))),
        same_integers(&x().equal_elem(LARGE).into_data(), shape, &of(|x| i64::from(x == LARGE))),
        same_integers(&x().equal_elem((1i64 << 53) + 1).into_data(), shape, &of(|x| i64::from(x == (1 << 53) + 1))),
        same_integers(&x().clamp(-LARGE + 1, LARGE - 1).into_data(), shape, &of(|x| x.clamp(-LARGE + 1, LARGE - 1))),
        same_integers(
            &x().mask_fill(bools(&[true, false, true, false, true], [5]), LARGE + 2).into_data(),
            shape,
            &exact(&[LARGE + 2, -LARGE, LARGE + 2, 0, LARGE + 2]),
        ),
    ])
}

/// `feedTensors` of such an executable may be nil.
fn alone() -> Outcome {
    let device = &MpsGraphDevice;
    let count: Vec<f64> = (0..6).map(f64::from).collect();
    Outcome::of([
        close_floats(&Tensor::<B, 2>::zeros([2, 3], device).into_data(), &[2, 3], &[0.0; 6], EXACT),
        close_floats(&Tensor::<B, 2>::ones([2, 3], device).into_data(), &[2, 3], &[1.0; 6], EXACT),
        close_floats(&Tensor::<B, 1, Int>::arange(0..6, device).into_data(), &[6], &count, EXACT),
    ])
}

fn empty_reductions() -> Outcome {
    let x = || f32s(&[], [0, 3]);
    let integers = || ints(&[], [0, 3], DType::I64);
    Outcome::of([
        close_floats(&x().sum().into_data(), &[1], &[0.0], EXACT),
        close_floats(&x().prod().into_data(), &[1], &[1.0], EXACT),
        close_floats(&x().sum_dim(0).into_data(), &[1, 3], &[0.0; 3], EXACT),
        close_floats(&x().prod_dim(0).into_data(), &[1, 3], &[1.0; 3], EXACT),
        close_floats(&x().mean_dim(0).into_data(), &[1, 3], &[f64::NAN; 3], EXACT),
        close_floats(&x().sum_dim(1).into_data(), &[0, 1], &[], EXACT),
        same_integers(&integers().sum().into_data(), &[1], &[0]),
        same_integers(&x().greater_elem(0).any().into_data(), &[1], &[0]),
        same_integers(&x().greater_elem(0).all().into_data(), &[1], &[1]),
    ])
}

fn empty_product() -> Outcome {
    let product = f32s(&[], [2, 0]).matmul(f32s(&[], [0, 3])) + 1.0;
    let batch = f32s::<3>(&[], [0, 2, 3]).matmul(f32s(&[], [0, 3, 2]));
    Outcome::of([
        close_floats(&product.into_data(), &[2, 3], &[1.0; 6], EXACT),
        close_floats(&batch.into_data(), &[0, 2, 2], &[], EXACT),
    ])
}

fn empty_values() -> Outcome {
    let x = || floats(&[1.0, 2.0, 3.0], [3, 1], DType::F32);
    let empty = || f32s(&[], [0, 1]);
    let none = ints(&[], [0], DType::I32);
    Outcome::of([
        close_floats(&(empty() * 2.0).exp().into_data(), &[0, 1], &[], EXACT),
        close_floats(&Tensor::cat(vec![empty(), x(), empty()], 0).into_data(), &[3, 1], &[1.0, 2.0, 3.0], EXACT),
        close_floats(&x().slice(s![1..1, ..]).into_data(), &[0, 1], &[], EXACT),
        close_floats(&x().select(0, none).into_data(), &[0, 1], &[], EXACT),
        close_floats(&empty().transpose().repeat_dim(0, 4).into_data(), &[4, 0], &[], EXACT),
    ])
}
