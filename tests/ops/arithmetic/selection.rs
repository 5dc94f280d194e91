//! Masks and bounds of floats; those of integers are in `integer`.

use burn::tensor::{Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;
use test_support::{FLOATS, Layout};

use crate::compare::assert_gives;

cases! {
    sweep(floats, FLOATS, Layout::ALL, Exact) {
        clamp = |x| x.clamp(-1.5, 2.25);
        mask_fill = |x, y| x.mask_fill(y.greater_elem(0.5), 1.1);
        mask_fill_infinite = |x, y| x.mask_fill(y.greater_elem(0.5), f32::NEG_INFINITY);
        mask_fill_and_add = |x, y| {
            // The number is an operand of both, in one program.
            let (filled, moved) = (x.clone().mask_fill(y.greater_elem(0.5), 1.0), x + 1.0);
            Tensor::cat(vec![filled, moved], 0)
        };
        mask_fill_nan = |x, y| x.mask_fill(y.greater_elem(0.5), f32::NAN);
        mask_where = |x, y, z| x.mask_where(y.greater_elem(0.5), z);
    }

    // Burn's own reshape of the mask refuses shapes without elements.
    sweep(floats, FLOATS, Layout::PLAIN, Exact) {
        tril = |x| x.tril(1);
        triu = |x| x.triu(-1);
    }

    // burn-flex's clamp_min and clamp_max drop NaN; its clamp and Burn's own definition keep it.
    sweep(floats, FLOATS, Layout::PLAIN, Exact) {
        clamp_max = |x| x.clamp_max(0.7);
        clamp_min = |x| x.clamp_min(-0.7);
    }

    by_hand() {
        clamp = |x = [-2.0, 0.5, 2.0]| x.clamp(-1.0, 1.0) => [-1.0, 0.5, 1.0];
        clamp_max = |x = [-2.0, 0.5, 2.0]| x.clamp_max(1.0) => [-2.0, 0.5, 1.0];
        clamp_min = |x = [-2.0, 0.5, 2.0]| x.clamp_min(-1.0) => [-1.0, 0.5, 2.0];
        mask_fill = |x = [1.0, 2.0], mask = [true, false]| x.mask_fill(mask, 7.0) => [7.0, 2.0];
        mask_where = |x = [1.0, 2.0], mask = [true, false], y = [3.0, 4.0]| x.mask_where(mask, y) => [3.0, 2.0];
    }
}

#[test]
fn bounds_keep_nan() {
    let x = || Tensor::<MpsGraph, 1>::from_floats([f32::NAN, f32::INFINITY, f32::NEG_INFINITY], &Default::default());
    let gives = |name, expected: [f32; 3], bounded: fn(Tensor<MpsGraph, 1>) -> Tensor<MpsGraph, 1>| {
        assert_gives(name, &TensorData::from(expected), || bounded(x()).into_data(), Exact);
    };
    gives("clamp_min", [f32::NAN, f32::INFINITY, -1.0], |x| x.clamp_min(-1.0));
    gives("clamp_max", [f32::NAN, 1.0, f32::NEG_INFINITY], |x| x.clamp_max(1.0));
    gives("clamp", [f32::NAN, 1.0, -1.0], |x| x.clamp(-1.0, 1.0));
}

#[test]
fn crossed_bounds_give_the_lower_one() {
    // burn-flex panics, as f32::clamp does.
    let x = || Tensor::<MpsGraph, 1>::from_floats([-5.0, 0.0, 5.0], &Default::default());
    assert_gives("clamp", &TensorData::from([2.0f32; 3]), || x().clamp(2.0, -2.0).into_data(), Exact);
}

#[test]
fn a_mask_chooses_without_touching_what_it_drops() {
    let x = || Tensor::<MpsGraph, 1>::from_floats([f32::NAN, 1.0, f32::INFINITY], &Default::default());
    let chosen = || x().mask_where(x().is_finite().bool_not(), x() * 0.0 + 7.0).into_data();
    assert_gives("mask_where", &TensorData::from([f32::NAN, 1.0, f32::NAN]), chosen, Exact);
    let filled = || x().mask_fill(x().is_finite().bool_not(), 7.0).into_data();
    assert_gives("mask_fill", &TensorData::from([7.0f32, 1.0, 7.0]), filled, Exact);
}
