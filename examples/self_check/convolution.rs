//! Convolutions. MPSGraph is silently wrong for long filters, many channels, many images and in three dimensions.

use burn::backend::Autodiff;
use burn::tensor::module::{conv_transpose1d, conv_transpose2d, conv1d, conv2d, conv3d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn::tensor::{DType, Tensor, TensorData};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{EXACT, Tolerance, close_floats, unit, within};
use crate::matrix_multiplication::sums;
use crate::table::{Trap, check};
use crate::values::{B, coordinates, f32s, floats, noise, position};

type A = Autodiff<B>;

pub const TRAPS: &[Trap] = &[
    check("conv1d with 256 and 300 taps (wrong in one node)", || long(Wanted::Output)),
    check("gradient for the input, 256 and 300 taps", || long(Wanted::InputGradient)),
    check("gradient for the weights, 256 and 300 taps", || long(Wanted::WeightsGradient)),
    check("conv2d with 260 rows of taps", || tall(Wanted::Output)),
    check("gradients of conv2d with 260 rows of taps", || {
        Outcome::of([tall(Wanted::InputGradient), tall(Wanted::WeightsGradient)])
    }),
    check("65536 output channels (wrong beyond)", || many_outputs(65_536)),
    check("65536 input channels", || many_inputs(65_536)),
    check("65537 output channels, in parts", || many_outputs(65_537)),
    check("65537 input channels, in parts", || many_inputs(65_537)),
    check("conv3d (wrong on macOS 26.2)", || volumes(Wanted::Output)),
    check("gradient of conv3d for the input", || volumes(Wanted::InputGradient)),
    check("gradient of conv3d for the weights", || volumes(Wanted::WeightsGradient)),
    check("gradient for the weights of 65537 images (wrong in one node)", many_images),
    check("gradient of conv3d for the weights, 65538 positions in depth", many_planes),
    check("depthwise with padding", || depthwise(Wanted::Output)),
    check("gradient for depthwise weights (Apple's own ignores padding)", || depthwise(Wanted::WeightsGradient)),
    check("groups: output and gradients", groups),
    check("stride and dilation that differ by side: output and gradients", uneven),
    check("gradients of images of 2 by 2 and 1 by 1, four times", small_images),
    check("transposed, with strides that differ", transposed),
    check("transposed, with output padding beyond the stride", padded_output),
    check("transposed conv1d with 260 taps", transposed_long),
    check("a permuted input (channels last)", permuted),
    check("sliced inputs", sliced),
    check("permuted and sliced weights, made and given", permuted_weights),
    check("f16 and bf16 sums of 4096 products", narrow),
    check("the bias of a single pixel", bias_of_a_pixel),
];

/// What of a convolution is compared.
#[derive(Clone, Copy)]
enum Wanted {
    Output,
    InputGradient,
    WeightsGradient,
}

/// A convolution of images, volumes or rows: shapes of the input and of the weights, and the rest.
#[derive(Clone, Copy)]
struct Given<const D: usize, const N: usize> {
    x: [usize; D],
    weights: [usize; D],
    options: ([usize; N], [usize; N], [usize; N]),
}

impl<const D: usize, const N: usize> Given<D, N> {
    fn options(&self) -> ConvOptions<N> {
        let (stride, padding, dilation) = self.options;
        ConvOptions::new(stride, padding, dilation, self.groups())
    }

    fn groups(&self) -> usize {
        self.x[1] / self.weights[1]
    }

    fn output(&self) -> [usize; D] {
        let (stride, padding, dilation) = self.options;
        std::array::from_fn(|axis| match axis {
            0 => self.x[0],
            1 => self.weights[0],
            _ => {
                let i = axis - 2;
                let reach = dilation[i] * (self.weights[axis] - 1) + 1;
                (self.x[axis] + 2 * padding[i] - reach) / stride[i] + 1
            }
        })
    }

    /// Calls `f` with the places in input, weights and output of every product.
    fn products(&self, mut f: impl FnMut(usize, usize, usize)) {
        let (stride, padding, dilation) = self.options;
        let (output, group) = (self.output(), self.weights[0] / self.groups());
        let taps = coordinates(&self.weights[1..]);
        for (y, at) in coordinates(&output).into_iter().enumerate() {
            for tap in &taps {
                let mut from = vec![at[0], at[1] / group * self.weights[1] + tap[0]];
                from.extend((0..N).map_while(|i| {
                    let place = at[2 + i] * stride[i] + tap[1 + i] * dilation[i];
                    place.checked_sub(padding[i]).filter(|&place| place < self.x[2 + i])
                }));
                if from.len() == D {
                    let weight = [&[at[1]], &tap[..]].concat();
                    f(position(&self.x, &from), position(&self.weights, &weight), y);
                }
            }
        }
    }

    /// `convolve` against the loops, in f32.
    fn check(self, wanted: Wanted, convolve: impl Fn(Tensor<A, D>, Tensor<A, D>) -> Tensor<A, D>) -> Outcome {
        let count = |shape: [usize; D]| shape.iter().product::<usize>();
        let output = self.output();
        let (x, w, g) = (noise(count(self.x), 1), noise(count(self.weights), 2), noise(count(output), 3));
        let leaf = |values: &[f64], shape: [usize; D]| {
            Tensor::<A, D>::from_data(TensorData::new(values.to_vec(), shape), (&MpsGraphDevice, DType::F32))
        };
        let (input, weights) = (leaf(&x, self.x).require_grad(), leaf(&w, self.weights).require_grad());
        let result = convolve(input.clone(), weights.clone());
        let (shape, got) = match wanted {
            Wanted::Output => (output, Some(result.inner())),
            Wanted::InputGradient => (self.x, input.grad(&(result * leaf(&g, output)).sum().backward())),
            Wanted::WeightsGradient => (self.weights, weights.grad(&(result * leaf(&g, output)).sum().backward())),
        };
        let mut expected = vec![0.0; count(shape)];
        self.products(|i, j, k| match wanted {
            Wanted::Output => expected[k] += x[i] * w[j],
            Wanted::InputGradient => expected[i] += w[j] * g[k],
            Wanted::WeightsGradient => expected[j] += x[i] * g[k],
        });
        match got {
            Some(got) => close_floats(&got.into_data(), &shape, &expected, sums(512)),
            None => Outcome::fact("a gradient", "none", false),
        }
    }
}

impl Given<3, 1> {
    fn run(self, wanted: Wanted) -> Outcome {
        self.check(wanted, |x, weights| conv1d(x, weights, None, self.options()))
    }
}

impl Given<4, 2> {
    fn run(self, wanted: Wanted) -> Outcome {
        self.check(wanted, |x, weights| conv2d(x, weights, None, self.options()))
    }

    fn run_all(self) -> Outcome {
        Outcome::of([Wanted::Output, Wanted::InputGradient, Wanted::WeightsGradient].map(|wanted| self.run(wanted)))
    }
}

fn long(wanted: Wanted) -> Outcome {
    Outcome::of([
        Given { x: [2, 2, 300], weights: [3, 2, 256], options: ([3], [0], [1]) }.run(wanted),
        Given { x: [1, 1, 40], weights: [2, 1, 300], options: ([1], [135], [1]) }.run(wanted),
        Given { x: [2, 2, 600], weights: [2, 1, 257], options: ([5], [10], [2]) }.run(wanted),
    ])
}

fn tall(wanted: Wanted) -> Outcome {
    Given { x: [1, 2, 262, 5], weights: [2, 2, 260, 3], options: ([1, 1], [0, 1], [1, 1]) }.run(wanted)
}

fn many_outputs(count: usize) -> Outcome {
    Given { x: [1, 2, 2, 1], weights: [count, 2, 1, 1], options: ([1, 1], [0, 0], [1, 1]) }.run(Wanted::Output)
}

fn many_inputs(count: usize) -> Outcome {
    let given = Given { x: [1, count, 2, 1], weights: [2, count, 1, 1], options: ([1, 1], [0, 0], [1, 1]) };
    given.run(Wanted::InputGradient)
}

fn many_images() -> Outcome {
    Given { x: [65_537, 2, 2], weights: [3, 2, 2], options: ([1], [0], [1]) }.run(Wanted::WeightsGradient)
}

fn many_planes() -> Outcome {
    let given = Given { x: [2, 1, 32_769, 2, 1], weights: [2, 1, 1, 2, 1], options: ([1; 3], [0; 3], [1; 3]) };
    given.check(Wanted::WeightsGradient, |x, weights| conv3d(x, weights, None, given.options()))
}

fn volumes(wanted: Wanted) -> Outcome {
    let plain = Given { x: [2, 3, 5, 6, 4], weights: [4, 3, 3, 2, 3], options: ([1; 3], [1, 0, 1], [1; 3]) };
    let uneven = Given { x: [1, 4, 7, 6, 8], weights: [6, 2, 2, 3, 3], options: ([2, 1, 3], [1, 2, 0], [2, 1, 2]) };
    Outcome::of(
        [plain, uneven].map(|given| given.check(wanted, |x, weights| conv3d(x, weights, None, given.options()))),
    )
}

fn depthwise(wanted: Wanted) -> Outcome {
    Outcome::of([
        Given { x: [2, 6, 7, 9], weights: [6, 1, 3, 3], options: ([1, 1], [1, 1], [1, 1]) }.run(wanted),
        Given { x: [2, 6, 7, 9], weights: [12, 1, 3, 3], options: ([2, 1], [2, 1], [1, 2]) }.run(wanted),
    ])
}

fn groups() -> Outcome {
    Given { x: [2, 6, 8, 5], weights: [9, 2, 3, 3], options: ([1, 1], [1, 0], [1, 1]) }.run_all()
}

fn uneven() -> Outcome {
    Given { x: [2, 3, 13, 9], weights: [4, 3, 3, 2], options: ([3, 1], [2, 1], [1, 3]) }.run_all()
}

fn small_images() -> Outcome {
    let given = Given { x: [64, 16, 2, 2], weights: [16, 16, 3, 3], options: ([1, 1], [1, 1], [1, 1]) };
    let one_by_one = Given { x: [64, 16, 1, 1], weights: [16, 16, 3, 3], options: ([1, 1], [1, 1], [1, 1]) };
    Outcome::of((0..4).flat_map(|_| {
        [given, one_by_one]
            .map(|given| Outcome::of([Wanted::InputGradient, Wanted::WeightsGradient].map(|wanted| given.run(wanted))))
    }))
}

/// The input's gradient by a loop is what a transposed convolution with the same weights gives.
fn transposed_from<const D: usize, const N: usize>(
    given: Given<D, N>,
    output: [usize; D],
    convolve: impl Fn(Tensor<B, D>, Tensor<B, D>) -> Tensor<B, D>,
) -> Outcome {
    let from = given.output();
    let (x, w) = (noise(from.iter().product(), 1), noise(given.weights.iter().product(), 2));
    let mut inside = vec![0.0; given.x.iter().product()];
    given.products(|i, j, k| inside[i] += x[k] * w[j]);
    let mut expected = vec![0.0; output.iter().product()];
    for (at, value) in coordinates(&given.x).iter().zip(&inside) {
        expected[position(&output, at)] = *value;
    }
    let got = convolve(f32s(&x, from), f32s(&w, given.weights));
    close_floats(&got.into_data(), &output, &expected, sums(512))
}

fn transposed() -> Outcome {
    let given = Given { x: [2, 3, 8, 9], weights: [4, 3, 3, 2], options: ([3, 1], [1, 0], [1, 2]) };
    let options = ConvTransposeOptions::new([3, 1], [1, 0], [1, 0], [1, 2], 1);
    transposed_from(given, given.x, |x, w| conv_transpose2d(x, w, None, options.clone()))
}

fn padded_output() -> Outcome {
    // Two more rows and three more columns than the stride explains: zeros.
    let given = Given { x: [2, 2, 5, 4], weights: [3, 2, 2, 2], options: ([1, 1], [0, 0], [1, 1]) };
    let options = ConvTransposeOptions::new([1, 1], [0, 0], [2, 3], [1, 1], 1);
    transposed_from(given, [2, 2, 7, 7], |x, w| conv_transpose2d(x, w, None, options.clone()))
}

fn transposed_long() -> Outcome {
    let given = Given { x: [2, 3, 228], weights: [2, 3, 260], options: ([2], [20], [1]) };
    let options = ConvTransposeOptions::new([2], [20], [0], [1], 1);
    transposed_from(given, given.x, |x, w| conv_transpose1d(x, w, None, options.clone()))
}

fn permuted() -> Outcome {
    let given = Given { x: [2, 3, 6, 5], weights: [4, 3, 3, 3], options: ([1, 1], [1, 1], [1, 1]) };
    given.check(Wanted::Output, |x, weights| {
        // The same numbers in another order, and back by a permutation that is recorded with the convolution.
        let last = (x.permute([0, 2, 3, 1]) + 0.0).permute([0, 3, 1, 2]);
        conv2d(last, weights, None, given.options())
    })
}

/// As operands that were given, strided weights are read as if they were packed (pytorch/pytorch#192212).
fn permuted_weights() -> Outcome {
    let given = Given { x: [2, 3, 6, 5], weights: [4, 3, 3, 2], options: ([1, 1], [1, 1], [1, 1]) };
    let outputs_last = |weights: Tensor<A, 4>| weights.permute([2, 3, 1, 0]);
    let back = |weights: Tensor<A, 4>| weights.permute([3, 2, 0, 1]);
    let wider = |weights: Tensor<A, 4>| Tensor::cat(vec![weights.clone().flip([0]), weights], 3);
    let part = |wider: Tensor<A, 4>| wider.slice([0..4, 0..3, 0..3, 2..4]);
    let of = |wanted, remade: &dyn Fn(Tensor<A, 4>) -> Tensor<A, 4>| {
        given.check(wanted, |x, weights| conv2d(x, remade(weights), None, given.options()))
    };
    Outcome::of([Wanted::Output, Wanted::InputGradient, Wanted::WeightsGradient].into_iter().flat_map(|wanted| {
        [
            of(wanted, &|weights| back(outputs_last(weights) + 0.0)),
            of(wanted, &|weights| back(submitted(outputs_last(weights) * 1.0))),
            of(wanted, &|weights| part(wider(weights))),
            of(wanted, &|weights| part(submitted(wider(weights)))),
        ]
    }))
}

/// The tensor as other programs see it.
fn submitted(tensor: Tensor<A, 4>) -> Tensor<A, 4> {
    MpsGraphDevice.flush();
    tensor
}

/// Parts of images, and of their channels (as operands that were given: pytorch/pytorch#169342); f32 is not cast first.
fn sliced() -> Outcome {
    let given = Given { x: [2, 3, 6, 5], weights: [4, 3, 3, 3], options: ([1, 1], [1, 1], [1, 1]) };
    let w = noise(108, 2);
    let of = |shape: [usize; 4], first: [usize; 4], dtype: DType| {
        let whole = noise(shape.iter().product(), 1);
        let place = |at: [usize; 4]| std::array::from_fn::<_, 4, _>(|axis| at[axis] + first[axis]);
        let x =
            coordinates(&given.x).into_iter().map(|at| whole[position(&shape, &place([at[0], at[1], at[2], at[3]]))]);
        let x: Vec<f64> = x.collect();
        let mut expected = vec![0.0; given.output().iter().product()];
        given.products(|i, j, k| expected[k] += x[i] * w[j]);
        let ranges = std::array::from_fn::<_, 4, _>(|axis| first[axis]..first[axis] + given.x[axis]);
        let part = (floats(&whole, shape, dtype) * 1.0).slice(ranges);
        let got = conv2d(part, floats(&w, given.weights, dtype), None, given.options());
        close_floats(&got.into_data(), &given.output(), &expected, within(1e-3, unit(dtype)))
    };
    Outcome::of(
        [DType::F16, DType::F32]
            .into_iter()
            .flat_map(|dtype| [of([2, 3, 11, 10], [0, 0, 1, 3], dtype), of([2, 7, 6, 5], [0, 2, 0, 0], dtype)]),
    )
}

fn narrow() -> Outcome {
    let of = |dtype, tolerance: Tolerance| {
        let (x, w) = (vec![1.0; 2 * 1024 * 4], vec![1.0; 3 * 1024 * 4]);
        let got = conv2d(
            floats(&x, [2, 1024, 2, 2], dtype),
            floats(&w, [3, 1024, 2, 2], dtype),
            None,
            ConvOptions::new([1, 1], [0, 0], [1, 1], 1),
        );
        close_floats(&got.into_data(), &[2, 3, 1, 1], &[4096.0; 6], tolerance)
    };
    Outcome::of([DType::F16, DType::BF16].map(|dtype| of(dtype, EXACT)))
}

fn bias_of_a_pixel() -> Outcome {
    let (x, w, bias) = (noise(8, 1), noise(24, 2), noise(3, 3));
    let expected: Vec<f64> = (0..3).map(|o| bias[o] + (0..8).map(|i| x[i] * w[o * 8 + i]).sum::<f64>()).collect();
    let options = ConvOptions::new([1, 1], [0, 0], [1, 1], 1);
    let got = conv2d(f32s(&x, [1, 8, 1, 1]), f32s(&w, [3, 8, 1, 1]), Some(f32s(&bias, [3])), options);
    close_floats(&got.into_data(), &[1, 3, 1, 1], &expected, sums(8))
}
