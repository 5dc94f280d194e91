//! Padding, which Burn composes of slices and concatenations.

use burn::tensor::DType;
use burn::tensor::ops::PadMode;
use test_support::{FULL, Layout};

cases! {
    // Only the default dtypes, because Burn makes the padded tensor of them for every input dtype.
    numbers(FULL, [DType::F32, DType::I32]) {
        pad_with_a_constant = |x| vec![
            x.clone().pad((1, 2, 0, 3), PadMode::Constant(2.0)),
            x.pad([(1, 0), (0, 1), (2, 2)], PadMode::Constant(0.0)),
        ];
        pad_by_reflection = |x| vec![
            x.clone().pad((1, 2, 3, 0), PadMode::Reflect),
            x.pad((0, 1, 4, 4), PadMode::Reflect),
        ];
        pad_with_the_edge = |x| vec![
            x.clone().pad((1, 2, 3, 0), PadMode::Edge),
            x.pad([(2, 1), (0, 0), (3, 0)], PadMode::Edge),
        ];
    }

    numbers([Layout::Single], [DType::F32, DType::I32]) {
        pad_of_one_element = |x| vec![
            x.clone().pad((1, 1, 1, 1), PadMode::Constant(3.0)),
            x.pad((2, 0, 0, 2), PadMode::Edge),
        ];
    }
}
