//! Convolutions, their gradients and pooling on this backend, burn-ndarray and burn-flex in one run, each read back by
//! a sync, beside one matrix product that shows what the processor can multiply.
//!
//! The throughput of an entry counts a multiplication and an addition as one element: twice as many GFLOP/s.

use burn::tensor::backend::Backend;
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions, DeformConvOptions, FloatTensor, MaxPool2dWithIndices};
use burn::tensor::{Distribution, Tensor, TensorPrimitive};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use burn_ndarray::NdArray;
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use std::time::Duration;

fn random<B: Backend>(shape: &[usize]) -> FloatTensor<B> {
    let elements = [shape.iter().product::<usize>()];
    let tensor = Tensor::<B, 1>::random(elements, Distribution::Normal(0.0, 1.0), &B::Device::default());
    let TensorPrimitive::Float(tensor) = tensor.into_primitive() else { unreachable!("random numbers are floats") };
    let tensor = B::float_reshape(tensor, shape.into());
    wait::<B>();
    tensor
}

/// Products from which on burn-ndarray's gradients of convolutions take too long to measure: burn-flex is faster by
/// some hundred times.
const MINUTES: usize = 1 << 25;

/// Waits until everything is computed, also if the backend is lazy.
fn wait<B: Backend>() {
    B::sync(&B::Device::default()).expect("the device works");
}

/// Measures `run`, which multiplies and adds `products` times.
fn measure<B: Backend, T>(
    criterion: &mut Criterion,
    (group, entry): (&str, &str),
    products: usize,
    run: impl Fn() -> T,
) {
    let backend = std::any::type_name::<B>();
    let name = ["MpsGraph", "NdArray", "Flex"].into_iter().find(|name| backend.contains(name)).unwrap_or(backend);
    if name == "NdArray" && group.starts_with("conv") && group.contains("backward") && products > MINUTES {
        return;
    }
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements(products as u64));
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function(BenchmarkId::new(name.to_lowercase(), entry), |bencher| {
        bencher.iter(|| {
            let result = run();
            wait::<B>();
            result
        });
    });
    group.finish();
}

fn product(criterion: &mut Criterion) {
    fn run<B: Backend>(criterion: &mut Criterion) {
        let n = 1024;
        let [a, b] = [random::<B>(&[n, n]), random::<B>(&[n, n])];
        measure::<B, _>(criterion, ("matmul", "1024"), n * n * n, || B::float_matmul(a.clone(), b.clone()));
    }
    run::<MpsGraph>(criterion);
    run::<NdArray>(criterion);
    run::<Flex>(criterion);
}

/// A convolution along `N` dimensions, all of them alike.
struct Case<const N: usize> {
    name: &'static str,
    batch: usize,
    /// Of the input and the output.
    channels: [usize; 2],
    groups: usize,
    input: [usize; N],
    filter: usize,
    stride: usize,
}

impl<const N: usize> Case<N> {
    const fn new(
        name: &'static str,
        (batch, input): (usize, [usize; N]),
        channels: [usize; 2],
        (filter, stride): (usize, usize),
    ) -> Self {
        Self { name, batch, channels, groups: 1, input, filter, stride }
    }

    /// With as many groups as channels.
    const fn depthwise(self) -> Self {
        Self { groups: self.channels[0], ..self }
    }

    /// None where windows lie side by side.
    fn padding(&self) -> usize {
        if self.filter == self.stride { 0 } else { self.filter / 2 }
    }

    fn shape(&self, channels: usize, extents: impl Iterator<Item = usize>) -> Vec<usize> {
        [self.batch, channels].into_iter().chain(extents).collect()
    }

    fn x(&self) -> Vec<usize> {
        self.shape(self.channels[0], self.input.into_iter())
    }

    fn weight(&self) -> Vec<usize> {
        [self.channels[1], self.channels[0] / self.groups].into_iter().chain([self.filter; N]).collect()
    }

