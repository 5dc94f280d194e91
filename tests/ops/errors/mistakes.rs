//! Inputs that break an op's contract: the text names the op, the shapes and the dtypes. The tests call the backend's
//! methods, as burn-router and custom ops do, and so avoid Burn's own checks.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use burn::tensor::backend::ExecutionError;
use burn::tensor::ops::{
    ActivationOps, AttentionModuleOptions, BoolTensorOps, ConvOptions, FloatTensorOps, IntTensorOps, ModuleOps,
    UnfoldOptions,
};
use burn::tensor::{
    BoolDType, BoolStore, DType, Distribution, FloatDType, IndexingUpdateOp, Int, IntDType, Scalar, Shape, Slice,
    Tensor, TensorData, TensorPrimitive, s,
};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice, MpsGraphTensor};

use test_support::panic_message as message;
use test_support::{assert_refused, distinct};

type B = MpsGraph;

const DEVICE: MpsGraphDevice = MpsGraphDevice;

fn float(shape: impl Into<Shape>) -> MpsGraphTensor {
    B::float_from_data(distinct(shape, DType::F32), &DEVICE)
}

fn half(shape: impl Into<Shape>) -> MpsGraphTensor {
    B::float_from_data(distinct(shape, DType::F16), &DEVICE)
}

fn int(shape: impl Into<Shape>) -> MpsGraphTensor {
    B::int_from_data(distinct(shape, DType::I32), &DEVICE)
}

fn bytes(shape: impl Into<Shape>) -> MpsGraphTensor {
    B::int_from_data(distinct(shape, DType::U8), &DEVICE)
}

/// Attention of two queries to three keys.
fn masked(mask: Option<[usize; 4]>, bias: Option<[usize; 4]>, softcap: Option<f64>) -> MpsGraphTensor {
    let mask = mask.map(|shape| B::float_equal_elem(float(shape), 0.5.into(), BoolDType::Native));
    let options = AttentionModuleOptions { softcap, ..Default::default() };
    B::attention(float([1, 1, 2, 4]), float([1, 1, 3, 4]), float([1, 1, 3, 4]), mask, bias.map(float), options)
}

fn attention(query: [usize; 4], key: [usize; 4]) -> MpsGraphTensor {
    B::attention(float(query), float(key), float(key), None, None, AttentionModuleOptions::default())
}

/// Windows of 2 by 2 of an image of 4 by 4.
fn unfold4d(padding: [usize; 2], dilation: [usize; 2]) -> MpsGraphTensor {
    B::unfold4d(float([1, 1, 4, 4]), [2, 2], UnfoldOptions::new([1, 1], padding, dilation))
}

/// A call, and what its panic says.
type Case = (fn() -> MpsGraphTensor, &'static [&'static str]);

