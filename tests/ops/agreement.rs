//! How a case is checked: the same generic function runs on burn-flex, on this backend recorded, and on this backend
//! with a program per op; all three must agree.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Distribution, Int, Shape, Tensor, TensorData};

/// How an input lies in memory, or what is special about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    Contiguous,
    Transposed,
    Sliced,
    Broadcast,
    /// One extent is 0.
    Empty,
    /// Every extent is 1.
    Single,
    /// NaN, infinities, signed zeros and extremes among ordinary numbers (extremes alone for integers).
    Extreme,
}

impl Layout {
    pub const ALL: [Layout; 7] = [
        Layout::Contiguous,
        Layout::Transposed,
        Layout::Sliced,
        Layout::Broadcast,
        Layout::Empty,
        Layout::Single,
        Layout::Extreme,
    ];

    /// Layouts with ordinary numbers and at least one element.
    pub const PLAIN: [Layout; 5] =
        [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Single];
}

/// Float dtypes that have code of their own.
pub const FLOATS: [DType; 3] = [DType::F32, DType::F16, DType::BF16];
/// Integer dtypes that have code of their own.
pub const INTS: [DType; 2] = [DType::I32, DType::I64];

/// A float tensor of about -4 to 4; two inputs with different `salt` differ. The numbers are multiples of 1/8, which
/// every float dtype holds exactly.
pub fn floats<B: Backend>(layout: Layout, dtype: DType, salt: usize) -> Tensor<B, 3> {
    let number = |i: usize| ((i * 37 + salt * 11 + 5) % 67) as f32 / 8.0 - 4.0;
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, 1.0, -1.0, 65504.0, -65504.0, 1e-3, 0.5];
    let device = B::Device::default();
    let tensor = |shape: Vec<usize>, extreme: bool| {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count)
            .map(|i| if extreme && i % 2 == 0 { special[(i / 2 + salt * 3) % special.len()] } else { number(i) })
            .collect();
        Tensor::<B, 3>::from_data(TensorData::new(values, shape).convert_dtype(dtype), (&device, dtype))
    };
    arrange(layout, tensor)
}

/// An integer tensor of about -33 to 33, like [`floats`]; in unsigned dtypes the negative numbers wrap around.
pub fn ints<B: Backend>(layout: Layout, dtype: DType, salt: usize) -> Tensor<B, 3, Int> {
    let number = |i: usize| ((i * 37 + salt * 11 + 5) % 67) as i128 - 33;
    let (low, high) = integer_range(dtype);
    let special = [low, high, 0, 1, -1, low + 1, high - 1, 1 << 24, (1 << 24) + 1];
    let device = B::Device::default();
    let tensor = |shape: Vec<usize>, extreme: bool| {
        let count: usize = shape.iter().product();
        let values: Vec<i128> = (0..count)
            .map(|i| if extreme && i % 2 == 0 { special[(i / 2 + salt * 3) % special.len()] } else { number(i) })
            .collect();
        Tensor::<B, 3, Int>::from_data(integer_data(&values, shape, dtype), (&device, dtype))
    };
    arrange(layout, tensor)
}

/// The lowest and the highest number of an integer dtype.
fn integer_range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size() as u32;
    if dtype.is_uint() { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}

/// `values` in any integer dtype, wrapped around.
pub fn integer_data(values: &[i128], shape: Vec<usize>, dtype: DType) -> TensorData {
    macro_rules! of {
        ($element:ty) => {
            TensorData::new(values.iter().map(|&value| value as $element).collect::<Vec<_>>(), shape)
        };
    }
    match dtype {
        DType::I8 => of!(i8),
        DType::I16 => of!(i16),
        DType::I32 => of!(i32),
        DType::I64 => of!(i64),
        DType::U8 => of!(u8),
        DType::U16 => of!(u16),
        DType::U32 => of!(u32),
        DType::U64 => of!(u64),
        _ => panic!("{dtype:?} is no integer dtype"),
    }
}

/// A bool tensor, like [`floats`].
pub fn bools<B: Backend>(layout: Layout, salt: usize) -> Tensor<B, 3, burn::tensor::Bool> {
    ints::<B>(layout, DType::I32, salt + 3).greater_elem(0)
}

