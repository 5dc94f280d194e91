//! Numbers that stand in a line, as tensors: `[1.0, 2.0]`, `[[1, 2], [3, 4]]`, `[true, false]`, of rank 1 to 5.

use burn::tensor::backend::Backend;
use burn::tensor::{BasicOps, Bool, DType, Float, Int, Tensor, TensorData};
use test_support::{BOOL, FLOATS, INTS};

/// What a literal's elements say about its tensor.
pub trait Kind: Copy {
    type Of<B: Backend>: BasicOps<B>;
    /// The dtypes of which a line with such numbers is tried.
    const DTYPES: &'static [DType];
}

impl Kind for f64 {
    type Of<B: Backend> = Float;
    const DTYPES: &'static [DType] = &FLOATS;
}

impl Kind for i64 {
    type Of<B: Backend> = Int;
    const DTYPES: &'static [DType] = &INTS;
}

impl Kind for bool {
    type Of<B: Backend> = Bool;
    const DTYPES: &'static [DType] = &[BOOL];
}

/// Nested arrays of numbers.
pub trait Literal {
    type Element: Kind;
    type Tensor<B: Backend>;
    /// The numbers in `dtype` if it is of their kind, else in the first dtype of their kind.
    fn data(self, dtype: DType) -> TensorData;
    fn tensor<B: Backend>(self, dtype: DType) -> Self::Tensor<B>;
}

macro_rules! literals {
    ($($rank:literal, [$($extent:ident)+], $element:ty, $array:ty;)+) => {$(
        impl<$(const $extent: usize),+> Literal for $array {
            type Element = $element;
            type Tensor<B: Backend> = Tensor<B, $rank, <$element as Kind>::Of<B>>;

            fn data(self, dtype: DType) -> TensorData {
                let dtypes = <$element>::DTYPES;
                TensorData::from(self).convert_dtype(if dtypes.contains(&dtype) { dtype } else { dtypes[0] })
            }

            fn tensor<B: Backend>(self, dtype: DType) -> Self::Tensor<B> {
                let data = self.data(dtype);
                let dtype = data.dtype;
                Tensor::from_data(data, (&B::Device::default(), dtype))
            }
        }
    )+};
}

macro_rules! of_ranks {
    ($($element:ty)+) => {$(
        literals! {
            1, [I], $element, [$element; I];
            2, [I J], $element, [[$element; J]; I];
            3, [I J K], $element, [[[$element; K]; J]; I];
            4, [I J K L], $element, [[[[$element; L]; K]; J]; I];
            5, [I J K L M], $element, [[[[[$element; M]; L]; K]; J]; I];
        }
    )+};
}

of_ranks! { f64 i64 bool }

/// The dtypes of which a line with this first input is tried.
pub fn dtypes<L: Literal>(_: &L) -> &'static [DType] {
    L::Element::DTYPES
}
