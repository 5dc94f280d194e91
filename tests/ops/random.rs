//! Random numbers: ranges, moments and rates within bounds that chance exceeds once in a billion runs (six standard
//! deviations). Seeds and the order of draws are tested in `tests/recording`.

use burn::tensor::{DType, Distribution, Int, Shape, Tensor, TensorData};
use burn_mpsgraph::{MpsGraph, eagerly};
use test_support::{FLOATS, assert_refused};

cases! {
    // Results that do not depend on chance.
    by_hand() {
        random = |x = [1.0, 2.0]| x.random_like(Distribution::Uniform(2.5, 2.5)) => [2.5, 2.5];
        rate_of_one = |x = [0.0, 2.0]| x.random_like(Distribution::Bernoulli(1.0)) => [1.0, 1.0];
        rate_of_zero = |x = [1.0, 2.0]| x.random_like(Distribution::Bernoulli(0.0)) => [0.0, 0.0];
    }
}

/// How many numbers a statistic is taken of.
const COUNT: usize = 100_000;

fn floats(distribution: Distribution, dtype: DType) -> Vec<f64> {
    let data =
        Tensor::<MpsGraph, 2>::random([COUNT / 100, 100], distribution, (&Default::default(), dtype)).into_data();
    assert_eq!((data.dtype, &data.shape), (dtype, &Shape::new([COUNT / 100, 100])));
    data.iter::<f64>().collect()
}

fn ints(distribution: Distribution, dtype: DType) -> Vec<i128> {
    let data = Tensor::<MpsGraph, 1, Int>::random([COUNT], distribution, (&Default::default(), dtype)).into_data();
    assert_eq!(data.dtype, dtype);
    match dtype {
        DType::U64 => data.iter::<u64>().map(i128::from).collect(),
        _ => data.iter::<i64>().map(i128::from).collect(),
    }
}

/// Fails unless the mean of `numbers` is `mean` as far as chance allows with `deviation`.
#[track_caller]
fn assert_mean(what: &str, numbers: impl IntoIterator<Item = f64>, mean: f64, deviation: f64) {
    let numbers: Vec<f64> = numbers.into_iter().collect();
    let found = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let bound = 6.0 * deviation / (numbers.len() as f64).sqrt();
    assert!((found - mean).abs() <= bound, "{what}: mean {found}, expected {mean} within {bound}");
}

/// Fails unless each bucket has its share of the numbers.
#[track_caller]
fn assert_even(what: &str, buckets: usize, bucket: impl IntoIterator<Item = usize>) {
    let mut counts = vec![0usize; buckets];
    let mut total = 0;
    for index in bucket {
        counts[index] += 1;
        total += 1;
    }
    let share = total as f64 / buckets as f64;
    let bound = 6.0 * share.sqrt();
    for (index, &count) in counts.iter().enumerate() {
        assert!((count as f64 - share).abs() <= bound, "{what}: {count} numbers in bucket {index}, expected {share}");
    }
}

#[test]
fn default_is_zero_to_one() {
    for dtype in FLOATS {
        let numbers = floats(Distribution::Default, dtype);
        assert!(numbers.iter().all(|x| (0.0..1.0).contains(x)), "{dtype:?}");
        // Rounding to 16 bits makes numbers larger by half a unit at most.
        let rounding = if dtype == DType::BF16 { 4e-3 } else { 0.0 };
        assert_mean("default", numbers.iter().copied(), 0.5, 0.29 + rounding * (COUNT as f64).sqrt() / 6.0);
        if dtype == DType::F32 {
            assert_even("default", 16, numbers.iter().map(|x| (x * 16.0) as usize));
        }
    }
}

/// Rounding to the dtype does not come to the end of the range, nor is that taken for the number before it.
#[test]
fn the_last_number_is_as_likely_as_others() {
    for dtype in [DType::F16, DType::BF16] {
        let step = if dtype == DType::BF16 { 1.0 / 256.0 } else { 1.0 / 2048.0 };
        for distribution in [Distribution::Default, Distribution::Uniform(0.0, 1.0)] {
            let numbers: Vec<f64> = (0..8).flat_map(|_| floats(distribution, dtype)).collect();
            let is_last = numbers.iter().map(|&x| f64::from(x == 1.0 - step));
            assert_mean(&format!("{dtype:?} {distribution:?}"), is_last, step, step.sqrt());
        }
    }
}

