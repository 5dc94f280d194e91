//! Numbers are fed, not compiled into programs.

use burn::tensor::{DType, Int, Tensor};

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

#[test]
fn another_number_compiles_nothing() {
    let turn = Turn::take();
    for rate in [0.5f32, 0.25, 1e-8, -3.0] {
        let x = vector(&[2.0, 4.0]);
        assert_eq!(read(x.mul_scalar(rate).add_scalar(rate)), [2.0 * rate + rate, 4.0 * rate + rate]);
    }
    assert_eq!(turn.used().programs_compiled, 1);
}

#[test]
fn numbers_that_are_equal_only_at_first_compile_once_more() {
    let turn = Turn::take();
    // Equal numbers share what they are fed by; 1 and 1 fit a program in which they do not.
    for (a, b) in [(2.0f32, 2.0), (3.0, 3.0), (2.0, 0.5), (1.0, 1.0), (-0.0, 0.0), (f32::MAX, 1.0)] {
        let x = vector(&[2.0, 4.0]);
        assert_eq!(read(x.mul_scalar(a).add_scalar(b)), [2.0 * a + b, 4.0 * a + b]);
    }
    assert_eq!(turn.used().programs_compiled, 2);
}

#[test]
fn equal_ops_with_equal_numbers_are_one_value_until_the_numbers_differ() {
    let turn = Turn::take();
    for (a, b) in [(2.0f32, 2.0), (2.0, 3.0), (4.0, 4.0)] {
        let x = vector(&[1.0, 5.0]) + 0.0;
        let [y, z] = [a, b].map(|number| x.clone().mul_scalar(number));
        assert_eq!(read(y), [a, 5.0 * a]);
        assert_eq!(read(z), [b, 5.0 * b]);
    }
    assert_eq!(turn.used().programs_compiled, 2);
}

#[test]
fn another_axis_or_range_is_another_program() {
    let turn = Turn::take();
    let x = vector(&[1.0, 2.0, 3.0, 4.0]).reshape([2, 2]);
    assert_eq!(read(x.clone().sum_dim(0).reshape([2])), [4.0, 6.0]);
    assert_eq!(read(x.clone().sum_dim(1).reshape([2])), [3.0, 7.0]);
    assert_eq!(read(x.clone().slice([0..1, 0..1]).reshape([1])), [1.0]);
    assert_eq!(read(x.slice([1..2, 0..1]).reshape([1])), [3.0]);
    assert_eq!(turn.used().programs_compiled, 4);
}

#[test]
fn integers_are_fed_exactly() {
    let _turn = Turn::take();
    for number in [0, 1, -1, (1 << 24) + 1, i64::MAX, i64::MIN, -(1 << 40) - 3] {
        let x = Tensor::<B, 1, Int>::zeros([2], (&MpsGraphDevice, DType::I64));
        let data = x.add_scalar(number).into_data();
        assert_eq!(data.to_vec::<i64>().expect("i64 data"), [number; 2]);
    }
    for number in [i32::MAX, i32::MIN, 16_777_217, -5] {
        let x = Tensor::<B, 1, Int>::zeros([2], (&MpsGraphDevice, DType::I32));
        let data = x.add_scalar(number).into_data();
        assert_eq!(data.to_vec::<i32>().expect("i32 data"), [number; 2]);
    }
}