const CASES: &[Case] = &[
    (|| B::float_reshape(float([2, 3]), [4, 2].into()), &["reshape", "[2, 3]", "[4, 2]"]),
    // A product of extents that `usize` cannot hold wraps to the number of elements.
    (|| B::float_reshape(float([4]), [(1usize << 62) + 1, 4].into()), &["reshape", "[4]", "[4611686018427387905, 4]"]),
    (
        || B::float_expand(float([1, 1]), [3, 0xAAAA_AAAA_AAAA_AAAB_usize].into()),
        &["expand", "[3, 12297829382473034411]", "2^31"],
    ),
    (|| B::float_swap_dims(float([2, 3]), 0, 2), &["swap_dims", "0 and 2", "[2, 3]"]),
    (|| B::int_permute(int([2, 3]), &[1, 1]), &["permute", "[1, 1]", "[2, 3]"]),
    (|| B::float_flip(float([2, 3]), &[0, 5]), &["flip", "[0, 5]", "[2, 3]"]),
    (|| B::float_expand(float([2, 3]), [4, 3].into()), &["expand", "[2, 3]", "[4, 3]"]),
    (|| B::float_expand(float([2, 3]), [3].into()), &["expand", "[2, 3]", "[3]"]),
    (|| B::float_repeat_dim(float([2, 3]), 2, 4), &["repeat_dim", "dim 2", "[2, 3]"]),
    (|| B::float_repeat_dim(float([4]), 0, (1 << 62) + 1), &["repeat_dim", "[4]", "4611686018427387905"]),
    (|| B::float_repeat_dim(float([1, 3]), 0, 1 << 30), &["repeat_dim", "[1073741824, 3]", "2^31", "split"]),
    (
        || B::float_random([2].into(), Distribution::Normal(0.0, f64::NAN), &DEVICE, FloatDType::F32),
        &["random", "Normal(0.0, NaN)", "finite"],
    ),
    (|| B::float_unfold(float([2, 3]), 1, 0, 1), &["unfold", "windows of 0", "[2, 3]"]),
    (|| B::float_unfold(float([2, 3]), 2, 1, 1), &["unfold", "dim 2", "[2, 3]"]),
    (|| B::float_unfold(float([100_000]), 0, 50_000, 1), &["unfold", "[50001, 50000]", "2^31"]),
    (|| unfold4d([1, 1], [usize::MAX, 1]), &["unfold4d", "dilation", "2^31", "[1, 1, 4, 4]"]),
    (|| unfold4d([1 << 29, 1], [1, 1]), &["unfold4d", "[1, 4, 5368709135]", "2^31", "split"]),
    (|| unfold4d([1, 1], [6, 1]), &["unfold4d", "dilation [6, 1]", "[1, 1, 4, 4]", "fit"]),
    (|| B::float_slice(float([2]), &[Slice { start: 0, end: None, step: 0 }]), &["slice", "step 0", "dim 0", "[2]"]),
    (|| B::int_powi_scalar(int([2]), Scalar::Float(1e30)), &["powi_scalar", "1e30", "I32", "i64 must hold it"]),
    (|| B::float_powi_scalar(bools(), Scalar::Int(7)), &["pow", "Bool", "floats or integers"]),
    (|| B::float_slice(float([2]), &[Slice::full(), Slice::full()]), &["slice", "2 slices", "[2]"]),
    (
        || B::float_slice_assign(float([4]), &[Slice::new(0, Some(2), 1)], float([3])),
        &["slice_assign", "[3]", "[2]", "[4]"],
    ),
    (|| B::float_slice_assign(float([4]), &[Slice::new(0, Some(2), 1)], half([2])), &["slice_assign", "F16", "F32"]),
    (|| B::float_add(float([2, 3]), half([1, 3])), &["add", "F32", "F16", "[2, 3]", "[1, 3]", "cast one"]),
    (|| B::float_cat(vec![], 0), &["cat", "no tensors"]),
    (|| B::float_cat(vec![float([2, 3]), float([2, 4])], 0), &["cat", "[2, 3]", "[2, 4]", "dim 0"]),
    (|| B::float_cat(vec![float([2, 3]), half([1, 3])], 0), &["cat", "F32", "F16", "[2, 3]", "[1, 3]"]),
    (|| B::float_cat(vec![float([2, 3])], 2), &["cat", "dim 2", "[2, 3]"]),
    (|| B::float_gather(0, float([2, 3]), int([2])), &["gather", "[2]", "[2, 3]"]),
    (|| B::int_gather(1, int([2, 3]), int([3, 1])), &["gather", "[3, 1]", "dim 1", "[2, 3]"]),
    (|| B::float_gather(0, float([0, 3]), int([1, 3])), &["gather", "out of range", "[0, 3]"]),
    (|| B::float_select(float([2, 3]), 0, int([2, 2])), &["select", "[2, 2]", "[2, 3]"]),
    (|| B::float_select(float([2, 3]), 2, int([2])), &["select", "dim 2", "[2, 3]"]),
    (
        || B::float_select(float([2, 3]), 1, B::int_arange(0..4, &DEVICE, IntDType::I64)),
        &["select", "first 4", "dim 1", "[2, 3]", "has 3", "fewer"],
    ),
    (|| B::float_gather_nd(float([2, 3]), int([4, 3])), &["gather_nd", "[4, 3]", "[2, 3]", "at most 2"]),
    (
        || B::float_scatter_add(0, float([2, 3]), int([2, 2]), float([2, 2])),
        &["scatter_add", "[2, 2]", "dim 0", "[2, 3]", "the other dims"],
    ),
    (|| B::float_scatter_add(0, float([2, 3]), int([1, 3]), half([1, 3])), &["scatter_add", "F16", "F32"]),
    (
        || {
            let zeros = |count: usize| B::int_zeros([count].into(), &DEVICE, IntDType::I32);
            B::int_scatter_add(0, zeros(1 << 29), zeros(1 << 22), zeros(1 << 22))
        },
        &["scatter_add", "[536870912]", "I32", "digits", "split"],
    ),
    (
        || B::float_select_add(float([2, 3]), 0, int([2]), float([3, 3])),
        &["select_add", "[3, 3]", "[2]", "dim 0", "[2, 3]", "a slice for each"],
    ),
    (
        || B::float_scatter_nd(float([2, 3]), int([1, 1]), float([1, 2]), IndexingUpdateOp::Add),
        &["scatter_nd", "[1, 2]", "[1, 1]", "[2, 3]", "from k on"],
    ),
    (|| B::embedding(float([2, 3]), int([4])), &["embedding", "[2, 3]", "[4]"]),
    (
        || B::embedding_backward(float([2, 3]), float([1, 4, 5]), int([1, 4])),
        &["embedding_backward", "[1, 4, 5]", "[1, 4]", "[2, 3]", "[rows, width]"],
    ),
    (|| B::float_gather(0, float([2]), float([1])), &["gather", "F32", "[1]", "integers"]),
    (|| B::float_select(float([2]), 0, bools()), &["select", "Bool", "[1]", "integers"]),
    (|| B::float_gather_nd(float([2]), float([1, 1])), &["gather_nd", "F32", "integers"]),
    (|| B::embedding(float([2, 3]), float([1, 1])), &["embedding", "F32", "integers"]),
    (|| B::float_scatter_add(0, float([2]), float([1]), float([1])), &["scatter_add", "F32", "integers"]),
    (|| B::float_select_add(float([2]), 0, float([1]), float([1])), &["select_add", "F32", "integers"]),
    (|| B::float_matmul(float([2, 3]), float([4, 2])), &["float_matmul", "[2, 3]", "[4, 2]", "F32"]),
    (|| B::float_matmul(float([2, 3]), half([3, 2])), &["float_matmul", "F32", "F16"]),
    (|| B::float_matmul(float([3]), float([3, 2])), &["float_matmul", "[3]", "two axes"]),
    (|| B::float_matmul(float([2, 4, 3]), float([3, 3, 2])), &["float_matmul", "[2, 4, 3]", "[3, 3, 2]"]),
    (|| B::int_matmul(int([2, 3]), int([4, 2])), &["int_matmul", "[2, 3]", "[4, 2]", "I32"]),
    (|| B::linear(float([2, 3]), float([3, 4]), Some(float([3]))), &["linear", "[3]", "4 outputs"]),
    (
        || B::linear_weight_backward(float([2, 3, 4]), float([3, 2, 5])),
        &["linear_weight_backward", "[2, 3, 4]", "[3, 2, 5]", "the same positions"],
    ),
    (|| B::layer_norm(float([2, 3]), float([2]), None, 1e-5), &["layer_norm", "[2, 3]", "[2]"]),
    (|| B::layer_norm(float([2, 3]), half([3]), None, 1e-5), &["layer_norm", "F32", "F16"]),
    (
        || {
            let zeros = |shape: &[usize]| B::float_zeros(shape.to_vec().into(), &DEVICE, FloatDType::F16);
            B::layer_norm(zeros(&[1 << 15, (1 << 15) + 1]), zeros(&[(1 << 15) + 1]), None, 1e-5)
        },
        &["layer_norm", "F16", "[32768, 32769]", "2^30", "fewer rows"],
    ),
    (|| attention([1, 1, 2, 3], [1, 1, 2, 4]), &["attention", "[1, 1, 2, 3]", "[1, 1, 2, 4]"]),
    (|| masked(Some([1, 1, 3, 3]), None, None), &["attention", "mask [1, 1, 3, 3]", "[1, 1, 2, 3]"]),
    (|| masked(Some([2, 1, 2, 3]), None, None), &["attention", "mask [2, 1, 2, 3]", "[1, 1, 2, 3]"]),
    (|| masked(None, Some([1, 4, 1, 3]), None), &["attention", "bias [1, 4, 1, 3]", "[1, 1, 2, 3]"]),
    (|| masked(None, None, Some(f64::NAN)), &["attention", "softcap", "NaN"]),
    (|| B::float_max(float([0, 3])), &["max", "[0, 3]", "no elements"]),
    (|| B::int_mean(int([0, 3])), &["mean: ", "[0, 3]", "no elements"]),
    (|| B::int_mean_dim(int([2, 0]), 1), &["mean_dim", "dim 1", "[2, 0]", "no elements"]),
    (|| B::bool_into_float(bools(), FloatDType::F64), &["F64", "use f32"]),
    (|| B::float_zeros([2].into(), &DEVICE, FloatDType::F64), &["zeros", "F64", "[2]", "use f32"]),
    (|| B::float_cast(float([2]), FloatDType::F64), &["cast", "F64", "[2]", "use f32"]),
    (|| B::float_from_data(TensorData::from([1.0f64]), &DEVICE), &["float_from_data", "F64", "use f32"]),
    // More elements than fit in 4 GiB as numbers of 32 bits, though not in their own dtype.
    (
        || B::bool_zeros([1 << 15, 33_000].into(), &DEVICE, BoolStore::Native),
        &["zeros", "2^30", "[32768, 33000]", "split the tensor"],
    ),
    (
        || B::float_sum_dim(B::float_expand(half([1, 33_000]), [1 << 15, 33_000].into()), 1),
        &["sum_dim", "2^30", "[32768, 33000]", "F16", "split the tensor"],
    ),
    // As numbers of 64 bits.
    (
        || B::int_mean_dim(B::int_expand(bytes([1, 33_000]), [1 << 14, 33_000].into()), 1),
        &["mean_dim", "64 bits", "2^29", "[16384, 33000]", "U8", "split the tensor"],
    ),
    (
        || B::float_into_int(B::float_expand(half([1, 33_000]), [1 << 14, 33_000].into()), IntDType::U32),
        &["cast", "64 bits", "2^29", "[16384, 33000]", "split the tensor"],
    ),
    // Positions of 8 bits, as those of 32 that they become.
    (
        || B::float_gather(1, half([1, 2]), B::int_expand(bytes([1, 1]), [1, (1 << 30) + 1].into())),
        &["gather", "2^30", "[1073741825]", "split the tensor"],
    ),
];

