//! How a transform of any length is made of shorter ones.

/// The most points for which one product is as fast as two: on a GPU it then takes about as long as two passes over
/// memory, and two products with a rotation between them are five.
pub(super) const WIDE: usize = 256;
/// The largest prime that is one product: its table takes a megabyte.
pub(super) const PRIME: usize = 512;

/// How a transform is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// One product with a table of cosines and sines: up to [`WIDE`] points, and primes up to [`PRIME`].
    Product,
    /// The transforms along both axes of a `(first, second)` view, with a rotation of each element between them: eight
    /// nodes more, and of the order of `first + second` multiplications for each element. The first is a product.
    Factors { first: usize, second: usize },
    /// A convolution, by transforms of a power of two that is at least twice as long (Bluestein's algorithm): of
    /// lengths beyond [`PRIME`] that nothing up to [`WIDE`] divides.
    Convolution { length: usize },
}

/// How to transform `n` points.
pub(super) fn method(n: usize) -> Method {
    if n <= WIDE {
        return Method::Product;
    }
    // As equal as possible, but the first one is a product. Counting down ends soon for lengths with many divisors,
    // which matters where the products are so short that recording them takes most of the time.
    match (2..=WIDE.min(n.isqrt())).rev().find(|first| n.is_multiple_of(*first)) {
        Some(first) => Method::Factors { first, second: n / first },
        None if n <= PRIME => Method::Product,
        None => Method::Convolution { length: (2 * n - 1).next_power_of_two() },
    }
}

#[cfg(test)]
mod tests {
    use super::{Method, method};

    #[test]
    fn lengths_and_their_methods() {
        let factors = |first, second| Method::Factors { first, second };
        for (n, expected) in [
            (1, Method::Product),
            (97, Method::Product),
            (256, Method::Product),
            (257, Method::Product),
            (1000, factors(25, 40)),
            (1024, factors(32, 32)),
            (1 << 15, factors(128, 256)),
            (1 << 16, factors(256, 256)),
            (1 << 17, factors(256, 512)),
            (2 * 1009, factors(2, 1009)),
            (1009, Method::Convolution { length: 2048 }),
            (257 * 263, Method::Convolution { length: 1 << 18 }),
        ] {
            assert_eq!(method(n), expected, "{n}");
        }
    }
}
