//! Inputs: numbers that every dtype can tell apart, in every layout; and the lists of dtypes and layouts.

use burn::tensor::backend::Backend;
use burn::tensor::{BasicOps, Bool, BoolStore, DType, Int, Shape, Tensor, TensorData};

/// The layout of an input in memory, or what is special about it.
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

pub const BOOL: DType = DType::Bool(BoolStore::Native);

/// Every integer dtype.
pub const INTEGERS: [DType; 8] =
    [DType::I32, DType::I64, DType::I16, DType::I8, DType::U64, DType::U32, DType::U16, DType::U8];

/// Every dtype a tensor can have.
pub const DTYPES: [DType; 12] = [
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I32,
    DType::I64,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
    DType::U8,
    BOOL,
];

/// Every dtype of numbers.
pub const NUMERIC: &[DType] = DTYPES.split_at(11).0;

/// Every layout whose shape is \[2, 5, 3\].
pub const FULL: [Layout; 5] =
    [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Extreme];

/// These and one of shape \[1, 1, 1\]. Cases that reshape are not tried on an empty tensor, because for
/// `Tensor::reshape` an extent of 0 means "as it was".
pub const FILLED: [Layout; 6] =
    [Layout::Contiguous, Layout::Transposed, Layout::Sliced, Layout::Broadcast, Layout::Extreme, Layout::Single];

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

/// Multiples of 1/4 from -2 to 2 in a tensor of this shape, whose short sums of products are exact whatever the order.
pub fn quarters<B: Backend, const D: usize>(shape: [usize; D], dtype: DType, salt: usize) -> Tensor<B, D> {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| ((i * 37 + salt * 11 + i / 5) % 17) as f32 / 4.0 - 2.0).collect();
    Tensor::from_data(TensorData::new(values, shape).convert_dtype(dtype), (&B::Device::default(), dtype))
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
        _ => panic!("{dtype:?} is not an integer dtype"),
    }
}

/// A bool tensor, like [`floats`]; bools have one dtype.
pub fn bools<B: Backend>(layout: Layout, _dtype: DType, salt: usize) -> Tensor<B, 3, Bool> {
    ints::<B>(layout, DType::I32, salt + 3).greater_elem(0)
}

fn arrange<B: Backend, K: BasicOps<B>>(
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

/// Distinct elements: large integers that wrap around, multiples of 1/8, or no regular pattern of bools.
pub fn distinct(shape: impl Into<Shape>, dtype: DType) -> TensorData {
    let shape = shape.into();
    let count = shape.num_elements();
    if dtype.is_bool() {
        return TensorData::new((0..count).map(|i| i * i / 3 % 2 == 0).collect::<Vec<_>>(), shape);
    }
    if dtype.is_float() {
        let values: Vec<f32> = (0..count).map(|i| i as f32 / 8.0 - 3.0).collect();
        return TensorData::new(values, shape).convert_dtype(dtype);
    }
    let values: Vec<i128> = (0..count).map(|i| i as i128 * 1_000_000_007 - 16_777_217).collect();
    integer_data(&values, shape.to_vec(), dtype)
}