/// One number of this dtype, seen as a tensor of any shape: no memory holds it.
fn repeated<const D: usize>(dtype: DType, shape: [usize; D]) -> MpsGraphTensor {
    let data = distinct([1; D], dtype);
    if dtype.is_float() {
        B::float_expand(B::float_from_data(data, &DEVICE), shape.into())
    } else {
        B::int_expand(B::int_from_data(data, &DEVICE), shape.into())
    }
}

/// Ops that are composed of others: the text begins with the one that was called, and has its operands.
const COMPOSED: &[Case] = &[
    (|| B::rfft(float([4]), 0, Some(1 << 40)).0, &["rfft: unsupported: 1099511627776 samples", "[4]", "2^29"]),
    (|| B::rfft(float([4]), 0, Some(18446744073709551557)).0, &["rfft: unsupported: 18446744073709551557", "[4]"]),
    (|| B::rfft(repeated(DType::F32, [1 << 30]), 0, None).0, &["rfft: unsupported", "[1073741824]", "2^29"]),
    (|| B::irfft(float([4]), float([4]), 0, Some(1 << 40)), &["irfft: unsupported: 1099511627776", "[4]", "2^29"]),
    (|| B::irfft(float([1]), float([1]), 0, None), &["irfft: 0 samples of 1 bins", "[1]", "give `n`"]),
    (|| B::adaptive_avg_pool1d(float([1, 1, 4]), 1 << 31), &["adaptive_avg_pool1d: unsupported: 2^31", "[1, 1, 4]"]),
    (
        || B::float_matmul(repeated(DType::F32, [1024, 1, 2048, 1]), repeated(DType::F32, [1024, 1024, 1, 1])),
        &["float_matmul: unsupported: 2^31", "in expand, for operands F32 [1024, 1, 2048, 1], F32 [1024, 1024, 1, 1]"],
    ),
    (
        || B::float_matmul(repeated(DType::F32, [1 << 20, 0]), repeated(DType::F32, [0, 1 << 20])),
        &["float_matmul: unsupported: 2^31", "[1048576, 0]", "[0, 1048576]"],
    ),
    (|| B::float_sum_dim(repeated(DType::F32, [0, 1 << 40]), 0), &["sum_dim: unsupported: 2^31", "[0, 1099511627776]"]),
    (
        || {
            let options = ConvOptions::new([1; 3], [1, 0, 0], [1; 3], 1);
            B::conv3d(repeated(DType::F32, [1, 1, 64, 4096, 2048]), float([1, 1, 3, 1, 1]), None, options)
        },
        &["conv3d: unsupported", "F32 [1, 1, 64, 4096, 2048], F32 [1, 1, 3, 1, 1]"],
    ),
    (
        || {
            let options = ConvOptions::new([2; 2], [0; 2], [1; 2], 1);
            B::conv2d(repeated(DType::F16, [1, 1, 1 << 15, 33_000]), half([1, 1, 2, 2]), None, options)
        },
        &["conv2d: unsupported", "4294967296", "F16 [1, 1, 32768, 33000], F16 [1, 1, 2, 2]"],
    ),
    (
        || {
            let x = || repeated(DType::F32, [1, 1, 1 << 17, 1]);
            B::attention(x(), x(), x(), None, None, AttentionModuleOptions::default())
        },
        &["attention: unsupported: 2^31", "in float_matmul, for operands F32 [1, 1, 131072, 1], F32"],
    ),
    (|| B::linear(float([2, 3]), float([4, 2]), None), &["linear: ", "[2, 3]", "[4, 2]", "in float_matmul"]),
    (|| B::linear(float([2, 3]), float([3, 4]), Some(half([4]))), &["linear: ", "F16", "in add", "F16 [4]"]),
    (|| B::linear_x_backward(float([2, 3]), float([4, 2])), &["linear_x_backward: ", "[2, 3]", "[4, 2]"]),
    (|| B::float_cross(float([2, 3]), half([2, 3]), 1), &["cross: ", "F32", "F16", "[2, 3]"]),
    (|| B::float_cross(float([2, 3]), float([4, 3]), 1), &["cross: ", "[2, 3]", "[4, 3]"]),
    (|| B::bool_scatter_or(0, bools(), int([2, 2]), bools()), &["bool_scatter_or: ", "I32 [2, 2]", "in scatter_add"]),
    (|| B::bool_select_or(bools(), 0, int([2, 2]), bools()), &["bool_select_or: ", "I32 [2, 2]", "in select_add"]),
    (|| B::embedding(float([0, 3]), int([1, 4])), &["embedding: ", "[0, 3]", "I32 [1, 4]"]),
    (
        || B::float_gather_nd(repeated(DType::F32, [2, 1 << 20]), repeated(DType::I32, [1 << 11, 1])),
        &["gather_nd: unsupported: 2^31", "F32 [2, 1048576], I32 [2048, 1]"],
    ),
];

