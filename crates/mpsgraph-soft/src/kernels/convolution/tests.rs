//! Every path against sums in f64, element by element.

use super::*;
use crate::ir::DType;

/// Extents of an input, weights and an output.
struct Shapes {
    input: [usize; 4],
    weights: [usize; 4],
    output: [usize; 4],
}

fn shapes(
    [batch, inputs, outputs, groups]: [usize; 4],
    input: [usize; 2],
    filter: [usize; 2],
    windows: [Window; 2],
    after: [usize; 2],
) -> Shapes {
    let output = [0, 1].map(|axis| {
        let Window { stride, dilation, before } = windows[axis];
        (input[axis] + before + after[axis] - dilation * (filter[axis] - 1) - 1) / stride + 1
    });
    Shapes {
        input: [batch, inputs, input[0], input[1]],
        weights: [outputs, inputs / groups, filter[0], filter[1]],
        output: [batch, outputs, output[0], output[1]],
    }
}

/// Calls `each` with the places in input, weights and output of every product that the convolution sums.
fn products(shapes: &Shapes, windows: [Window; 2], groups: usize, mut each: impl FnMut(usize, usize, usize)) {
    let flat =
        |shape: &[usize; 4], at: [usize; 4]| at.iter().zip(shape).fold(0, |flat, (&at, &extent)| flat * extent + at);
    let Shapes { input, weights, output } = shapes;
    let meets = |axis: usize, at: usize, tap: usize| {
        let Window { stride, dilation, before } = windows[axis];
        (at * stride + tap * dilation).checked_sub(before).filter(|&place| place < input[2 + axis])
    };
    for at in 0..output.iter().product() {
        let [sample, channel, y, x] = unflat(output, at);
        let group = channel / (weights[0] / groups);
        for tap in 0..weights[1..].iter().product() {
            let [_, inner, ky, kx] = unflat(&[1, weights[1], weights[2], weights[3]], tap);
            if let (Some(iy), Some(ix)) = (meets(0, y, ky), meets(1, x, kx)) {
                let place = flat(input, [sample, group * weights[1] + inner, iy, ix]);
                each(place, flat(weights, [channel, inner, ky, kx]), at);
            }
        }
    }
}

fn unflat(shape: &[usize; 4], mut at: usize) -> [usize; 4] {
    let mut place = [0; 4];
    for axis in (0..4).rev() {
        place[axis] = at % shape[axis];
        at /= shape[axis];
    }
    place
}

fn numbers(shape: &[usize; 4], salt: usize) -> Vec<f32> {
    (0..shape.iter().product()).map(|i| ((i * 7919 + salt * 31) % 1009) as f32 / 256.0 - 2.0).collect()
}

fn check(case: &Shapes, windows: [Window; 2], groups: usize) {
    let operands = [numbers(&case.input, 1), numbers(&case.weights, 2), numbers(&case.output, 3)];
    check_operands(case, windows, groups, operands);
}

/// Checks the output, and the gradients for input and weights, of `[input, weights, output gradient]`.
fn check_operands(case: &Shapes, windows: [Window; 2], groups: usize, [input, weights, grad]: [Vec<f32>; 3]) {
    let mut sums = [vec![0.0f64; grad.len()], vec![0.0; input.len()], vec![0.0; weights.len()]];
    products(case, windows, groups, |i, w, o| {
        let [x, k, g] = [input[i], weights[w], grad[o]].map(f64::from);
        sums[0][o] += x * k;
        sums[1][i] += g * k;
        sums[2][w] += g * x;
    });
    let ty = |shape: &[usize; 4]| TensorType::new(DType::F32, shape.to_vec());
    let [input_ty, weights_ty, output_ty] = [&case.input, &case.weights, &case.output].map(ty);
    for (wanted, operands, types, result, sums) in [
        (Wanted::Output, (&input, &weights), [&input_ty, &weights_ty], &output_ty, &sums[0]),
        (Wanted::InputGradient, (&grad, &weights), [&output_ty, &weights_ty], &input_ty, &sums[1]),
        (Wanted::WeightsGradient, (&grad, &input), [&output_ty, &input_ty], &weights_ty, &sums[2]),
    ] {
        let op = Convolution { wanted, windows, groups };
        let mut scratch = vec![f32::NAN; op.scratch_bytes(&types, result) / 4];
        let mut out = vec![f32::NAN; sums.len()];
        op.compute(&Extents::new(&op, types, result), (operands.0, operands.1), &mut out, &mut scratch);
        let scale = sums.iter().filter(|sum| sum.is_finite()).fold(1.0f64, |scale, sum| scale.max(sum.abs()));
        for (at, (&ours, &exact)) in out.iter().zip(sums).enumerate() {
            let is_close = (f64::from(ours) - exact).abs() <= scale * 2e-6;
            let is_same = ours == exact as f32 || ours.is_nan() && exact.is_nan();
            assert!(is_close || is_same, "{wanted:?} {:?} {:?}: {ours} at {at}, not {exact}", case.input, case.weights);
        }
    }
}