fn arrange<B: Backend, K: burn::tensor::BasicOps<B>>(
    layout: Layout,
    tensor: impl Fn(Vec<usize>, bool) -> Tensor<B, 3, K>,
) -> Tensor<B, 3, K> {
    match layout {
        Layout::Contiguous => tensor(vec![2, 5, 3], false),
        Layout::Transposed => tensor(vec![3, 5, 2], false).swap_dims(0, 2),
        Layout::Sliced => tensor(vec![4, 7, 5], false).slice([1..3, 1..6, 2..5]),
        Layout::Broadcast => tensor(vec![1, 5, 1], false).expand([2, 5, 3]),
        Layout::Empty => tensor(vec![2, 0, 3], false),
        Layout::Single => tensor(vec![1, 1, 1], false),
        Layout::Extreme => tensor(vec![2, 5, 3], true),
    }
}

/// How far two results may be apart.
#[derive(Clone, Copy, Debug)]
pub enum Tolerance {
    /// Bit for bit, but for the NaN's payload.
    Exact,
    /// Units in the last place of the result's dtype; 16-bit floats get at least one.
    Ulps(u32),
    /// Relative to the larger magnitude, with the same absolute floor.
    Relative(f64),
}

/// Fails unless burn-flex's result and both of this backend's agree.
#[track_caller]
pub fn assert_agree(what: &str, flex: &TensorData, recorded: &TensorData, eager: &TensorData, tolerance: Tolerance) {
    close(&format!("{what}, recorded"), flex, recorded, tolerance);
    close(&format!("{what}, eager against recorded"), recorded, eager, Tolerance::Exact);
}

#[track_caller]
fn close(what: &str, expected: &TensorData, found: &TensorData, tolerance: Tolerance) {
    assert_eq!(expected.shape, found.shape, "{what}: shape");
    assert_eq!(expected.dtype, found.dtype, "{what}: dtype");
    if !expected.dtype.is_float() {
        let bytes = |data: &TensorData| data.as_bytes().to_vec();
        assert!(bytes(expected) == bytes(found), "{what}\nexpected {expected}\n   found {found}");
        return;
    }
    let (a, b): (Vec<f64>, Vec<f64>) = (expected.iter::<f64>().collect(), found.iter::<f64>().collect());
    for (i, (&a, &b)) in a.iter().zip(&b).enumerate() {
        assert!(
            near(a, b, expected.dtype, tolerance),
            "{what}: element {i}: expected {a}, found {b} ({tolerance:?})\nexpected {expected}\n   found {found}"
        );
    }
}

fn near(a: f64, b: f64, dtype: DType, tolerance: Tolerance) -> bool {
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    if a == b {
        return !matches!(tolerance, Tolerance::Exact) || a.is_sign_negative() == b.is_sign_negative();
    }
    if a.is_infinite() || b.is_infinite() {
        return false;
    }
    let magnitude = a.abs().max(b.abs());
    let epsilon = match dtype {
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        _ => 2f64.powi(-23),
    };
    match tolerance {
        Tolerance::Exact => false,
        Tolerance::Ulps(n) => (a - b).abs() <= f64::from(n) * epsilon * magnitude.max(f64::from(f32::MIN_POSITIVE)),
        Tolerance::Relative(x) => (a - b).abs() <= x.max(epsilon) * magnitude.max(1.0),
    }
}

/// `agree!(tolerance, function, arguments…)`: runs `function::<Backend>(arguments…)`, which returns a tensor, on
/// burn-flex and twice on this backend.
#[macro_export]
macro_rules! agree {
    ($tolerance:expr, $function:ident $(, $argument:expr)* $(,)?) => {{
        let what = format!(
            concat!(stringify!($function), "(", $(stringify!($argument), " = {:?} ",)* ")"),
            $(&$argument),*
        );
        let flex = $function::<burn_flex::Flex>($($argument),*).into_data();
        let recorded = $function::<burn_mpsgraph::MpsGraph>($($argument),*).into_data();
        let eager = burn_mpsgraph::eagerly(|| $function::<burn_mpsgraph::MpsGraph>($($argument),*).into_data());
        $crate::agreement::assert_agree(&what, &flex, &recorded, &eager, $tolerance);
    }};
}

/// Uniform numbers of the oracle's generator, the same on every backend.
pub fn random<B: Backend, const D: usize>(shape: impl Into<Shape>, low: f64, high: f64) -> Tensor<B, D> {
    let data =
        Tensor::<burn_flex::Flex, D>::random(shape.into(), Distribution::Uniform(low, high), &Default::default());
    Tensor::from_data(data.into_data(), &B::Device::default())
}
