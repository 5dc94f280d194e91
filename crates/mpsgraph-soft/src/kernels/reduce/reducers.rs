//! The reductions as data: what to start with, how to take in one element, how to finish.
//!
//! `step` also joins two partial results, so it must accept one as an element. NaN rules are written as plain
//! comparisons, which become vector minimum and blend instructions.

use crate::kernels::element::Element;

/// How to reduce elements of type `T`.
pub trait Reducer<T: Element> {
    /// The result of reducing nothing.
    const START: T;
    /// Takes `x` in.
    fn step(accumulator: T, x: T) -> T;
    /// The result for `count` elements.
    #[inline(always)]
    fn finish(accumulator: T, _count: usize) -> T {
        accumulator
    }
}

macro_rules! reducer {
    ($(#[$doc:meta])* $name:ident, $start:ident, |$acc:ident, $x:ident| $step:expr) => {
        $(#[$doc])*
        pub struct $name;
        impl<T: Element> Reducer<T> for $name {
            const START: T = T::$start;
            #[inline(always)]
            fn step($acc: T, $x: T) -> T {
                $step
            }
        }
    };
}

reducer!(
    /// Sum.
    Sum, ZERO, |acc, x| acc.add(x)
);
reducer!(
    /// Product.
    Prod, ONE, |acc, x| acc.mul(x)
);
reducer!(
    /// Least; a NaN is never less.
    Min, HIGHEST, |acc, x| if x < acc { x } else { acc }
);
reducer!(
    /// Largest; a NaN is never larger.
    Max, LOWEST, |acc, x| if x > acc { x } else { acc }
);
reducer!(
    /// Least, or NaN if there is one; once the accumulator is NaN, only another NaN replaces it.
    MinNan, HIGHEST, |acc, x| if x < acc || x.is_nan() { x } else { acc }
);
reducer!(
    /// Largest, or NaN if there is one.
    MaxNan, LOWEST, |acc, x| if x > acc || x.is_nan() { x } else { acc }
);
reducer!(
    /// 1 if no element is 0.
    And, ONE, |acc, x| if x != T::ZERO { acc } else { T::ZERO }
);
reducer!(
    /// 1 if an element is not 0.
    Or, ZERO, |acc, x| if x != T::ZERO { T::ONE } else { acc }
);

/// Sum divided by the count, truncated for integers.
pub struct Mean;

impl<T: Element> Reducer<T> for Mean {
    const START: T = T::ZERO;
    #[inline(always)]
    fn step(accumulator: T, x: T) -> T {
        accumulator.add(x)
    }
    #[inline(always)]
    fn finish(accumulator: T, count: usize) -> T {
        accumulator.div_count(count)
    }
}