#[test]
fn uniform_stays_within_its_range() {
    for dtype in FLOATS {
        for (low, high) in [(-2.5, 4.0), (0.0, 1e-3), (1000.0, 1002.0), (-7.0, -6.0)] {
            let numbers = floats(Distribution::Uniform(low, high), dtype);
            assert!(numbers.iter().all(|x| (low..high).contains(x)), "{dtype:?} {low}..{high}");
            if dtype == DType::F32 {
                let width = high - low;
                assert_mean("uniform", numbers.iter().copied(), (low + high) / 2.0, width * 0.29);
                let square = |x: &f64| ((x - low) / width - 0.5).powi(2);
                assert_mean("variance", numbers.iter().map(square), 1.0 / 12.0, 0.0746);
            }
        }
    }
}

#[test]
fn a_range_of_one_number() {
    let numbers = floats(Distribution::Uniform(2.5, 2.5), DType::F32);
    assert!(numbers.iter().all(|&x| x == 2.5));
}

#[test]
fn normal_has_its_moments() {
    for dtype in FLOATS {
        let numbers = floats(Distribution::Normal(-1.0, 2.0), dtype);
        assert!(numbers.iter().all(|x| x.is_finite()));
        let standard: Vec<f64> = numbers.iter().map(|x| (x + 1.0) / 2.0).collect();
        // The deviations of the first four powers of a normal number; rounding adds less than chance.
        for (power, (mean, deviation)) in
            [(0.0, 1.0), (1.0, 2f64.sqrt()), (0.0, 15f64.sqrt()), (3.0, 96f64.sqrt())].iter().enumerate()
        {
            let powers = standard.iter().map(|x| x.powi(power as i32 + 1));
            assert_mean(&format!("power {} of {dtype:?}", power + 1), powers, *mean, *deviation);
        }
        let neighbours = standard.windows(2).map(|pair| pair[0] * pair[1]);
        assert_mean("neighbours", neighbours, 0.0, 1.0);
        // The pairs of Box and Muller's transform lie half of the numbers apart.
        let pairs = standard.iter().zip(&standard[COUNT / 2..]).map(|(a, b)| a * b);
        assert_mean("pairs", pairs, 0.0, 1.0);
        let beyond = standard.iter().filter(|x| x.abs() > 3.0).count() as f64 / COUNT as f64;
        assert!((beyond - 0.0027).abs() < 0.0012, "{beyond} beyond three deviations");
    }
}

#[test]
fn bernoulli_has_its_rate() {
    for dtype in FLOATS {
        for rate in [0.0, 0.03, 0.5, 1.0] {
            let numbers = floats(Distribution::Bernoulli(rate), dtype);
            assert!(numbers.iter().all(|&x| x == 0.0 || x == 1.0));
            assert_mean("rate", numbers, rate, (rate * (1.0 - rate)).sqrt());
        }
    }
    let numbers = ints(Distribution::Bernoulli(0.25), DType::I32);
    assert!(numbers.iter().all(|&x| x == 0 || x == 1));
    assert_mean("rate", numbers.iter().map(|&x| x as f64), 0.25, 0.44);
}

/// Of what a uniform f32 gives, 0 alone is less than this, and comes about 6 times in so many.
#[test]
fn rare_is_not_one_in_16_million() {
    for rate in [1e-30, 1e-3 / 4.1] {
        let draw = |_| Tensor::<MpsGraph, 1>::random([COUNT * 100], Distribution::Bernoulli(rate), &Default::default());
        let hits: f64 = (0..10).map(|at| f64::from(draw(at).sum().into_scalar())).sum();
        let expected = rate * COUNT as f64 * 1000.0;
        assert!((hits - expected).abs() <= 6.0 * expected.sqrt() + 0.5, "{hits} of rate {rate}");
    }
}

#[test]
fn integers_are_even_over_their_range() {
    for dtype in [DType::I8, DType::I16, DType::I32, DType::I64] {
        let numbers = ints(Distribution::Uniform(-3.0, 5.0), dtype);
        assert!(numbers.iter().all(|x| (-3..5).contains(x)), "{dtype:?}");
        assert_even(&format!("{dtype:?}"), 8, numbers.iter().map(|x| (x + 3) as usize));
    }
    for dtype in [DType::U8, DType::U16, DType::U32, DType::U64] {
        let numbers = ints(Distribution::Uniform(10.0, 110.0), dtype);
        assert_even(&format!("{dtype:?}"), 100, numbers.iter().map(|x| (x - 10) as usize));
    }
}

