//! Resizing images, up and down, forward and backward, and reading them at points of a grid.

use burn::tensor::backend::Backend;
use burn::tensor::module::interpolate;
use burn::tensor::ops::{GridSampleOptions, GridSamplePaddingMode, InterpolateMode, InterpolateOptions, ModuleOps};
use burn::tensor::{DType, TensorPrimitive};
use criterion::Criterion;

use super::{Group, each_backend, floats, measure};

/// Shapes of images and their new sizes.
const CASES: [([usize; 4], [usize; 2]); 6] = [
    ([1, 16, 32, 32], [64, 64]),
    ([4, 16, 64, 64], [128, 128]),
    ([4, 16, 64, 64], [256, 256]),
    ([4, 16, 128, 128], [64, 64]),
    ([4, 16, 100, 120], [75, 90]),
    ([1, 3, 480, 640], [224, 224]),
];

pub fn benches(criterion: &mut Criterion) {
    for mode in [InterpolateMode::Nearest, InterpolateMode::Bilinear, InterpolateMode::Bicubic] {
        let mut resize = criterion.benchmark_group("interpolate");
        for (shape, size) in CASES {
            each_backend!(forward(&mut resize, &mode, shape, size));
        }
        resize.finish();
    }
    for mode in [InterpolateMode::Nearest, InterpolateMode::Bilinear, InterpolateMode::Bicubic] {
        let mut backwards = criterion.benchmark_group("interpolate_backward");
        for (shape, size) in CASES {
            match mode {
                InterpolateMode::Nearest => {
                    each_backend!(backward(&mut backwards, &mode, shape, size));
                }
                // burn-ndarray has this gradient for the nearest pixel only.
                InterpolateMode::Bilinear | InterpolateMode::Bicubic | InterpolateMode::Lanczos3 => {
                    each_backend!(without ndarray: backward(&mut backwards, &mode, shape, size));
                }
            }
        }
        backwards.finish();
    }
    let mut sample = criterion.benchmark_group("grid_sample_2d");
    for (shape, size) in [([1, 3, 64, 64], [64, 64]), ([4, 16, 64, 64], [64, 64]), ([1, 3, 480, 640], [224, 224])] {
        for padding in [GridSamplePaddingMode::Zeros, GridSamplePaddingMode::Border, GridSamplePaddingMode::Reflection]
        {
            each_backend!(at_points(&mut sample, padding, shape, size));
        }
    }
    sample.finish();
}

fn forward<B: Backend>(
    group: &mut Group<'_>,
    mode: &InterpolateMode,
    shape: [usize; 4],
    size: [usize; 2],
    backend: &str,
) {
    let (case, x) = (case(&format!("{mode:?}"), shape, size), || floats::<B, 4>(shape, DType::F32));
    let options = InterpolateOptions::new(mode.clone());
    measure::<B, _, _>(group, backend, &case, x, |x| interpolate(x.clone(), size, options.clone()));
}

fn backward<B: Backend>(
    group: &mut Group<'_>,
    mode: &InterpolateMode,
    shape: [usize; 4],
    size: [usize; 2],
    backend: &str,
) {
    let primitive = |shape| match floats::<B, 4>(shape, DType::F32).into_primitive() {
        TensorPrimitive::Float(x) => x,
        TensorPrimitive::QFloat(_) => unreachable!("floats were asked for"),
    };
    let case = case(&format!("{mode:?}"), shape, size);
    let input = || (primitive(shape), primitive([shape[0], shape[1], size[0], size[1]]));
    let options = InterpolateOptions::new(mode.clone());
    measure::<B, _, _>(group, backend, &case, input, |(x, grad)| {
        <B as ModuleOps<B>>::interpolate_backward(x.clone(), grad.clone(), size, options.clone())
    });
}

fn at_points<B: Backend>(
    group: &mut Group<'_>,
    padding: GridSamplePaddingMode,
    shape: [usize; 4],
    size: [usize; 2],
    backend: &str,
) {
    let case = case(&format!("{padding:?}"), shape, size);
    // Half of the points are outside.
    let grid = || floats::<B, 4>([shape[0], size[0], size[1], 2], DType::F32);
    let options = GridSampleOptions::new(InterpolateMode::Bilinear).with_padding_mode(padding);
    measure::<B, _, _>(
        group,
        backend,
        &case,
        || (floats::<B, 4>(shape, DType::F32), grid()),
        |(x, grid)| x.clone().grid_sample_2d(grid.clone(), options.clone()),
    );
}

fn case(mode: &str, [batch, channels, height, width]: [usize; 4], to: [usize; 2]) -> String {
    format!("{mode} {batch}x{channels}x{height}x{width} to {}x{}", to[0], to[1])
}
