//! Floats: what is made of each element, and of rows.

use burn_backend::FloatDType;
use burn_tensor::{Device, Int, Tensor, activation};

use super::{compare, methods, methods_of_two};

pub const DTYPES: [FloatDType; 3] = [FloatDType::F32, FloatDType::F16, FloatDType::BF16];
pub const NAN: f32 = f32::NAN;
pub const INF: f32 = f32::INFINITY;

/// Numbers that differ, of both signs.
pub fn numbers<const D: usize>(shape: [usize; D], dtype: FloatDType, device: &Device) -> Tensor<D> {
    let count = shape.iter().product::<usize>() as i64;
    ((Tensor::<1, Int>::arange(0..count, device).float() * 0.7).sin() * 1.9).reshape(shape).cast(dtype)
}

fn edges(dtype: FloatDType, device: &Device) -> Tensor<2> {
    let row = [NAN, INF, -INF, 0.0, -0.0, 1.5, -2.5, 0.5, -1.0, 1.0, 2.0, 0.1];
    Tensor::<2>::from_floats([row], device).cast(dtype)
}

/// Rows with NaN, with infinities, and with equal elements.
fn odd_rows(dtype: FloatDType, device: &Device) -> Tensor<2> {
    let rows = [
        [1.0, NAN, 3.0, NAN, -1.0],
        [4.0, 7.0, -9.0, 7.0, 0.0],
        [INF, -INF, INF, 1.0, 2.0],
        [2.0, 2.0, 2.0, NAN, 2.0],
        [0.5, 0.25, -0.5, 0.125, 3.0],
    ];
    Tensor::<2>::from_floats(rows, device).cast(dtype)
}

fn nothing(dtype: FloatDType, device: &Device) -> Tensor<2> {
    Tensor::<2>::zeros([2, 0], device).cast(dtype)
}

const MAKERS: [fn(FloatDType, &Device) -> Tensor<2>; 4] =
    [edges, odd_rows, |dtype, device| numbers([4, 5], dtype, device), nothing];

/// Every dtype with the makers of tensors that have elements, and of all.
fn makers(with_nothing: bool) -> impl Iterator<Item = impl Fn(&Device) -> Tensor<2> + Copy> {
    let makers = MAKERS.into_iter().take(if with_nothing { 4 } else { 3 });
    makers.flat_map(|make| DTYPES.map(|dtype| move |device: &Device| make(dtype, device)))
}

#[test]
fn each_element() {
    for make in makers(true) {
        methods!(make; neg(), sign(), abs(), round(), floor(), ceil(), trunc(), recip(), deg2rad(), rad2deg(), bool());
        methods!(make; square(), sqrt(), exp(), log(), log1p(), erf(), sin(), cos(), tan(), sinh(), cosh(), tanh());
        methods!(make; asin(), acos(), atan(), asinh(), acosh(), atanh(), is_nan(), is_inf(), is_finite(), int());
        for power in [0, 1, 2, 3, -1, -3] {
            methods!(make; powi_scalar(power));
        }
        for limit in [-1.0, -0.0, 0.5, f64::NAN, f64::INFINITY] {
            methods!(make; clamp_min(limit), clamp_max(limit));
        }
        methods!(make; clamp(-1.0, 1.0));
    }
}

#[test]
fn each_element_and_a_number() {
    for make in makers(true) {
        for number in [0.0f64, -0.0, 1.0, -2.5, 3.0, f64::NAN, f64::INFINITY] {
            methods!(make; add_scalar(number), sub_scalar(number), mul_scalar(number), div_scalar(number));
            methods!(make; remainder_scalar(number), equal_scalar(number), not_equal_scalar(number));
            methods!(make; lower_scalar(number), lower_equal_scalar(number));
            methods!(make; greater_scalar(number), greater_equal_scalar(number));
        }
        // Burn's scalars ask an infinity whether it is an integer, and end.
        for number in [0.0f64, -0.0, 1.0, -2.5, 3.0] {
            methods!(make; powf_scalar(number), fmod_scalar(number as f32));
        }
    }
}

#[test]
fn rows_with_elements() {
    for make in makers(false) {
        methods!(make; max(), min(), max_abs());
        for dim in 0..2 {
            methods!(make; max_dim(dim), min_dim(dim), max_abs_dim(dim), argmax(dim), argmin(dim), median(dim));
            methods_of_two!(make; max_dim_with_indices(dim), min_dim_with_indices(dim), median_with_indices(dim));
        }
        methods!(make; topk(2, 1), argtopk(2, 1));
        methods_of_two!(make; topk_with_indices(2, 1));
        methods!(make; any_dim(0), all_dim(0)); // burn-flex has no answer for columns of nothing
    }
}

#[test]
fn rows() {
    for make in makers(true) {
        methods!(make; sum(), mean(), prod(), any(), all(), contains_nan(), any_dim(1), all_dim(1));
        methods!(make; sum_dims(&[0, 1]), mean_dims(&[0, 1]), prod_dims(&[0, 1]));
        for dim in 0..2 {
            methods!(make; sum_dim(dim), mean_dim(dim), prod_dim(dim), var(dim), var_bias(dim));
            methods!(make; cumsum(dim), cumprod(dim), cummax(dim), cummin(dim));
            methods!(make; sort(dim), sort_descending(dim), argsort(dim), argsort_descending(dim));
            methods_of_two!(make; sort_with_indices(dim), sort_descending_with_indices(dim), var_mean(dim));
        }
    }
}

/// Compares functions of [`activation`].
macro_rules! activations {
    ($make:expr; $($function:ident($($argument:expr),*)),+ $(,)?) => {
        $(compare(stringify!($function), |device, results| {
            results.add(activation::$function($make(device) $(, $argument)*));
        });)+
    };
}

#[test]
fn activations() {
    for make in [edges, |dtype: FloatDType, device: &Device| numbers([3, 8], dtype, device)]
        .into_iter()
        .flat_map(|make| DTYPES.map(|dtype| move |device: &Device| make(dtype, device)))
    {
        activations!(make; relu(), relu6(), leaky_relu(0.1), threshold(0.5, -1.0), thresholded_relu(0.5));
        activations!(make; gelu(), gelu_approximate(), silu(), mish(), tanh(), sigmoid(), log_sigmoid(), softsign());
        activations!(make; hardtanh(-1.0, 1.0), hard_sigmoid(0.2, 0.5), hard_swish(), tanhshrink(), selu());
        activations!(make; elu(0.7), celu(0.7), softplus(1.5), softplus_with_threshold(1.0, 20.0), glu(1));
        activations!(make; hard_shrink(0.5), soft_shrink(0.5), shrink(0.5, 0.1));
        activations!(make; softmax(1), softmin(1), quiet_softmax(1), log_softmax(1));
    }
}