#[test]
fn default_integers_are_bytes() {
    // Burn's default range for integers; burn-flex takes the dtype's whole range.
    for dtype in [DType::I32, DType::I64, DType::U8] {
        let numbers = ints(Distribution::Default, dtype);
        assert_even(&format!("{dtype:?}"), 255, numbers.iter().map(|&x| x as usize));
    }
}

#[test]
fn wide_integers_use_all_bits() {
    for (dtype, low, high) in [
        (DType::I32, f64::from(i32::MIN), 2f64.powi(31)),
        (DType::I64, -(2f64.powi(62)), 2f64.powi(62)),
        (DType::I64, 0.0, 1e6),
        (DType::I64, -6e18, 6e18),
        (DType::U64, 0.0, 1.2e19),
        (DType::U64, 0.0, 2f64.powi(64)),
        (DType::U32, 5.0, 2f64.powi(32)),
    ] {
        let numbers = ints(Distribution::Uniform(low, high), dtype);
        let what = format!("{dtype:?} {low}..{high}");
        let (first, end) = (low as i128, high as i128);
        assert!(numbers.iter().all(|x| (first..end).contains(x)), "{what}");
        assert_even(&what, 32, numbers.iter().map(|x| ((x - first) * 32 / (end - first)) as usize));
        // The lowest bits too, as far as the range is a multiple.
        assert_even(&what, 2, numbers.iter().map(|x| (x - first) as usize % 2));
    }
}

#[test]
fn draws_have_the_shape_that_is_asked_for() {
    let device = Default::default();
    for distribution in [Distribution::Default, Distribution::Normal(0.0, 1.0), Distribution::Bernoulli(0.5)] {
        let draw = |count: usize| Tensor::<MpsGraph, 1>::random([count], distribution, &device).into_data();
        for count in [0, 1, 2, 3, 5, 31, 1001] {
            assert_eq!(draw(count).shape, [count].into());
        }
        let six = Tensor::<MpsGraph, 6>::random([2, 1, 3, 2, 1, 2], distribution, &device).into_data();
        assert_eq!(six.shape, [2, 1, 3, 2, 1, 2].into());
    }
}

#[test]
fn no_two_draws_are_equal() {
    let device = Default::default();
    let draw = || Tensor::<MpsGraph, 1>::random([8], Distribution::Default, &device);
    let (a, b) = (draw(), draw());
    let like = a.random_like(Distribution::Default);
    let drawn: Vec<TensorData> = vec![
        a.into_data(),
        b.into_data(),
        like.into_data(),
        eagerly(|| draw().into_data()),
        eagerly(|| draw().into_data()),
    ];
    for (i, a) in drawn.iter().enumerate() {
        for b in &drawn[i + 1..] {
            assert_ne!(a, b);
        }
    }
}

#[test]
fn impossible_distributions_and_dtypes_are_refused() {
    let device = Default::default();
    let draw = |distribution| move || Tensor::<MpsGraph, 1>::random([4], distribution, &Default::default());
    assert_refused(&["float_random", "Bernoulli(1.5)", "0 and 1"], draw(Distribution::Bernoulli(1.5)));
    assert_refused(&["float_random", "Uniform(1.0, 0.0)"], draw(Distribution::Uniform(1.0, 0.0)));
    assert_refused(&["float_random", "Uniform(0.0, inf)"], draw(Distribution::Uniform(0.0, f64::INFINITY)));
    assert_refused(&["float_random", "Uniform(1e39, 1e39)"], draw(Distribution::Uniform(1e39, 1e39)));
    assert_refused(&["float_random", "Normal(0.0, 1e39)"], draw(Distribution::Normal(0.0, 1e39)));
    assert_refused(&["float_random", "Uniform(0.0, 70000.0)", "F16"], || {
        Tensor::<MpsGraph, 1>::random([4], Distribution::Uniform(0.0, 70_000.0), (&device, DType::F16))
    });
    assert_refused(&["F64", "f32"], || {
        Tensor::<MpsGraph, 1>::random([4], Distribution::Default, (&device, DType::F64))
    });
    assert_refused(&["int_random", "Uniform(3.0, 1.0)"], || {
        Tensor::<MpsGraph, 1, Int>::random([4], Distribution::Uniform(3.0, 1.0), &device)
    });
}