    fn output(&self) -> Vec<usize> {
        let outputs = self.input.map(|input| (input + 2 * self.padding() - self.filter) / self.stride + 1);
        self.shape(self.channels[1], outputs.into_iter())
    }

    fn options(&self) -> ConvOptions<N> {
        ConvOptions::new([self.stride; N], [self.padding(); N], [1; N], self.groups)
    }

    fn products(&self) -> usize {
        self.output().iter().product::<usize>() * self.weight()[1..].iter().product::<usize>()
    }
}

/// The output of each case and its three gradients, by the methods that Burn has for this number of dimensions.
macro_rules! convolution {
    ($name:ident, $n:literal: $forward:ident, $x_backward:ident, $weight_backward:ident, $bias_backward:ident) => {
        fn $name(criterion: &mut Criterion, case: &Case<$n>) {
            fn run<B: Backend>(criterion: &mut Criterion, case: &Case<$n>) {
                let (x, weight, bias) =
                    (random::<B>(&case.x()), random::<B>(&case.weight()), random::<B>(&case.weight()[..1]));
                let grad = random::<B>(&case.output());
                let products = case.products();
                let group = stringify!($forward);
                measure::<B, _>(criterion, (group, case.name), products, || {
                    B::$forward(x.clone(), weight.clone(), Some(bias.clone()), case.options())
                });
                measure::<B, _>(criterion, (stringify!($x_backward), case.name), products, || {
                    B::$x_backward(x.clone(), weight.clone(), grad.clone(), case.options())
                });
                measure::<B, _>(criterion, (stringify!($weight_backward), case.name), products, || {
                    B::$weight_backward(x.clone(), weight.clone(), grad.clone(), case.options())
                });
                let sums = case.output().iter().product();
                measure::<B, _>(criterion, (stringify!($bias_backward), case.name), sums, || {
                    B::$bias_backward(x.clone(), bias.clone(), grad.clone())
                });
            }
            run::<MpsGraph>(criterion, case);
            run::<NdArray>(criterion, case);
            run::<Flex>(criterion, case);
        }
    };
}

convolution!(along_one, 1: conv1d, conv1d_x_backward, conv1d_weight_backward, conv1d_bias_backward);
convolution!(along_two, 2: conv2d, conv2d_x_backward, conv2d_weight_backward, conv2d_bias_backward);
convolution!(along_three, 3: conv3d, conv3d_x_backward, conv3d_weight_backward, conv3d_bias_backward);

fn convolutions(criterion: &mut Criterion) {
    for case in [
        Case::new("3x3, 16 to 32, 28²", (1, [28; 2]), [16, 32], (3, 1)),
        Case::new("3x3, 64 to 64, 56²", (1, [56; 2]), [64, 64], (3, 1)),
        Case::new("3x3, 64 to 64, 56², batch 8", (8, [56; 2]), [64, 64], (3, 1)),
        Case::new("3x3, 64 to 64, 128², batch 16", (16, [128; 2]), [64, 64], (3, 1)),
        Case::new("3x3 stride 2, 128 to 256, 28², batch 8", (8, [28; 2]), [128, 256], (3, 2)),
        Case::new("1x1, 256 to 64, 56²", (1, [56; 2]), [256, 64], (1, 1)),
        Case::new("1x1, 256 to 64, 56², batch 8", (8, [56; 2]), [256, 64], (1, 1)),
        Case::new("depthwise 3x3, 128, 56²", (1, [56; 2]), [128, 128], (3, 1)).depthwise(),
        Case::new("depthwise 3x3, 128, 56², batch 8", (8, [56; 2]), [128, 128], (3, 1)).depthwise(),
        Case::new("depthwise 3x3 stride 2, 128, 56², batch 8", (8, [56; 2]), [128, 128], (3, 2)).depthwise(),
        Case::new("3x3, 64 to 64, 4², batch 32", (32, [4; 2]), [64, 64], (3, 1)),
        Case::new("3x3, 512 to 512, 7²", (1, [7; 2]), [512, 512], (3, 1)),
        Case::new("3x3 stride 2, 256 to 512, 8², batch 16", (16, [8; 2]), [256, 512], (3, 2)),
        Case::new("depthwise 3x3, 512, 14², batch 8", (8, [14; 2]), [512, 512], (3, 1)).depthwise(),
        Case::new("7x7 stride 2, 3 to 64, 224²", (1, [224; 2]), [3, 64], (7, 2)),
        Case::new("5x5, 1 to 16, 28², batch 64", (64, [28; 2]), [1, 16], (5, 1)),
        Case::new("16x16 stride 16, 3 to 192, 224², batch 4", (4, [224; 2]), [3, 192], (16, 16)),
        Case::new("3x3, 4 to 320, 64²", (1, [64; 2]), [4, 320], (3, 1)),
        Case::new("depthwise 31x31, 64, 32², batch 2", (2, [32; 2]), [64, 64], (31, 1)).depthwise(),
    ] {
        along_two(criterion, &case);
    }
    for case in [
        Case::new("3, 80 to 512, 3000", (1, [3000]), [80, 512], (3, 1)),
        Case::new("3 stride 2, 512 to 512, 3000", (1, [3000]), [512, 512], (3, 2)),
    ] {
        along_one(criterion, &case);
    }
    along_three(criterion, &Case::new("3x3x3, 8 to 16, 16³, batch 2", (2, [16; 3]), [8, 16], (3, 1)));
}

