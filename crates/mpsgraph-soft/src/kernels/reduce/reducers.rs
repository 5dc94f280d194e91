//! The reductions as data: what to start with, and how to take in one element.
//!
//! `step` also joins two partial results, so it must accept one as an element. NaN rules are written as plain
//! comparisons, which become vector minimum and blend instructions.

use crate::kernels::element::Element;
use std::marker::PhantomData;

/// How to reduce elements of type `T`.
pub trait Reducer<T: Element> {
    /// The result of reducing nothing.
    const START: T;
    /// Whether neighbours may be joined before they are taken in: the result is the same.
    const ANY_ORDER: bool;
    /// Whether a NaN must be noted.
    const KEEPS_NAN: bool = false;
    /// Takes `x` in.
    fn step(accumulator: T, x: T) -> T;
    /// Takes `x` in, but not necessarily if it is a NaN.
    #[inline(always)]
    fn step_of_numbers(accumulator: T, x: T) -> T {
        Self::step(accumulator, x)
    }
}

macro_rules! reducer {
    ($(#[$doc:meta])* $name:ident, $start:ident, any order: $any_order:expr, |$acc:ident, $x:ident| $step:expr) => {
        $(#[$doc])*
        pub struct $name;
        impl<T: Element> Reducer<T> for $name {
            const START: T = T::$start;
            const ANY_ORDER: bool = $any_order;
            #[inline(always)]
            fn step($acc: T, $x: T) -> T {
                $step
            }
        }
    };
}

reducer!(
    /// Sum.
    Sum, ZERO, any order: T::ANY_ORDER, |acc, x| acc.add(x)
);
reducer!(
    /// Product.
    Prod, ONE, any order: T::ANY_ORDER, |acc, x| acc.mul(x)
);
reducer!(
    /// Least; a NaN is never less.
    Min, HIGHEST, any order: true, |acc, x| if x < acc { x } else { acc }
);
reducer!(
    /// Largest; a NaN is never larger.
    Max, LOWEST, any order: true, |acc, x| if x > acc { x } else { acc }
);
reducer!(
    /// 1 if no element is 0.
    And, ONE, any order: true, |acc, x| if x != T::ZERO { acc } else { T::ZERO }
);
reducer!(
    /// 1 if an element is not 0.
    Or, ZERO, any order: true, |acc, x| if x != T::ZERO { T::ONE } else { acc }
);

/// An extreme, or NaN if there is one; once the accumulator is NaN, it stays one.
pub struct OrNan<R>(PhantomData<R>);

/// Least, or NaN.
pub type MinNan = OrNan<Min>;
/// Largest, or NaN.
pub type MaxNan = OrNan<Max>;

impl<T: Element, R: Reducer<T>> Reducer<T> for OrNan<R> {
    const START: T = R::START;
    const ANY_ORDER: bool = true;
    const KEEPS_NAN: bool = true;
    #[inline(always)]
    fn step(accumulator: T, x: T) -> T {
        R::step(accumulator, x).or_nan(x)
    }
    #[inline(always)]
    fn step_of_numbers(accumulator: T, x: T) -> T {
        R::step(accumulator, x)
    }
}
