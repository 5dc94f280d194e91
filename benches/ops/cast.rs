//! Conversions.

use burn::tensor::DType;
use criterion::Criterion;

use super::{INTS, bools, case, floats, ints, name, shapes};

pub fn benches(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("cast");
    for shape in shapes() {
        for dtype in INTS {
            case!(group, name("to f32 from", dtype, shape), |B| ints::<B>(shape, dtype), |x| x.clone().float());
            case!(group, name("from f32 to", dtype, shape), |B| floats::<B>(shape).abs(), |x| {
                x.clone().int().cast(dtype)
            });
            case!(group, name("to bool from", dtype, shape), |B| ints::<B>(shape, dtype), |x| x.clone().bool());
            case!(group, name("from bool to", dtype, shape), |B| bools::<B>(shape), |x| x.clone().int().cast(dtype));
        }
        for [from, to] in [[DType::I32, DType::I64], [DType::I64, DType::I32], [DType::I64, DType::U8]] {
            let to_name = format!("{to:?} from").to_lowercase();
            case!(group, name(&to_name, from, shape), |B| ints::<B>(shape, from), |x| x.clone().cast(to));
        }
        case!(group, name("from bool to", DType::F32, shape), |B| bools::<B>(shape), |x| x.clone().float());
    }
}