/// Twice as large images with half as many channels, and the first layer of a generator.
fn transposed(criterion: &mut Criterion) {
    type Layer = (&'static str, usize, [usize; 2], [usize; 2], usize);
    fn run<B: Backend>(criterion: &mut Criterion, (name, batch, channels, [extent, result], stride): Layer) {
        let filter = 4;
        let options = || ConvTransposeOptions::new([stride; 2], [stride - 1; 2], [0; 2], [1; 2], 1);
        let x = random::<B>(&[batch, channels[0], extent, extent]);
        let weight = random::<B>(&[channels[0], channels[1], filter, filter]);
        let grad = random::<B>(&[batch, channels[1], result, result]);
        let products = batch * channels[0] * channels[1] * (extent * filter).pow(2);
        measure::<B, _>(criterion, ("conv_transpose2d", name), products, || {
            B::conv_transpose2d(x.clone(), weight.clone(), None, options())
        });
        measure::<B, _>(criterion, ("conv_transpose2d_x_backward", name), products, || {
            B::conv_transpose2d_x_backward(weight.clone(), grad.clone(), options())
        });
        measure::<B, _>(criterion, ("conv_transpose2d_weight_backward", name), products, || {
            B::conv_transpose2d_weight_backward(x.clone(), weight.clone(), grad.clone(), options())
        });
    }
    for layer in [
        ("4x4 stride 2, 64 to 32, 32², batch 4", 4, [64, 32], [32, 64], 2),
        ("4x4, 100 to 512, 1², batch 64", 64, [100, 512], [1, 4], 1),
    ] {
        run::<MpsGraph>(criterion, layer);
        run::<NdArray>(criterion, layer);
        run::<Flex>(criterion, layer);
    }
}

/// A weight group for each channel, and one offset group for all: gradients of burn-flex and burn-ndarray with fewer
/// weight groups take seconds.
fn deformable(criterion: &mut Criterion) {
    fn run<B: Backend>(criterion: &mut Criterion) {
        let (batch, channels, extent) = (4, 64, 28);
        let options = || DeformConvOptions::new([1; 2], [1; 2], [1; 2], channels, 1);
        let images = || random::<B>(&[batch, channels, extent, extent]);
        let [x, grad] = [images(), images()];
        let weight = random::<B>(&[channels, 1, 3, 3]);
        let [offset, mask] = [18, 9].map(|numbers| random::<B>(&[batch, numbers, extent, extent]));
        let products = batch * channels * (extent * 3).pow(2);
        let name = "depthwise 3x3, 64, 28², batch 4";
        measure::<B, _>(criterion, ("deform_conv2d", name), products, || {
            B::deform_conv2d(x.clone(), offset.clone(), weight.clone(), Some(mask.clone()), None, options())
        });
        measure::<B, _>(criterion, ("deform_conv2d_backward", name), products, || {
            let (x, offset, weight, grad) = (x.clone(), offset.clone(), weight.clone(), grad.clone());
            let all = B::deform_conv2d_backward(x, offset, weight, Some(mask.clone()), None, grad, options());
            (all.x_grad, all.offset_grad, all.weight_grad, all.mask_grad)
        });
    }
    run::<MpsGraph>(criterion);
    run::<NdArray>(criterion);
    run::<Flex>(criterion);
}

/// Windows of 8 samples.
fn pooling(criterion: &mut Criterion) {
    fn run<B: Backend>(criterion: &mut Criterion) {
        for (name, channels, extent, kernel, stride, padding) in [
            ("3x3 stride 2, 112²", 64, 112, [3; 2], [2; 2], [1; 2]),
            ("2x2 stride 2, 56²", 64, 56, [2; 2], [2; 2], [0; 2]),
            ("3x3 stride 2, 28², 16 channels", 16, 28, [3; 2], [2; 2], [1; 2]),
        ] {
            let x = random::<B>(&[8, channels, extent, extent]);
            let grad = random::<B>(&[8, channels, extent / 2, extent / 2]);
            let elements = 8 * channels * extent * extent;
            measure::<B, _>(criterion, ("max_pool2d", name), elements, || {
                B::max_pool2d(x.clone(), kernel, stride, padding, [1; 2], false)
            });
            let with_indices = || B::max_pool2d_with_indices(x.clone(), kernel, stride, padding, [1; 2], false);
            measure::<B, _>(criterion, ("max_pool2d_with_indices", name), elements, || {
                let MaxPool2dWithIndices { output, indices } = with_indices();
                (output, indices)
            });
            let indices = with_indices().indices;
            wait::<B>();
            measure::<B, _>(criterion, ("max_pool2d_with_indices_backward", name), elements, || {
                let (x, grad, indices) = (x.clone(), grad.clone(), indices.clone());
                B::max_pool2d_with_indices_backward(x, kernel, stride, padding, [1; 2], false, grad, indices).x_grad
            });
            measure::<B, _>(criterion, ("avg_pool2d", name), elements, || {
                B::avg_pool2d(x.clone(), kernel, stride, padding, true, false)
            });
            measure::<B, _>(criterion, ("avg_pool2d_backward", name), elements, || {
                B::avg_pool2d_backward(x.clone(), grad.clone(), kernel, stride, padding, true, false)
            });
        }
        for (name, extent, outputs) in
            [("56² to 7²", 56, 7), ("56² to 1", 56, 1), ("13² to 6²", 13, 6), ("14² to 4²", 14, 4)]
        {
            let x = random::<B>(&[8, 64, extent, extent]);
            let grad = random::<B>(&[8, 64, outputs, outputs]);
            let elements = 8 * 64 * extent * extent;
            measure::<B, _>(criterion, ("adaptive_avg_pool2d", name), elements, || {
                B::adaptive_avg_pool2d(x.clone(), [outputs; 2])
            });
            measure::<B, _>(criterion, ("adaptive_avg_pool2d_backward", name), elements, || {
                B::adaptive_avg_pool2d_backward(x.clone(), grad.clone())
            });
        }
    }
    run::<MpsGraph>(criterion);
    run::<NdArray>(criterion);
    run::<Flex>(criterion);
}

/// Short measurements: there are many, and their spread matters less than that all backends meet the same conditions.
fn short() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1000))
}

criterion_group! {
    name = benches;
    config = short();
    targets = product, convolutions, transposed, deformable, pooling
}
criterion_main!(benches);
