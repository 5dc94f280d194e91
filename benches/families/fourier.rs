//! Spectra of rows, as in a spectrogram, and of one signal, short and long, and the way back. burn-ndarray has no
//! transforms.

use burn::tensor::DType;
use burn::tensor::backend::Backend;
use burn::tensor::signal::{irfft, rfft};
use criterion::Criterion;

use super::{Group, each_backend, floats, measure};

const CASES: [([usize; 2], usize); 9] = [
    ([1, 512], 1),
    ([1, 4096], 1),
    ([1, 16_384], 1),
    ([1000, 256], 1),
    ([256, 1024], 1),
    ([64, 4096], 1),
    ([1, 65_536], 1),
    ([1, 1 << 20], 1),
    ([1024, 256], 0),
];

pub fn benches(criterion: &mut Criterion) {
    for name in ["rfft", "irfft"] {
        let mut group = criterion.benchmark_group(name);
        for (shape, dim) in CASES {
            each_backend!(without ndarray: transform(&mut group, name, shape, dim));
        }
        group.finish();
    }
}

fn transform<B: Backend>(group: &mut Group<'_>, name: &str, shape: [usize; 2], dim: usize, backend: &str) {
    let (case, x) = (format!("{}x{} dim {dim}", shape[0], shape[1]), || floats::<B, 2>(shape, DType::F32));
    if name == "rfft" {
        return measure::<B, _, _>(group, backend, &case, x, |x| rfft(x.clone(), dim, None));
    }
    measure::<B, _, _>(
        group,
        backend,
        &case,
        || rfft(x(), dim, None),
        |(re, im)| irfft(re.clone(), im.clone(), dim, None),
    );
}
