//! Elements at indices: selections of rows and columns, gathers and scatters.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Distribution, IndexingUpdateOp, Int, Tensor};
use criterion::Criterion;

use super::{INTS, bools, case, floats, ints, name, shapes};

pub fn benches(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("gather");
    for shape in shapes() {
        let classes = shape[0] * shape[1] / 10;
        let of = |what: &str| name(what, DType::F32, shape);
        case!(group, of("one hot of 10"), |B| places::<B>([1, classes], 10).squeeze_dim::<1>(0), |at| {
            at.clone().one_hot::<2>(10)
        });
        let short = [shape[0] * shape[1] / 20, 20];
        case!(group, of("select rows of 20"), |B| (floats::<B>(short), line::<B>(short[0])), |(x, at)| {
            x.clone().select(0, at.clone())
        });
        let short = [shape[0] * shape[1] / 4, 4];
        case!(group, of("gather of rows of 4"), |B| (floats::<B>(short), places::<B>(short, 4)), |(x, at)| {
            x.clone().gather(1, at.clone())
        });
        case!(group, of("select add rows of 4"), |B| (floats::<B>(short), line::<B>(short[0])), |(x, at)| {
            x.clone().select_assign(0, at.clone(), x.clone(), IndexingUpdateOp::Add)
        });
        for dim in [0, 1] {
            let n = shape[dim];
            let of = |what: &str, dtype: DType| name(&format!("{what} dim {dim}"), dtype, shape);
            case!(group, of("select", DType::F32), |B| (floats::<B>(shape), line::<B>(n)), |(x, at)| {
                x.clone().select(dim, at.clone())
            });
            case!(group, of("gather", DType::F32), |B| (floats::<B>(shape), places::<B>(shape, n)), |(x, at)| {
                x.clone().gather(dim, at.clone())
            });
            case!(group, of("select add", DType::F32), |B| (floats::<B>(shape), line::<B>(n)), |(x, at)| {
                x.clone().select_assign(dim, at.clone(), x.clone(), IndexingUpdateOp::Add)
            });
            case!(group, of("scatter add", DType::F32), |B| (floats::<B>(shape), places::<B>(shape, n)), |(x, at)| {
                x.clone().scatter(dim, at.clone(), x.clone(), IndexingUpdateOp::Add)
            });
            for dtype in INTS {
                case!(group, of("select", dtype), |B| (ints::<B>(shape, dtype), line::<B>(n)), |(x, at)| {
                    x.clone().select(dim, at.clone())
                });
                case!(group, of("gather", dtype), |B| (ints::<B>(shape, dtype), places::<B>(shape, n)), |(x, at)| {
                    x.clone().gather(dim, at.clone())
                });
                case!(group, of("select add", dtype), |B| (ints::<B>(shape, dtype), line::<B>(n)), |(x, at)| {
                    x.clone().select_assign(dim, at.clone(), x.clone(), IndexingUpdateOp::Add)
                });
                case!(
                    group,
                    of("scatter add", dtype),
                    |B| (ints::<B>(shape, dtype), places::<B>(shape, n)),
                    |(x, at)| { x.clone().scatter(dim, at.clone(), x.clone(), IndexingUpdateOp::Add) }
                );
            }
            let case = format!("select dim {dim} bool {}", shape[0] * shape[1]);
            case!(group, case, |B| (bools::<B>(shape), line::<B>(n)), |(x, at)| x.clone().select(dim, at.clone()));
            let case = format!("gather dim {dim} bool {}", shape[0] * shape[1]);
            case!(group, case, |B| (bools::<B>(shape), places::<B>(shape, n)), |(x, at)| {
                x.clone().gather(dim, at.clone())
            });
        }
    }
}

/// Indices below `bound`, as many.
fn line<B: Backend>(bound: usize) -> Tensor<B, 1, Int> {
    places::<B>([1, bound], bound).squeeze_dim(0)
}

/// Indices below `bound`, in the backend's own dtype.
fn places<B: Backend>(shape: [usize; 2], bound: usize) -> Tensor<B, 2, Int> {
    Tensor::random(shape, Distribution::Uniform(0.0, bound as f64), &B::Device::default())
}