fn window(stride: usize, dilation: usize, before: usize) -> Window {
    Window { stride, dilation, before }
}

#[test]
fn every_small_geometry() {
    for channels in [[2, 3, 5, 1], [2, 4, 6, 2], [1, 3, 3, 3], [2, 2, 8, 2], [1, 2, 12, 2]] {
        for filter in [[1, 1], [3, 3], [1, 4], [2, 1]] {
            for (stride, dilation) in [(1, 1), (2, 1), (3, 2), (1, 3)] {
                for before in [0, 1, 3] {
                    let windows = [window(stride, dilation, before), window(stride.max(2) - 1, dilation, before / 2)];
                    let case = shapes(channels, [7, 10], filter, windows, [before, before]);
                    check(&case, windows, channels[3]);
                }
            }
        }
    }
}

#[test]
fn padding_by_side() {
    let windows = [window(2, 1, 0), window(1, 1, 2)];
    check(&shapes([2, 3, 4, 1], [5, 6], [3, 3], windows, [3, 0]), windows, 1);
    // A filter that meets nothing but zeros at the ends.
    let windows = [window(1, 1, 5), window(1, 1, 5)];
    check(&shapes([1, 2, 3, 1], [1, 1], [3, 2], windows, [4, 4]), windows, 1);
}

/// Several panels, blocks of rows, partial sums of weights and threads.
#[test]
fn large() {
    let same = [window(1, 1, 1), window(1, 1, 1)];
    check(&shapes([1, 64, 128, 1], [20, 20], [3, 3], same, [1, 1]), same, 1);
    check(&shapes([5, 1, 16, 1], [40, 40], [5, 5], same, [1, 1]), same, 1);
    check(&shapes([3, 32, 32, 32], [40, 40], [3, 3], same, [1, 1]), same, 32);
    let still = [window(1, 1, 0), window(1, 1, 0)];
    check(&shapes([2, 64, 96, 1], [12, 12], [1, 1], still, [0, 0]), still, 1);
    let strided = [window(2, 1, 1), window(2, 1, 1)];
    check(&shapes([2, 24, 64, 2], [33, 31], [3, 3], strided, [1, 1]), strided, 2);
}

/// Infinite factors of groups of one channel do not meet padding, which would make them NaN.
#[test]
fn infinite_depthwise() {
    for (stride, multiplier) in [(1, 1), (2, 1), (1, 2)] {
        let windows = [window(1, 1, 1), window(stride, 1, 1)];
        let case = shapes([2, 3, 3 * multiplier, 3], [6, 37], [3, 3], windows, [1, 1]);
        for at in 0..3 {
            let mut operands = [numbers(&case.input, 1), numbers(&case.weights, 2), numbers(&case.output, 3)];
            operands[at][0] = f32::INFINITY;
            check_operands(&case, windows, 3, operands);
        }
    }
}

/// Lines between dilated taps are left out.
#[test]
fn dilated_lines() {
    for stride in [1, 3] {
        let windows = [window(stride, 5, 4), window(1, 2, 2)];
        check(&shapes([1, 3, 4, 1], [23, 9], [3, 3], windows, [4, 2]), windows, 1);
    }
}
