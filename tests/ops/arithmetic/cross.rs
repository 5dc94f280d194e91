//! The cross product.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use burn_mpsgraph::MpsGraph;
use test_support::Tolerance::Exact;
use test_support::{Layout, assert_refused, floats};

cases! {
    // Dim 2 has the extent 3. The numbers' products are exact in f32.
    sweep(floats, [DType::F32], [Layout::Contiguous, Layout::Transposed, Layout::Sliced], Exact) {
        last_dim = |x, y| x.cross(y, 2);
        last_dim_counted_from_the_end = |x, y| x.cross(y, -1);
        other_dim = |x, y| x.swap_dims(0, 2).cross(y.swap_dims(0, 2), 0);
    }

    by_hand() {
        cross = |x = [[1.0, 0.0, 0.0], [1.0, 2.0, 3.0]], y = [[0.0, 1.0, 0.0], [4.0, 5.0, 6.0]]| x.cross(y, 1)
            => [[0.0, 0.0, 1.0], [-3.0, 6.0, -3.0]];
    }
}

#[test]
fn of_itself_is_zero() {
    fn case<B: Backend>(layout: Layout) -> Tensor<B, 3> {
        let x = floats::<B>(layout, DType::F32, 0);
        x.clone().cross(x, 2)
    }
    agree!(Exact, case, Layout::Sliced);
    agree!(Exact, case, Layout::Empty);
}

/// burn-flex rounds 16-bit products one by one.
#[test]
fn of_16_bits_is_that_of_f32_rounded_once() {
    fn vectors<B: Backend>(layout: Layout, dtype: DType) -> [Tensor<B, 3>; 2] {
        [0, 1].map(|salt| floats::<B>(layout, dtype, salt))
    }
    for dtype in [DType::F16, DType::BF16] {
        for layout in [Layout::Contiguous, Layout::Transposed, Layout::Sliced] {
            let [x, y] = vectors::<Flex>(layout, dtype).map(|x| x.cast(DType::F32));
            let [a, b] = vectors::<MpsGraph>(layout, dtype);
            a.cross(b, 2).into_data().assert_eq(&x.cross(y, 2).cast(dtype).into_data(), true);
        }
    }
}

#[test]
fn products_beyond_the_range_are_no_nan() {
    let vectors = [[300.0, 300.0, 1.0], [300.0, 300.0, 2.0]].map(|x| TensorData::new(x.to_vec(), [1, 3]));
    for dtype in [DType::F16, DType::BF16] {
        let [x, y] = vectors.clone().map(|x| Tensor::<MpsGraph, 2>::from_data(x, (&Default::default(), dtype)));
        // 300 squared is beyond f16; as bf16 it has 8 of its 17 digits.
        assert_eq!(x.cross(y, 1).into_data().iter::<f64>().collect::<Vec<_>>(), [300.0, -300.0, 0.0], "{dtype:?}");
    }
}

#[test]
fn needs_three() {
    let x = Tensor::<MpsGraph, 2>::zeros([3, 4], &Default::default());
    assert_refused(&["3"], || x.clone().cross(x.clone(), 1));
}
