//! Every path against sums in f64, element by element.

use super::*;
use crate::ir::DType;
use crate::kernels::threads::Columns;

mod winograd;

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
    let bias = numbers(&[1, case.weights[0], 1, 1], 4);
    let mut biased = sums[0].clone();
    let channels = case.output[2] * case.output[3];
    biased.chunks_mut(channels).enumerate().for_each(|(at, sums)| {
        sums.iter_mut().for_each(|sum| *sum += f64::from(bias[at % bias.len()]));
    });
    let ty = |shape: &[usize; 4]| TensorType::new(DType::F32, shape.to_vec());
    let [input_ty, weights_ty, output_ty] = [&case.input, &case.weights, &case.output].map(ty);
    for (wanted, operands, types, result, sums) in [
        (Wanted::Output, (&input, &weights, None), [&input_ty, &weights_ty], &output_ty, &sums[0]),
        (Wanted::Output, (&input, &weights, Some(&bias[..])), [&input_ty, &weights_ty], &output_ty, &biased),
        (Wanted::InputGradient, (&grad, &weights, None), [&output_ty, &weights_ty], &input_ty, &sums[1]),
        (Wanted::WeightsGradient, (&grad, &input, None), [&output_ty, &input_ty], &weights_ty, &sums[2]),
    ] {
        let extents = Extents::new(&Convolution { wanted, windows, groups }, types, result);
        let ways = [None, Tiles::of(&extents, wanted)];
        for tiles in &ways[..1 + usize::from(ways[1].is_some())] {
            let way = Way { wanted, extents, tiles: *tiles };
            let mut scratch = vec![f32::NAN; way.scratch_bytes() / 4];
            let mut out = vec![f32::NAN; sums.len()];
            way.compute((operands.0, operands.1, operands.2), &mut out, &mut scratch);
            let scale = sums.iter().filter(|sum| sum.is_finite()).fold(1.0f64, |scale, sum| scale.max(sum.abs()));
            for (at, (&ours, &exact)) in out.iter().zip(sums).enumerate() {
                let is_close = (f64::from(ours) - exact).abs() <= scale * 2e-6;
                let is_same = ours == exact as f32 || ours.is_nan() && exact.is_nan();
                let what = (wanted, tiles.is_some(), case.input, case.weights);
                assert!(is_close || is_same, "{what:?}: {ours} at {at}, not {exact}");
            }
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

/// Terms that are equal round in one direction if they are added one after the other.
#[test]
fn long_sums_round_little() {
    let windows = [Window { stride: 1, dilation: 1, before: 0 }; 2];
    for (channels, groups, extent, batch) in [(8, 8, 64, 16), (16, 4, 64, 8), (4, 1, 64, 16), (16, 16, 7, 600)] {
        let case = shapes([batch, channels, channels, groups], [extent; 2], [3; 2], windows, [0; 2]);
        let [input, weights, output] = [case.input, case.weights, case.output];
        let [input_ty, weights_ty, output_ty] =
            [input, weights, output].map(|shape| TensorType::new(DType::F32, shape.to_vec()));
        let wanted = Wanted::WeightsGradient;
        let convolution = Convolution { wanted, windows, groups };
        let way =
            Way { wanted, extents: Extents::new(&convolution, [&output_ty, &input_ty], &weights_ty), tiles: None };
        let [ones, x] = [vec![1.0; output.iter().product()], vec![0.740_818_2f32; input.iter().product()]];
        let mut out = vec![f32::NAN; weights.iter().product()];
        way.compute((&ones, &x, None), &mut out, &mut vec![f32::NAN; way.scratch_bytes() / 4]);
        let exact = f64::from(x[0]) * (batch * output[2] * output[3]) as f64;
        let error = (f64::from(out[0]) / exact - 1.0).abs();
        assert!(error < 4e-6, "{channels} channels in {groups} groups, {batch} x {extent}²: {error:e}");
    }
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

/// One sample, whose positions are divided: rows that are few, no whole blocks, and many; the last part is shorter.
#[test]
fn parts_of_a_sample() {
    let strided = [window(2, 1, 1), window(1, 1, 0)];
    let still = [window(1, 1, 0), window(1, 1, 0)];
    for (channels, input, filter, windows) in [
        ([1, 16, 32, 1], [61, 37], [3, 3], strided),
        ([1, 96, 24, 1], [29, 31], [1, 1], still),
        ([1, 40, 100, 1], [29, 31], [1, 1], still),
        ([1, 34, 600, 1], [17, 13], [1, 1], still),
        ([2, 48, 60, 2], [30, 30], [1, 1], still),
    ] {
        let case = shapes(channels, input, filter, windows, [windows[0].before, 0]);
        check(&case, windows, channels[3]);
        let types = [&case.input, &case.weights, &case.output].map(|shape| TensorType::new(DType::F32, shape.to_vec()));
        let op = Convolution { wanted: Wanted::Output, windows, groups: channels[3] };
        let e = Extents::new(&op, [&types[0], &types[1]], &types[2]);
        let [_, width] = e.part_of_output(extents::TILE);
        assert!(width < e.positions() && !e.positions().is_multiple_of(width), "{channels:?}");
    }
}

/// Samples of few positions, which are multiplied together: as many as a piece has, more, and not a multiple; of a tile
/// and of more, with and without threads, in groups, with rows that are divided, and of one position.
#[test]
fn several_samples() {
    for (channels, input, filter, stride) in [
        ([9, 16, 24, 1], [7, 7], [3, 3], 1),
        ([37, 40, 18, 1], [4, 4], [3, 3], 1),
        ([5, 20, 42, 2], [9, 8], [3, 3], 2),
        ([4, 64, 100, 1], [5, 5], [3, 3], 1),
        ([70, 6, 5, 1], [2, 3], [1, 3], 2),
        ([3, 16, 512, 1], [6, 6], [4, 4], 2),
        ([20, 24, 32, 1], [3, 3], [3, 3], 3),
    ] {
        let windows = [window(stride, 1, 1), window(stride, 1, 1)];
        let case = shapes(channels, input, filter, windows, [1, 1]);
        check(&case, windows, channels[3]);
        let types = [&case.input, &case.weights, &case.output].map(|shape| TensorType::new(DType::F32, shape.to_vec()));
        let op = Convolution { wanted: Wanted::Output, windows, groups: channels[3] };
        let e = Extents::new(&op, [&types[0], &types[1]], &types[2]);
        assert!(output::samples_together(&e).is_some_and(|[samples, _]| samples > 1), "{channels:?}");
    }
}

/// Lines of a stride of 2 and their gradients: longer than a vector, shorter, and as long.
#[test]
fn large_filters_of_one_channel() {
    for (filter, stride) in [([11, 11], 1), ([8, 8], 1), ([9, 15], 2), ([31, 5], 1)] {
        let windows = filter.map(|extent| window(stride, 1, extent / 2));
        check(&shapes([2, 3, 6, 3], [33, 21], filter, windows, [5, 2]), windows, 3);
    }
}

#[test]
fn windows_side_by_side() {
    for (channels, filter, input) in [
        ([2, 3, 40, 1], [16, 16], [224, 224]),
        ([3, 2, 4, 2], [5, 4], [21, 13]),
        ([1, 3, 8, 1], [4, 9], [12, 150]),
        ([5, 1, 9, 1], [2, 14], [7, 100]),
        ([9, 6, 7, 1], [7, 7], [7, 15]),
    ] {
        let windows = filter.map(|stride| window(stride, 1, 0));
        let case = shapes(channels, input, filter, windows, [0, 0]);
        check(&case, windows, channels[3]);
        // A window that is partly beside the input.
        let after = [0, filter[1] - input[1] % filter[1]];
        check(&shapes(channels, input, filter, windows, after), windows, channels[3]);
    }
}

#[test]
fn gradients_in_parts() {
    for (channels, input, filter, [stride, dilation, before]) in [
        ([1, 3, 96, 1], [64, 40], [3, 3], [1, 1, 1]),
        ([1, 2, 64, 1], [120, 31], [7, 7], [2, 1, 3]),
        ([1, 1, 256, 1], [128, 96], [8, 8], [8, 1, 0]),
        ([3, 1, 96, 1], [90, 30], [3, 2], [1, 2, 2]),
        ([1, 6, 160, 2], [81, 33], [1, 1], [1, 1, 0]),
        ([1, 1, 160, 1], [1, 4000], [1, 10], [5, 1, 0]),
        // Lines that no output meets.
        ([1, 2, 192, 1], [240, 110], [2, 2], [5, 1, 0]),
    ] {
        let windows = [window(stride, dilation, before); 2];
        let case = shapes(channels, input, filter, windows, [before.min(1), 0]);
        check(&case, windows, channels[3]);
        let types = [&case.output, &case.weights, &case.input].map(|shape| TensorType::new(DType::F32, shape.to_vec()));
        let op = Convolution { wanted: Wanted::InputGradient, windows, groups: channels[3] };
        let e = Extents::new(&op, [&types[0], &types[1]], &types[2]);
        assert!(e.part_of_input(channels[0] * channels[3]) < input[0].max(input[1]), "{channels:?}");
    }
}

#[test]
fn lines_of_a_stride_of_two() {
    let strided = [window(2, 1, 3), window(2, 1, 3)];
    for width in [9, 16, 31, 32, 45] {
        check(&shapes([1, 3, 33, 1], [40, width], [7, 7], strided, [3, 3]), strided, 1);
        check(&shapes([2, 2, 2, 2], [20, width], [7, 7], strided, [3, 3]), strided, 2);
    }
}

/// Weights that are turned for the gradient of the input: by the pieces of work of one sample, a part of the rows at a
/// time and for several panels, or once for several samples; numbers of channels that are odd.
/// Weights that are read and written where they are, because there are few positions: of one sample and
/// of several, in panels that are not whole, in groups, with a stride.
#[test]
fn many_weights_for_few_positions() {
    let (same, strided) = ([window(1, 1, 1); 2], [window(2, 1, 1); 2]);
    check(&shapes([1, 130, 128, 1], [5, 5], [3, 3], same, [1, 1]), same, 1);
    check(&shapes([1, 64, 256, 1], [12, 11], [3, 3], same, [1, 1]), same, 1);
    check(&shapes([3, 130, 128, 1], [5, 5], [3, 3], same, [1, 1]), same, 1);
    check(&shapes([4, 256, 260, 2], [7, 7], [3, 3], same, [1, 1]), same, 2);
    check(&shapes([2, 130, 128, 1], [9, 9], [3, 3], strided, [1, 1]), strided, 1);
    check(&shapes([8, 32, 64, 1], [4, 4], [3, 3], same, [1, 1]), same, 1);
    check(&shapes([5, 6, 12, 2], [3, 2], [3, 3], same, [1, 1]), same, 2);
}

#[test]
fn turned_weights() {
    let same = [window(1, 1, 1), window(1, 1, 1)];
    check(&shapes([1, 66, 512, 1], [5, 5], [3, 3], same, [1, 1]), same, 1);
    check(&shapes([1, 105, 99, 1], [6, 5], [3, 3], same, [1, 1]), same, 1);
    let strided = [window(2, 1, 1), window(2, 1, 1)];
    check(&shapes([1, 35, 24, 1], [45, 43], [3, 3], strided, [1, 1]), strided, 1);
    check(&shapes([3, 32, 20, 2], [14, 15], [3, 3], strided, [1, 1]), strided, 2);
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
