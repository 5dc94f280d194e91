//! Numbers that are not finite, places outside, and tensors without elements.

use burn::tensor::backend::AutodiffBackend;
use burn::tensor::module::deform_conv2d;
use burn::tensor::ops::DeformConvOptions;
use burn::tensor::{DType, Tensor, TensorData};
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::{Exact, Relative};

use super::{Operands, mask_shape, operands, quarters};
use crate::compare::{assert_gives, compare_sums, differentiate, gradient};

type Flex = burn::backend::Autodiff<burn_flex::Flex>;
type Ours = burn::backend::Autodiff<MpsGraph>;

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

/// Which operand gets special numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    X,
    Offset,
    Weight,
    Mask,
}

impl Operand {
    /// Shapes of image and weight. burn-flex multiplies each product of an output's gradient and a weight with the
    /// mask, we (and burn-ndarray) their sum. Times infinity these differ, unless the sum has one term.
    fn shapes(self) -> [[usize; 4]; 2] {
        match self {
            Operand::X | Operand::Offset | Operand::Weight => [[2, 4, 5, 6], [2, 2, 3, 2]],
            Operand::Mask => [[2, 2, 5, 6], [2, 1, 3, 2]],
        }
    }
}

fn options() -> DeformConvOptions<2> {
    DeformConvOptions::new([1, 1], [1, 0], [1, 1], 2, 2)
}

/// Output and gradients with `numbers` in some places of an operand.
fn with<B: AutodiffBackend>(which: Operand, numbers: &[f32]) -> Vec<TensorData> {
    let special = |operand: Operand, tensor: Tensor<B, 4>| {
        if operand != which {
            return tensor.require_grad();
        }
        let shape = tensor.dims();
        let mut values: Vec<f32> = tensor.into_data().iter().collect();
        for (i, &number) in numbers.iter().enumerate() {
            let at = (i * 23 + 4) % values.len();
            values[at] = number;
        }
        Tensor::from_data(TensorData::new(values, shape), &B::Device::default()).require_grad()
    };
    let Operands { x, offset, weight } = operands::<B>(which.shapes(), &options(), DType::F32);
    let mask = quarters::<B, 4>(mask_shape(which.shapes(), &options()), DType::F32, 3);
    let [x, offset] = [special(Operand::X, x), special(Operand::Offset, offset)];
    let [weight, mask] = [special(Operand::Weight, weight), special(Operand::Mask, mask)];
    let output = deform_conv2d(x.clone(), offset.clone(), weight.clone(), Some(mask.clone()), None, options());
    differentiate(output, |gradients| [x, offset, weight, mask].map(|leaf| gradient(&leaf, gradients)).to_vec())
}

#[track_caller]
fn agree(which: Operand, numbers: &[f32]) {
    let what = format!("{numbers:?} in {which:?}");
    compare_sums(&what, Relative(1e-5), || with::<Flex>(which, numbers), || with::<Ours>(which, numbers));
}

#[test]
fn numbers_that_are_not_finite() {
    for which in [Operand::X, Operand::Offset, Operand::Weight, Operand::Mask] {
        for number in [NAN, INF, -INF] {
            agree(which, &[number]);
        }
        agree(which, &[NAN, INF, -INF, 1e4, -1e4]);
    }
}

/// Just inside, at the edges, between them and the pixel outside, and beyond everything.
#[test]
fn places_at_the_edges() {
    let steps = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 5.0, -5.0, 6.0, -6.0, -1e-9, 1e-9, 0.999_999_94, -0.999_999_94];
    agree(Operand::Offset, &steps);
    agree(Operand::Offset, &[1e9, -1e9, 3e38, -3e38, 2_147_483_648.0, -2_147_483_904.0, 16_777_217.0]);
    // All of them.
    for by in [-1.0, 0.0, 0.5, 1.0, 3.0, 100.0] {
        agree(Operand::Offset, &[by; 2000]);
    }
}

/// A sample exactly one pixel outside does not see an infinite pixel, though that is next to it.
#[test]
fn infinities_next_to_samples_outside() {
    let image = |pixels: [f32; 2]| Tensor::<MpsGraph, 4>::from_data([[[pixels]]], &Default::default());
    let ones = Tensor::<MpsGraph, 4>::ones([1, 1, 1, 1], &Default::default());
    let plain = DeformConvOptions::new([1, 1], [0, 0], [1, 1], 1, 1);
    let run = |x: [f32; 2]| {
        let offset = Tensor::cat(vec![image([0.0, 0.0]), image([-1.0, 1.0])], 1);
        deform_conv2d(image(x), offset, ones.clone(), None, None, plain.clone()).into_data()
    };
    let expected = TensorData::from([[[[0.0f32, 0.0]]]]);
    assert_gives("infinite", &expected, || run([INF, -INF]), Exact);
    assert_gives("NaN", &expected, || run([NAN, NAN]), Exact);
}

/// The output is the bias, and the gradients of all other operands are zeros.
fn of_nothing(shapes: [[usize; 4]; 2]) {
    let run = || {
        let plain = DeformConvOptions::new([1, 1], [1, 1], [1, 1], 1, 1);
        let Operands { x, offset, weight } = operands::<Ours>(shapes, &plain, DType::F32);
        let mask = quarters::<Ours, 4>(mask_shape(shapes, &plain), DType::F32, 3).require_grad();
        let [x, offset, weight] = [x, offset, weight].map(Tensor::require_grad);
        let bias = quarters::<Ours, 1>([shapes[1][0]], DType::F32, 2).require_grad();
        let operands = (x.clone(), offset.clone(), weight.clone());
        let output = deform_conv2d(operands.0, operands.1, operands.2, Some(mask.clone()), Some(bias.clone()), plain);
        let biases = bias.clone().reshape([1, shapes[1][0], 1, 1]);
        let expected = (output.zeros_like() + biases).into_data();
        assert_eq!(output.clone().into_data(), expected, "{shapes:?}");
        let gradients = output.sum().backward();
        for leaf in [x, offset, weight, mask] {
            let gradient = gradient(&leaf, &gradients);
            assert_eq!(gradient.shape, leaf.shape(), "{shapes:?}");
            assert!(gradient.iter::<f32>().all(|number| number == 0.0), "{shapes:?}: {gradient}");
        }
        gradient(&bias, &gradients)
    };
    let places = {
        let plain = DeformConvOptions::new([1, 1], [1, 1], [1, 1], 1, 1);
        let [batch, _, height, width] = mask_shape(shapes, &plain);
        (batch * height * width) as f32
    };
    assert_gives("bias", &TensorData::from([places, places].as_slice()), run, Exact);
}

#[test]
fn the_output_of_empty_operands_is_the_bias() {
    of_nothing([[0, 3, 3, 3], [2, 3, 2, 2]]);
    of_nothing([[1, 0, 3, 3], [2, 0, 2, 2]]);
    of_nothing([[2, 3, 0, 3], [2, 3, 2, 2]]);
}