/// Elements for which Burn does not define the op.
const ELEMENTS: &[Case] = &[
    (|| B::float_sin(int([2])), &["sin: dtype I32, shape [2]: it is for floats"]),
    (|| B::float_atan2(int([2]), int([2])), &["atan2: dtype I32, shape [2]: it is for floats"]),
    (|| B::float_greater(bools(), bools(), BoolDType::Native), &["greater: dtype Bool", "[1]", "floats or integers"]),
    (|| B::float_is_nan(int([2]), BoolDType::Native), &["is_nan: dtype I32, shape [2]", "floats"]),
    (|| B::float_sum_dim(bools(), 0), &["sum_dim: dtype Bool", "[1]", "any or all"]),
    (|| B::float_cumsum(bools(), 0), &["cumsum: dtype Bool", "[1]", "floats or integers"]),
    (|| B::float_sort(bools(), 0, false), &["sort: dtype Bool", "[1]", "floats or integers"]),
    (|| B::relu(int([2])), &["relu: dtype I32, shape [2]", "floats"]),
    (|| B::relu_backward(float([2]), half([2])), &["relu_backward: operands", "F32, [2]", "F16, [2]", "cast one"]),
    (
        || B::max_pool2d(int([1, 1, 4, 4]), [2, 2], [2, 2], [0, 0], [1, 1], false),
        &["max_pool2d: dtype I32, shape [1, 1, 4, 4]", "floats"],
    ),
    (|| B::adaptive_avg_pool2d(bytes([1, 1, 4, 4]), [2, 2]), &["adaptive_avg_pool2d: dtype U8", "floats"]),
    (|| B::layer_norm(int([2, 3]), int([3]), None, 1e-5), &["layer_norm: dtype I32, shape [2, 3]", "floats"]),
    (
        || {
            let x = || int([1, 1, 2, 3]);
            B::attention(x(), x(), x(), None, None, AttentionModuleOptions::default())
        },
        &["attention: dtype I32, shape [1, 1, 2, 3]", "floats"],
    ),
    (
        || {
            let (x, mask) = (|| float([1, 1, 2, 3]), float([1, 1, 2, 2]));
            B::attention(x(), x(), x(), Some(mask), None, AttentionModuleOptions::default())
        },
        &["attention: mask of dtype F32, shape [1, 1, 2, 2]", "bools"],
    ),
    (
        || {
            let coordinates = pin!(B::bool_argwhere(float([2]), IntDType::I32));
            match coordinates.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(found) => found,
                Poll::Pending => float([1]),
            }
        },
        &["bool_argwhere: dtype F32, shape [2]", "bools"],
    ),
];

