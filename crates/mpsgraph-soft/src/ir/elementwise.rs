//! Functions of the elements of one, two or three tensors.
//!
//! What each of them gives is said here, with its special cases (NaN, zero divisors, integers that overflow), and
//! holds however it is computed: kernels and compiler passes go by it. Which element types a method accepts is checked
//! where the method is (`mpsgraph/ops`).

use serde::{Deserialize, Serialize};

/// An operation whose elements depend on one element of each operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ElementwiseOp {
    /// `[x]`, same shape; the dtype is the input's, except for the tests (`IsNan`, `IsInf`, `IsFinite`: bool).
    Unary(UnaryOp),
    /// `[a, b]` of one dtype, NumPy-broadcast to the output shape.
    Binary(BinaryOp),
    /// `[predicate (bool), on true, on false]`, NumPy-broadcast.
    Select,
    /// `[x, min, max]`, NumPy-broadcast; NaN rules of `fmin`/`fmax`.
    Clamp,
    /// `[x]` to the output dtype by value: float to integer truncates toward zero and saturates (NaN gives 0),
    /// integer to integer wraps, anything to bool is `x != 0`.
    Cast,
}

impl ElementwiseOp {
    /// The operation's name, for descriptions of plans.
    pub fn name(self) -> String {
        match self {
            ElementwiseOp::Unary(op) => format!("{op:?}"),
            ElementwiseOp::Binary(op) => format!("{op:?}"),
            ElementwiseOp::Select | ElementwiseOp::Clamp | ElementwiseOp::Cast => format!("{self:?}"),
        }
    }
}

impl From<UnaryOp> for ElementwiseOp {
    fn from(op: UnaryOp) -> Self {
        ElementwiseOp::Unary(op)
    }
}

impl From<BinaryOp> for ElementwiseOp {
    fn from(op: BinaryOp) -> Self {
        ElementwiseOp::Binary(op)
    }
}

/// An enum that can list its variants, for tests of all of them.
macro_rules! listed {
    ($(#[$of_all:meta])* $name:ident { $($(#[$of_one:meta])* $variant:ident,)* }) => {
        $(#[$of_all])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$of_one])* $variant,)*
        }

        impl $name {
            #[cfg(test)]
            pub const ALL: &[Self] = &[$(Self::$variant),*];
        }
    };
}

listed! {
    /// Elementwise functions of one argument. Floats are computed in f32 and rounded to the dtype. Denormals are kept,
    /// but for products and quotients, which are zeros; Apple's kernels for f32 read and write most of them as zero.
    UnaryOp {
        Identity,
        Abs,
        Neg,
        Exp,
        Log,
        Square,
        Sqrt,
        Recip,
        Sin,
        Cos,
        Tan,
        Asin,
        Acos,
        Atan,
        Sinh,
        Cosh,
        Tanh,
        Asinh,
        Acosh,
        Atanh,
        Erf,
        Ceil,
        Floor,
        /// Half to even.
        Rint,
        /// Half away from zero.
        Round,
        Trunc,
        /// NaN gives 0.
        Sign,
        Signbit,
        Relu,
        Sigmoid,
        /// Logical not of `x != 0`, in the operand's dtype.
        Not,
        BitNot,
        IsNan,
        IsInf,
        IsFinite,
    }
}

impl UnaryOp {
    /// Whether the value is bool for every operand type.
    pub const fn is_test(self) -> bool {
        matches!(self, UnaryOp::IsNan | UnaryOp::IsInf | UnaryOp::IsFinite)
    }
}

listed! {
    /// Elementwise functions of two arguments of one dtype. Integers wrap; floats are computed in f32.
    BinaryOp {
        Add,
        Sub,
        Mul,
        /// Integers truncate toward zero; a zero divisor gives 0.
        Div,
        /// C's `fmod`: sign of the dividend. A zero integer divisor gives 0.
        Mod,
        /// `a - floor(a / b) * b`: sign of the divisor, 0 for a zero integer divisor; NaN for a float one.
        FloorMod,
        Pow,
        /// `fmin`: NaN is ignored.
        Min,
        Max,
        /// NaN wins.
        MinNan,
        MaxNan,
        Atan2,
        Equal,
        NotEqual,
        Less,
        LessEqual,
        Greater,
        GreaterEqual,
        And,
        Or,
        Xor,
        Xnor,
        BitAnd,
        BitOr,
        BitXor,
        /// The count is taken modulo the width.
        Shl,
        /// Arithmetic for signed types; the count is taken modulo the width.
        Shr,
        /// `[incoming, source]`.
        ReluGrad,
    }
}

impl BinaryOp {
    /// Whether the value is bool for every operand type.
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            BinaryOp::Equal
                | BinaryOp::NotEqual
                | BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual
        )
    }
}