fn bools() -> MpsGraphTensor {
    B::bool_from_data(TensorData::from([true]), &DEVICE)
}

#[test]
fn a_mistake_is_described() {
    for (run, parts) in [CASES, COMPOSED, ELEMENTS].concat() {
        assert_refused(parts, run);
    }
}

/// Nothing of a call that failed stays behind.
#[test]
fn work_goes_on_after_a_mistake() -> Result<(), ExecutionError> {
    let before = Tensor::<B, 1>::from_data([1.0, 2.0], &DEVICE) * 3.0;
    message("matmul", || drop(B::float_matmul(float([2, 3]), float([4, 2]))));
    (before + 1.0).try_into_data()?.assert_eq(&TensorData::from([4.0f32, 7.0]), true);
    Ok(())
}

/// The same mistakes through `Tensor`: Burn's check or ours, but a text with the shapes.
#[test]
fn mistakes_through_the_public_api() {
    let tensor = |shape: [usize; 2]| Tensor::<B, 2>::from_primitive(TensorPrimitive::Float(float(shape)));
    let indices = || Tensor::<B, 2, Int>::from_primitive(int([3, 3]));
    let texts = [
        message("cat", || drop(Tensor::cat(vec![tensor([2, 3]), tensor([2, 4])], 0))),
        message("slice", || drop(tensor([2, 3]).slice(s![0..2, .., ..]))),
        message("matmul", || drop(tensor([2, 3]).matmul(tensor([4, 2])))),
        message("gather", || drop(tensor([2, 3]).gather(1, indices()))),
        message("reshape", || drop(tensor([2, 3]).reshape([7]))),
    ];
    for (text, part) in texts.iter().zip(["[2, 4]", "3", "4", "3", "[7]"]) {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
    let double = message("f64", || drop(Tensor::<B, 1>::from_data([1.0f64], (&DEVICE, DType::F64))));
    assert!(double.contains("F64") && double.contains("use f32"), "{double}");
}
